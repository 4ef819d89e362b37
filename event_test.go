package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// received collects the names of the handlers that ran.
type received struct {
	mu   sync.Mutex
	list []string
}

func (h *received) add(who string) func(context.Context, helloRequest) error {
	return func(context.Context, helloRequest) error {
		h.mu.Lock()
		defer h.mu.Unlock()
		h.list = append(h.list, who)
		return nil
	}
}

func (h *received) take() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	list := h.list
	h.list = nil
	slices.Sort(list)
	return list
}

func TestEmitReachesEachGroupOnce(t *testing.T) {
	var h received
	first := sabir.NewService("mail", sabir.Version(1))
	second := sabir.NewService("mail", sabir.Version(2))
	audit := sabir.NewService("audit")
	sabir.On(first, "user.created", h.add("mail"))
	sabir.On(second, "user.created", h.add("mail"))
	sabir.On(audit, "user.*", h.add("audit"))
	sabir.On(audit, "user.created", h.add("special"), sabir.Delivery{Group: "special"})
	node := start(t, sabir.Serve(first, second, audit))
	if err := sabir.Emit(t.Context(), node, "user.created", helloRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := h.take(); !slices.Equal(got, []string{"audit", "mail", "special"}) {
		t.Fatalf("emit: %v", got)
	}
	if err := sabir.Broadcast(t.Context(), node, "user.created", helloRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := h.take(); !slices.Equal(got, []string{"audit", "mail", "mail", "special"}) {
		t.Fatalf("broadcast: %v", got)
	}
	if err := sabir.BroadcastLocal(t.Context(), node, "user.deleted", helloRequest{}); err != nil {
		t.Fatal(err)
	}
	if got := h.take(); !slices.Equal(got, []string{"audit"}) {
		t.Fatalf("broadcast of another: %v", got)
	}
}

func TestEmitIsBalancedInsideAGroup(t *testing.T) {
	var h received
	var services []sabir.Servable
	for i := range 3 {
		s := sabir.NewService("worker", sabir.Version(i+1))
		sabir.On(s, "job", h.add(fmt.Sprint(i)))
		services = append(services, s)
	}
	node := start(t, sabir.Serve(services...))
	for range 30 {
		if err := sabir.Emit(t.Context(), node, "job", helloRequest{}); err != nil {
			t.Fatal(err)
		}
	}
	got := strings.Join(h.take(), "")
	if want := strings.Repeat("0", 10) + strings.Repeat("1", 10) + strings.Repeat("2", 10); got != want {
		t.Fatalf("got %s", got)
	}
}

func TestTheMostSpecificPatternOfAServiceGetsTheEvent(t *testing.T) {
	var h received
	s := sabir.NewService("listener")
	for _, pattern := range []string{"**", "user.**", "user.*", "user.created", "*.created"} {
		sabir.On(s, pattern, h.add(pattern))
	}
	node := start(t, sabir.Serve(s))
	for event, want := range map[string]string{
		"user.created": "user.created", "user.deleted": "user.*", "user.a.b": "user.**", "order.created": "*.created", "order.x": "**", "x": "**",
	} {
		if err := sabir.Emit(t.Context(), node, event, helloRequest{}); err != nil {
			t.Fatal(err)
		}
		if got := h.take(); !slices.Equal(got, []string{want}) {
			t.Errorf("%s went to %v, want %s", event, got, want)
		}
	}
}

func TestAHandlerThatFailsOrPanicsHarmsNoOther(t *testing.T) {
	log, text := logged()
	var h received
	var services []sabir.Servable
	for i, fn := range []func(context.Context, helloRequest) error{
		func(context.Context, helloRequest) error { return errors.New("broken handler") },
		func(context.Context, helloRequest) error { panic("mad handler") },
		h.add("fine"),
	} {
		s := sabir.NewService(fmt.Sprintf("s%c", 'a'+i))
		sabir.On(s, "user.created", fn)
		services = append(services, s)
	}
	node := start(t, sabir.Serve(services...), log)
	for name, ctx := range waysToCall(t) {
		if err := sabir.Emit(ctx, node, "user.created", helloRequest{}); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if got := h.take(); !slices.Equal(got, []string{"fine"}) {
			t.Fatalf("%s: %v", name, got)
		}
	}
	if !strings.Contains(text(), "broken handler") || !strings.Contains(text(), "mad handler") {
		t.Fatalf("log: %s", text())
	}
}

func TestPayloadIsConvertedToTheHandlersType(t *testing.T) {
	type other struct {
		Name string `json:"name"`
	}
	var got string
	var whole any
	s := sabir.NewService("listener")
	sabir.On(s, "user.created", func(_ context.Context, e other) error { got = e.Name; return nil })
	sabir.On(s, "user.*", func(_ context.Context, e any) error { whole = e; return nil }, sabir.Delivery{Group: "any"})
	sabir.On(s, "user.created", func(_ context.Context, e []int) error { t.Error("understood"); return nil }, sabir.Delivery{Group: "misfit"})
	log, text := logged()
	node := start(t, sabir.Serve(s), log)
	if err := sabir.Emit(t.Context(), node, "user.created", helloRequest{"Ada", 36}); !errors.Is(err, sabir.ErrBadInput) {
		t.Fatalf("got %v", err)
	}
	if got != "Ada" || whole != (helloRequest{"Ada", 36}) {
		t.Fatalf("got %q and %v", got, whole)
	}
	if !strings.Contains(text(), "takes []int, cannot be read") {
		t.Fatalf("log: %s", text())
	}
}

func TestEventHandlersKnowTheirContext(t *testing.T) {
	var info sabir.CallInfo
	s := sabir.NewService("orders")
	sabir.Handle(s, "create", func(ctx context.Context, _ struct{}) (struct{}, error) {
		return struct{}{}, sabir.Emit(ctx, s, "order.created", helloRequest{})
	})
	mail := sabir.NewService("mail")
	sabir.On(mail, "order.*", func(ctx context.Context, _ helloRequest) error { info = sabir.InfoFromContext(ctx); return nil })
	node := start(t, sabir.Serve(s, mail), sabir.NodeID("n1"))
	ctx := sabir.WithRequestID(t.Context(), "r1")
	if _, err := sabir.Call[struct{}](ctx, node, "orders.create", struct{}{}); err != nil {
		t.Fatal(err)
	}
	if want := (sabir.CallInfo{Event: "order.created", Service: "mail", CalledBy: "orders.create", RequestID: "r1", Depth: 2, Node: "n1", From: "n1"}); !reflect.DeepEqual(info, want) {
		t.Fatalf("got %+v", info)
	}
}

func TestABadEventNameIsAnError(t *testing.T) {
	node := start(t)
	for _, name := range []string{"", "a..b", "a b", "user.*", strings.Repeat("x", 300)} {
		if err := sabir.Emit(t.Context(), node, name, 1); sabir.AsError(err) == nil || sabir.AsError(err).Name != "BadName" {
			t.Errorf("%.20q: %v", name, err)
		}
	}
}

func TestQueuedHandlersDoNotHoldUpTheEmitterAndKeepOrder(t *testing.T) {
	release := make(chan struct{})
	var got []string
	s := sabir.NewService("slow")
	sabir.On(s, "job", func(_ context.Context, e helloRequest) error { <-release; got = append(got, e.Name); return nil }, sabir.Delivery{Buffer: 10})
	node := start(t, sabir.Serve(s))
	ctx, cancel := context.WithCancel(t.Context())
	for i := range 10 {
		if err := sabir.Emit(ctx, node, "job", helloRequest{Name: fmt.Sprint(i)}); err != nil {
			t.Fatal(err)
		}
	}
	cancel() // what is queued does not depend on its emitter any more
	close(release)
	if err := node.Remove(t.Context(), s); err != nil { // waits for the queue
		t.Fatal(err)
	}
	if strings.Join(got, "") != "0123456789" {
		t.Fatalf("got %v", got)
	}
}

func TestWhatIsQueuedAtTheStopCanStillCallItsOwnService(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		var sent []string
		s := sabir.NewService("mail")
		sabir.Handle(s, "send", func(_ context.Context, in helloRequest) (sabir.Empty, error) {
			sent = append(sent, in.Name)
			return sabir.Empty{}, nil
		})
		sabir.On(s, "order.created", func(ctx context.Context, e helloRequest) error {
			<-release
			_, err := sabir.Call[sabir.Empty](ctx, s, "mail.send", e)
			return err
		}, sabir.Delivery{Buffer: 10})
		node := start(t, sabir.Serve(s))
		for _, name := range []string{"a", "b", "c"} {
			if err := sabir.Emit(t.Context(), node, "order.created", helloRequest{Name: name}); err != nil {
				t.Fatal(err)
			}
		}
		removed := make(chan error, 1)
		go func() { removed <- node.Remove(t.Context(), s) }()
		bubbletest.Wait()
		close(release)
		if err := <-removed; err != nil || strings.Join(sent, "") != "abc" {
			t.Errorf("sent %v, %v", sent, err)
		}
	})
}

