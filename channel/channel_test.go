package channel_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	_ "github.com/sabir-go/sabir/channel/mem"
	_ "github.com/sabir-go/sabir/transport/mem"
)

type article struct {
	ID   int    `json:"id"`
	Name string `json:"name,omitempty"`
}

// parcels is a channel with a name of its own for each test.
func parcels(t *testing.T, options ...channel.Option) *channel.Channel[article] {
	words := strings.FieldsFunc(t.Name(), func(r rune) bool { return r == '/' || r == '#' })
	return channel.New[article](strings.Join(words, "."), options...)
}

// channelNode is a running node with channels in memory, of a name that nodes of one test share.
func channelNode(t *testing.T, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	return startNode(t, sabir.NodeID(fmt.Sprintf("n%d", nodeNumber.Add(1))), channel.Broker("mem://"+strings.ReplaceAll(t.Name(), "/", "-")), sabir.Serve(services...))
}

var nodeNumber atomic.Int64

var quiet = slog.New(slog.DiscardHandler)

func startNode(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append([]sabir.NodeOption{sabir.Logger(quiet)}, options...)...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n.State() == sabir.StateRunning {
			stopNode(t, n)
		}
	})
	return n
}

func stopNode(t *testing.T, n *sabir.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// next waits for a value.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came in a minute")
		panic("unreachable")
	}
}

