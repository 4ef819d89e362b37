package channel_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// fast makes retries quick.
var fast = channel.Consumer{Attempts: 3, FirstPause: time.Millisecond, MaxPause: 5 * time.Millisecond}

func TestAMessagePublishedBeforeItsConsumerStartedIsHandled(t *testing.T) {
	c := parcels(t)
	n := channelNode(t)
	publish(t, c, n, 1, 2)
	s := sabir.NewService("billing")
	got := make(chan int, 2)
	c.ConsumeWith(s, channel.Consumer{MaxInFlight: 1}, func(_ context.Context, p article) error {
		got <- p.ID
		return nil
	})
	if err := n.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if a, b := next(t, got), next(t, got); a != 1 || b != 2 {
		t.Fatalf("got %d, %d", a, b)
	}
}

func TestWhereANewGroupBegins(t *testing.T) {
	c := parcels(t)
	n := channelNode(t)
	publish(t, c, n, 1)
	between := time.Now()
	second, err := c.Publish(t.Context(), n, article{ID: 2})
	if err != nil {
		t.Fatal(err)
	}
	var got sync.Map
	all := make(chan string, 100)
	s := sabir.NewService("s")
	for name, config := range map[string]channel.Consumer{
		"start": {}, "new": {OnlyNew: true}, "time": {FromTime: between}, "sequence": {FromSequence: second.Sequence},
	} {
		config.Group = name
		c.ConsumeWith(s, config, func(_ context.Context, p article) error {
			list, _ := got.LoadOrStore(name, &sync.Map{})
			list.(*sync.Map).Store(p.ID, true)
			all <- name
			return nil
		})
	}
	if err := n.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	publish(t, c, n, 3)
	for range 3 + 1 + 2 + 2 {
		next(t, all)
	}
	for name, want := range map[string][]int{"start": {1, 2, 3}, "new": {3}, "time": {2, 3}, "sequence": {2, 3}} {
		list, _ := got.Load(name)
		var ids []int
		list.(*sync.Map).Range(func(id, _ any) bool {
			ids = append(ids, id.(int))
			return true
		})
		if slices.Sort(ids); !slices.Equal(ids, want) {
			t.Errorf("%s: got %v, want %v", name, ids, want)
		}
	}
}

func TestEachGroupGetsEveryMessageAndOneOfItsMembersHandlesIt(t *testing.T) {
	c := parcels(t)
	got := make(chan string, 100)
	make := func(name string) *sabir.Service {
		s := sabir.NewService(name)
		c.Consume(s, func(_ context.Context, p article) error {
			got <- fmt.Sprint(name, p.ID)
			return nil
		})
		return s
	}
	one, two := channelNode(t, make("billing"), make("mail")), channelNode(t, make("billing"), make("mail"))
	publish(t, c, one, 1)
	publish(t, c, two, 2)
	var all []string
	for range 4 {
		all = append(all, next(t, got))
	}
	if slices.Sort(all); !slices.Equal(all, []string{"billing1", "billing2", "mail1", "mail2"}) {
		t.Fatalf("got %q", all)
	}
}

func TestAFailedMessageComesAgainUntilItIsHandled(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	attempts := make(chan channel.Delivery, 10)
	c.ConsumeWith(s, fast, func(ctx context.Context, p article) error {
		d, ok := channel.DeliveryFromContext(ctx)
		if !ok {
			return errors.New("no delivery")
		}
		attempts <- d
		switch d.Attempt {
		case 1:
			return errors.New("the till is locked")
		case 2:
			panic("the till is on fire")
		}
		return nil
	})
	n := channelNode(t, s)
	publish(t, c, n, 1)
	for want := 1; want <= 3; want++ {
		if d := next(t, attempts); d.Attempt != want || d.Attempts != 3 || d.Channel != c.Name() || d.Group != "billing" || d.Sequence != 1 || d.Published.IsZero() || d.ID == "" {
			t.Fatalf("attempt %d is %+v", want, d)
		}
	}
	stopNode(t, n)
	if len(attempts) > 0 {
		t.Fatal("it came again although it was handled")
	}
}

func TestMiddlewaresSeeMessagesAsEvents(t *testing.T) {
	c := parcels(t)
	seen := make(chan string, 10)
	layer := func(name string) sabir.Middleware {
		return sabir.Middleware{Event: func(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
			return func(ctx context.Context, e *sabir.Event) error {
				seen <- fmt.Sprint(name, e.Name == c.Name(), s.Group, e.Payload().(*article).ID)
				return next(ctx, e)
			}
		}}
	}
	s := sabir.NewService("billing", sabir.Use(layer("service")))
	c.ConsumeWith(s, channel.Consumer{Use: []sabir.Wrapper{layer("own")}}, func(context.Context, article) error { return nil })
	n := startNode(t, channel.Broker("mem://"), sabir.Serve(s), sabir.Use(layer("node")))
	publish(t, c, n, 5)
	for _, want := range []string{"node", "service", "own"} {
		if got := next(t, seen); got != fmt.Sprint(want, true, "billing", 5) {
			t.Fatalf("got %q, want %s", got, want)
		}
	}
}