func TestAFullQueueIsAClearErrorAfterAWhile(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		s := sabir.NewService("slow")
		sabir.On(s, "job", func(context.Context, int) error { <-release; return nil }, sabir.Delivery{Buffer: 1})
		node := start(t, sabir.Serve(s))
		begin := time.Now()
		var err error
		for range 3 {
			err = errors.Join(err, sabir.Emit(context.Background(), node, "job", 1))
			bubbletest.Wait()
		}
		if e := sabir.AsError(err); e == nil || e.Name != "EventQueueFull" || !e.Retryable || time.Since(begin) != 5*time.Second {
			t.Errorf("got %v after %v", err, time.Since(begin))
		}
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := sabir.Emit(ctx, node, "job", 1); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("with a deadline: %v", err)
		}
		close(release)
	})
}

func TestARemovalWaitsForNoEmitterThatWaitsForSpace(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		s := sabir.NewService("slow")
		sabir.On(s, "job", func(context.Context, int) error { <-release; return nil }, sabir.Delivery{Buffer: 1})
		node := start(t, sabir.Serve(s))
		emitted := make(chan error, 3)
		for range 3 { // one is handled, one is in the queue, one waits
			go func() { emitted <- sabir.Emit(context.Background(), node, "job", 1) }()
			bubbletest.Wait()
		}
		began := time.Now()
		ctx, cancel := context.WithTimeout(context.Background(), time.Second)
		defer cancel()
		if err := node.Remove(ctx, s); !errors.Is(err, context.DeadlineExceeded) || time.Since(began) != time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		for range 3 {
			if err := <-emitted; err != nil || time.Since(began) != time.Second {
				t.Errorf("an emitter got %v after %v", err, time.Since(began))
			}
		}
		close(release)
	})
}

func TestRemovedServicesGetNoEvents(t *testing.T) {
	var h received
	s := sabir.NewService("listener", sabir.OnStop(func(context.Context) error { return nil }))
	sabir.On(s, "tick", h.add("listener"))
	node := start(t, sabir.Serve(s))
	if err := node.Remove(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if err := sabir.Emit(t.Context(), node, "tick", helloRequest{}); err != nil || h.take() != nil {
		t.Fatal("received")
	}
}

func TestANegativeBufferOfAHandlerKeepsItsServiceFromStarting(t *testing.T) {
	s := sabir.NewService("mail")
	sabir.On(s, "job", func(context.Context, int) error { return nil }, sabir.Delivery{Buffer: -1})
	n := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s))
	err := n.Start(t.Context())
	if err == nil {
		_ = n.Stop(context.Background())
	}
	if err == nil || !strings.Contains(err.Error(), "Buffer of Delivery is -1") || !strings.Contains(err.Error(), "event_test.go:") {
		t.Errorf("%v", err)
	}
}