func publish(t *testing.T, c *channel.Channel[article], n sabir.Caller, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if _, err := c.Publish(t.Context(), n, article{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
}

// fast makes retries quick.
var fast = channel.Consumer{Attempts: 3, FirstPause: time.Millisecond, MaxPause: 5 * time.Millisecond}

func TestAPublishedMessageIsHandled(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	got := make(chan article, 1)
	c.Consume(s, func(_ context.Context, p article) error {
		got <- p
		return nil
	})
	n := channelNode(t, s)
	receipt, err := c.Publish(t.Context(), n, article{7, "tea"})
	if err != nil || receipt.ID == "" || receipt.Sequence != 1 || receipt.Duplicate {
		t.Fatalf("%+v, %v", receipt, err)
	}
	if p := next(t, got); p != (article{7, "tea"}) {
		t.Fatalf("got %+v", p)
	}
}

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

func TestAMessageThatCannotBeHandledBecomesADeadLetter(t *testing.T) {
	stuck := errors.New("the printer is out of paper")
	for name, test := range map[string]struct {
		handler  func(context.Context, article) error
		attempts int
		code     string
		reason   string
	}{
		"after the last attempt":  {func(context.Context, article) error { return stuck }, 3, "Unknown", stuck.Error()},
		"at once when it says so": {func(context.Context, article) error { return channel.Reject(stuck) }, 1, "Unknown", stuck.Error()},
		"at once when input is bad": {func(context.Context, article) error {
			return fmt.Errorf("because: %w", sabir.NewError(sabir.CodeInvalidArgument, "BadParcel", "no such size"))
		}, 1, "InvalidArgument", "no such size"},
		"after panics": {func(context.Context, article) error { panic("fire") }, 3, "Internal", "fire"},
		"after failures of goroutines": {func(ctx context.Context, _ article) error {
			sabir.Go(ctx, func(context.Context) error { return stuck })
			return nil
		}, 3, "Unknown", stuck.Error()},
	} {
		t.Run(strings.ReplaceAll(name, " ", "-"), func(t *testing.T) {
			c := parcels(t)
			s, dead := sabir.NewService("billing"), sabir.NewService("undertaker")
			var attempts atomic.Int32
			c.ConsumeWith(s, fast, func(ctx context.Context, p article) error {
				attempts.Add(1)
				return test.handler(ctx, p)
			})
			letters := make(chan channel.Delivery, 1)
			channel.New[article](c.Name()+".dead").Consume(dead, func(ctx context.Context, _ article) error {
				d, _ := channel.DeliveryFromContext(ctx)
				letters <- d
				return nil
			})
			n := channelNode(t, s, dead)
			publish(t, c, n, 9)
			d := next(t, letters).Dead
			if d == nil || d.Channel != c.Name() || d.Group != "billing" || d.Attempts != test.attempts || d.Sequence != 1 || d.Code != test.code ||
				!strings.Contains(d.Reason, test.reason) || d.Node != n.ID() || int(attempts.Load()) != test.attempts {
				t.Fatalf("%d attempts, %+v", attempts.Load(), d)
			}
		})
	}
}

func TestAMessageThatCannotBeDecodedBecomesADeadLetter(t *testing.T) {
	texts := channel.New[string](t.Name())
	s := sabir.NewService("billing")
	channel.New[article](t.Name()).Consume(s, func(context.Context, article) error { return nil })
	n := channelNode(t, s)
	if _, err := texts.Publish(t.Context(), n, "no article"); err != nil {
		t.Fatal(err)
	}
	letters := awaitLetters(t, n, t.Name()+".dead", 1)
	if string(letters[0].Data) != `"no article"` || letters[0].Dead.Code != "InvalidArgument" || letters[0].Dead.Attempts != 1 || !strings.Contains(letters[0].Dead.Reason, "article") {
		t.Fatalf("%+v, %+v", letters[0], letters[0].Dead)
	}
}

// awaitLetters waits until there are n dead letters.
func awaitLetters(t *testing.T, n *sabir.Node, name string, want int) []channel.DeadLetter {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	tick := time.NewTicker(2 * time.Millisecond)
	defer tick.Stop()
	for {
		letters, err := channel.DeadLetters(ctx, n, name, 100)
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) == want {
			return letters
		}
		<-tick.C
	}
}

func TestADeadLetterIsReplayedForTheGroupThatFailedOnly(t *testing.T) {
	c := parcels(t)
	var mended atomic.Bool
	billed, mailed := make(chan int, 10), make(chan int, 10)
	billing, mail := sabir.NewService("billing"), sabir.NewService("mail")
	c.Consume(billing, func(_ context.Context, p article) error {
		if !mended.Load() {
			return channel.Reject(errors.New("broken"))
		}
		billed <- p.ID
		return nil
	})
	c.ConsumeWith(mail, channel.Consumer{MaxInFlight: 1}, func(_ context.Context, p article) error {
		mailed <- p.ID
		return nil
	})
	n := channelNode(t, billing, mail)
	publish(t, c, n, 1, 2, 3)
	letters := awaitLetters(t, n, c.Name()+".dead", 3)
	if deleted, err := channel.DeleteDeadLetters(t.Context(), n, c.Name()+".dead", letters[0].Key); deleted != 1 || err != nil {
		t.Fatal(deleted, err)
	}
	mended.Store(true)
	if replayed, err := channel.Replay(t.Context(), n, c.Name()+".dead"); replayed != 2 || err != nil {
		t.Fatal(replayed, err)
	}
	var left article
	if err := json.Unmarshal(letters[0].Data, &left); err != nil {
		t.Fatal(err)
	}
	if got := []int{next(t, billed), next(t, billed)}; slices.Contains(got, left.ID) {
		t.Fatalf("the deleted letter %d was replayed: %v", left.ID, got)
	}
	awaitLetters(t, n, c.Name()+".dead", 0)
	publish(t, c, n, 4) // comes after the replayed ones
	var all []int
	for range 4 {
		all = append(all, next(t, mailed))
	}
	if !slices.Equal(all, []int{1, 2, 3, 4}) {
		t.Fatalf("the other group got %v", all)
	}
}

func TestWithTheSameIDAMessageIsKeptOnce(t *testing.T) {
	c := parcels(t)
	n := channelNode(t)
	first, err := c.Publish(t.Context(), n, article{ID: 1}, channel.MessageID("order-1"))
	if err != nil || first.ID != "order-1" || first.Duplicate {
		t.Fatalf("%+v, %v", first, err)
	}
	again, err := c.Publish(t.Context(), n, article{ID: 1}, channel.MessageID("order-1"))
	if err != nil || !again.Duplicate || again.Sequence != first.Sequence {
		t.Fatalf("%+v, %v", again, err)
	}
}

func TestPublishAllKeepsTheOrder(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	got := make(chan int, 1000)
	c.ConsumeWith(s, channel.Consumer{MaxInFlight: 1}, func(_ context.Context, p article) error {
		got <- p.ID
		return nil
	})
	n := channelNode(t, s)
	var values []article
	for i := range 1000 {
		values = append(values, article{ID: i})
	}
	receipts, err := c.PublishAll(t.Context(), n, values)
	if err != nil || len(receipts) != 1000 || receipts[999].Sequence != 1000 {
		t.Fatalf("%d receipts, %v", len(receipts), err)
	}
	for i := range 1000 {
		if id := next(t, got); id != i {
			t.Fatalf("message %d is %d", i, id)
		}
	}
}

func TestARequestIDAndMetadataTravelWithAMessage(t *testing.T) {
	c := parcels(t)
	type seen struct {
		request, metadata, carried string
		info                       sabir.CallInfo
	}
	got := make(chan seen, 1)
	s := sabir.NewService("billing")
	c.Consume(s, func(ctx context.Context, _ article) error {
		got <- seen{sabir.RequestIDFromContext(ctx), sabir.MetadataFromContext(ctx)["tenant"], sabir.MetadataFromContext(ctx)["carried"], sabir.InfoFromContext(ctx)}
		return nil
	})
	n := startNode(t, channel.Broker("mem://"), sabir.Serve(s), sabir.Use(sabir.Middleware{
		Carry: func(ctx context.Context) context.Context { return sabir.WithMetadata(ctx, "carried", "yes") }}))
	ctx := sabir.WithMetadata(sabir.WithRequestID(t.Context(), "r-1"), "tenant", "acme")
	if _, err := c.Publish(ctx, n, article{}); err != nil {
		t.Fatal(err)
	}
	v := next(t, got)
	if v.request != "r-1" || v.metadata != "acme" || v.carried != "yes" || v.info.Event != c.Name() || v.info.Service != "billing" || v.info.Node != n.ID() {
		t.Fatalf("%+v", v)
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
	synctest.Test(t, func(t *testing.T) {
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
	channel.New[article]("native", channel.Encoded("native")).Consume(s, func(context.Context, article) error { return nil })
	err := sabir.NewNode(channel.Broker("mem://"), sabir.Serve(s)).Start(t.Context())
	for _, want := range []string{`"no good"`, `"nil" is nil`, `a b`, "dead letters", "consumer of channel twice in group billing twice", "natively", "channel_test.go:"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not in %v", want, err)
		}
	}
}

func TestPublishReportsWhatIsWrong(t *testing.T) {
	n := channelNode(t)
	bare := startNode(t)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	for name, test := range map[string]struct {
		ctx     context.Context
		channel *channel.Channel[article]
		node    *sabir.Node
		value   article
		want    error
		text    string
	}{
		"a bad name":        {t.Context(), channel.New[article]("a..b"), n, article{}, sabir.NewError(sabir.CodeInvalidArgument, "BadChannel", ""), "empty word"},
		"too large":         {t.Context(), channel.New[article]("a", channel.MaxMessage(100)), n, article{Name: strings.Repeat("x", 100)}, sabir.ErrMessageTooLarge, "100"},
		"no broker":         {t.Context(), channel.New[article]("a"), bare, article{}, sabir.NewError(sabir.CodeFailedPrecondition, "NoChannels", ""), "channel.Broker"},
		"an ended context":  {ended, channel.New[article]("a"), n, article{}, context.Canceled, ""},
		"an unlinked codec": {t.Context(), channel.New[article]("a", channel.Encoded("runes")), n, article{}, nil, "runes"},
	} {
		_, err := test.channel.Publish(test.ctx, test.node, test.value)
		if err == nil || test.want != nil && !errors.Is(err, test.want) || !strings.Contains(err.Error(), test.text) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

func TestANodeThatHasStoppedListsNoChannels(t *testing.T) {
	n := channelNode(t)
	publish(t, parcels(t), n, 1)
	stopNode(t, n)
	if list, err := channel.List(t.Context(), n); len(list) != 0 || err != nil {
		t.Errorf("%+v, %v", list, err)
	}
}

func TestTheBrokerOfTheClusterKeepsChannelsWhereNoOtherIsNamed(t *testing.T) {
	c := parcels(t)
	n := startNode(t, sabir.Join("mem://"+t.Name()))
	publish(t, c, n, 1)
	list, err := channel.List(t.Context(), n)
	if err != nil || len(list) != 1 || list[0].Kept != 1 {
		t.Fatalf("%+v, %v", list, err)
	}
}

func TestTheChannelsServiceListsReplaysAndDeletes(t *testing.T) {
	c := parcels(t)
	s := sabir.NewService("billing")
	c.Consume(s, func(context.Context, article) error { return channel.Reject(errors.New("broken")) })
	n := channelNode(t, s)
	publish(t, c, n, 1, 2)
	dead := c.Name() + ".dead"
	letters := awaitLetters(t, n, dead, 2)
	list, err := sabir.Call[[]channel.Info](t.Context(), n, "$channels.list", sabir.Empty{})
	if err != nil || len(list) != 2 || list[0].Name != c.Name() || list[1].Name != dead || list[1].Kept != 2 || list[0].Groups[0].Name != "billing" {
		t.Fatalf("%+v, %v", list, err)
	}
	got, err := sabir.Call[[]channel.DeadLetter](t.Context(), n, "$channels.letters", channel.DeadLettersRequest{Channel: dead})
	if err != nil || len(got) != 2 || got[0].Dead.Reason != "broken" {
		t.Fatalf("%+v, %v", got, err)
	}
	if _, err := sabir.Call[int](t.Context(), n, "$channels.delete", channel.DeadLettersRequest{Channel: dead}); sabir.AsError(err).Code != sabir.CodeInvalidArgument {
		t.Fatalf("deleting nothing in particular: %v", err)
	}
	if deleted, err := sabir.Call[int](t.Context(), n, "$channels.delete", channel.DeadLettersRequest{Channel: dead, Keys: []string{letters[0].Key}}); err != nil || deleted != 1 {
		t.Fatal(deleted, err)
	}
	if replayed, err := sabir.Call[int](t.Context(), n, "$channels.replay", channel.DeadLettersRequest{Channel: dead, All: true}); err != nil || replayed != 1 {
		t.Fatal(replayed, err)
	}
	awaitLetters(t, n, dead, 1) // it failed again
	if deleted, err := sabir.Call[int](t.Context(), n, "$channels.delete", channel.DeadLettersRequest{Channel: dead, All: true}); err != nil || deleted != 1 {
		t.Fatal(deleted, err)
	}
}

func TestKeepMessagesAndKeepBytesDropTheOldest(t *testing.T) {
	for name, option := range map[string]channel.Option{
		"KeepMessages": channel.KeepMessages(2),
		"KeepBytes":    channel.KeepBytes(250), // of five messages, each with some 100 bytes
	} {
		c := parcels(t, option)
		n := startNode(t, channel.Broker("mem://options-"+name))
		publish(t, c, n, 1, 2, 3, 4, 5)
		list, err := channel.List(t.Context(), n)
		if err != nil || len(list) != 1 || list[0].Kept < 1 || list[0].Kept > 3 {
			t.Errorf("%s: %+v, %v", name, list, err)
		}
	}
}