func TestNoMoreThanMaxInFlightRunAtOnce(t *testing.T) {
	c := parcels(t)
	var now, most atomic.Int32
	begun, release, done := make(chan bool, 100), make(chan bool), make(chan bool, 100)
	s := sabir.NewService("billing")
	c.ConsumeWith(s, channel.Consumer{MaxInFlight: 3}, func(context.Context, article) error {
		n := now.Add(1)
		for m := most.Load(); n > m && !most.CompareAndSwap(m, n); m = most.Load() {
		}
		begun <- true
		<-release
		now.Add(-1)
		done <- true
		return nil
	})
	n := channelNode(t, s)
	publish(t, c, n, 1, 2, 3, 4, 5, 6)
	for range 3 {
		next(t, begun)
	}
	list, err := channel.List(t.Context(), n)
	if err != nil || len(list) != 2 || list[0].Groups[0].InFlight != 3 || list[0].Groups[0].Waiting != 3 || list[0].Kept != 6 || !list[1].Dead {
		t.Fatalf("%+v, %v", list, err)
	}
	close(release)
	for range 6 {
		next(t, done)
	}
	if most.Load() != 3 {
		t.Fatalf("%d ran at once", most.Load())
	}
}

func TestAHandlerMayTakeLongerThanAckWait(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := parcels(t)
		s := sabir.NewService("billing")
		begun, release := make(chan int, 10), make(chan bool)
		c.ConsumeWith(s, channel.Consumer{AckWait: time.Second}, func(ctx context.Context, _ article) error {
			d, _ := channel.DeliveryFromContext(ctx)
			begun <- d.Attempt
			<-release
			return nil
		})
		n := channelNode(t, s)
		publish(t, c, n, 1)
		next(t, begun)
		select {
		case attempt := <-begun:
			t.Errorf("attempt %d began while the first one ran", attempt)
		case <-time.After(time.Minute): // of the bubble's clock
		}
		close(release)
	})
}

func TestStoppingWaitsForHandlersAndGivesTheRestBack(t *testing.T) {
	c := parcels(t)
	begun, release := make(chan int, 10), make(chan bool)
	make := func(handler func(context.Context, article) error) *sabir.Service {
		s := sabir.NewService("billing")
		c.ConsumeWith(s, channel.Consumer{MaxInFlight: 1}, handler)
		return s
	}
	var finished atomic.Int32
	one := channelNode(t, make(func(_ context.Context, p article) error {
		begun <- p.ID
		<-release
		finished.Add(1)
		return nil
	}))
	keeper := channelNode(t) // keeps mem:// when the first node has gone
	publish(t, c, keeper, 1, 2, 3)
	next(t, begun)
	stopped := inBackground(func() { stopNode(t, one) })
	close(release)
	next(t, stopped)
	if finished.Load() < 1 { // others may have begun before the stop
		t.Fatal("the handler was not waited for")
	}
	rest := int(3 - finished.Load())
	got := consumeSome(t, keeper, make, rest)
	if len(got) != rest {
		t.Fatalf("got %v", got)
	}
}

// inBackground runs fn in the background and signals when it is done.
func inBackground(fn func()) <-chan bool {
	done := make(chan bool, 1)
	go func() {
		fn()
		done <- true
	}()
	return done
}

// consumeSome consumes n messages on a node.
func consumeSome(t *testing.T, node *sabir.Node, service func(func(context.Context, article) error) *sabir.Service, n int) (ids []int) {
	t.Helper()
	got := make(chan int, 10)
	if err := node.Add(t.Context(), service(func(_ context.Context, p article) error {
		got <- p.ID
		return nil
	})); err != nil {
		t.Fatal(err)
	}
	for range n {
		ids = append(ids, next(t, got))
	}
	return ids
}

func TestAMessageWhoseHandlerIsNotWaitedForComesAgain(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	begun, ended := make(chan bool, 1), make(chan bool, 1)
	c.Consume(s, func(ctx context.Context, _ article) error {
		begun <- true
		<-ctx.Done() // until it is notified that no caller waits
		ended <- true
		return ctx.Err()
	})
	keeper, one := channelNode(t), channelNode(t, s)
	publish(t, c, keeper, 1)
	next(t, begun)
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Millisecond)
	defer cancel()
	if err := one.Stop(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), c.Name()) {
		t.Fatalf("stop: %v", err)
	}
	next(t, ended)
	again := make(chan int, 1)
	other := sabir.NewService("billing")
	c.Consume(other, func(ctx context.Context, p article) error {
		again <- p.ID
		return nil
	})
	if err := keeper.Add(t.Context(), other); err != nil {
		t.Fatal(err)
	}
	next(t, again)
}

func TestMistakesInAConsumerAreReportedWhenItsServiceStarts(t *testing.T) {
	s := sabir.NewService("billing")
	channel.New[article]("no good").Consume(s, func(context.Context, article) error { return nil })
	channel.New[article]("nil").Consume(s, nil)
	channel.New[article]("group").ConsumeWith(s, channel.Consumer{Group: "a b"}, func(context.Context, article) error { return nil })
	channel.New[article]("dead").ConsumeWith(s, channel.Consumer{DeadLettersTo: "a..b"}, func(context.Context, article) error { return nil })
	channel.New[article]("twice").Consume(s, func(context.Context, article) error { return nil })
	channel.New[article]("twice").Consume(s, func(context.Context, article) error { return nil })
	channel.New[article]("native", channel.Config{Codec: "native"}).Consume(s, func(context.Context, article) error { return nil })
	err := sabir.NewNode(channel.Broker("mem://"), sabir.Serve(s)).Start(t.Context())
	for _, want := range []string{`"no good"`, `"nil" is nil`, `a b`, "dead letters", "consumer of channel twice in group billing twice", "natively", "channel/consume_test.go:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}
