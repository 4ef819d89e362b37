package sabir_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"runtime/debug"
	"runtime/metrics"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/introspect"
)

// stranger is a node of another framework, in this process. Its action doubles a number.
type stranger struct {
	id    string
	calls atomic.Int32
	fails atomic.Pointer[sabir.Error]
	leave func() // called by each call, where it is set

	mu     sync.Mutex
	groups []string // that events were sent to
	depths []string // of calls, and their callers
}

func (s *stranger) Name() string { return s.id }

func (s *stranger) Send(ctx context.Context, r *sabir.Request) error {
	s.calls.Add(1)
	if s.leave != nil {
		s.leave()
	}
	if failed := s.fails.Load(); failed != nil {
		return failed
	}
	info := sabir.InfoFromContext(ctx)
	s.mu.Lock()
	s.depths = append(s.depths, string(rune('0'+info.Depth))+" "+info.CalledBy)
	s.mu.Unlock()
	text, err := r.AppendInput(json.Codec, nil)
	if err != nil {
		return err
	}
	var n int
	if err := json.Codec.Decode(text, &n); err != nil {
		return err
	}
	text, _ = json.Codec.Append(nil, 2*n)
	return r.DecodeOutput(json.Codec, text)
}

func (s *stranger) Emit(_ context.Context, group string, r *sabir.Request) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.groups = append(s.groups, r.Action().Name+" "+group)
	return nil
}

func (s *stranger) Open(context.Context, *sabir.Action) (sabir.ForeignStream, error) {
	return &echo{values: make(chan []byte, 16)}, nil
}

// echo is a stream that returns what it was sent.
type echo struct {
	values chan []byte
	closed sync.Once
}

func (e *echo) Recv(value any) error {
	text, ok := <-e.values
	if !ok {
		return io.EOF
	}
	return json.Codec.Decode(text, value)
}

func (e *echo) Send(value any) error {
	text, err := json.Codec.Append(nil, value)
	e.values <- text
	return err
}

func (e *echo) CloseSend() { e.closed.Do(func() { close(e.values) }) }
func (e *echo) Close()     { e.CloseSend() }

// doubling is the offer of all foreign nodes of these tests: one action that doubles a number.
var doubling = sabir.ForeignOffer{
	Node:     introspect.Node{Framework: "stranger 1.0"},
	Services: []introspect.Service{{Name: "v2.math", Version: 2}},
	Actions:  []introspect.Action{{Name: "v2.math.double", Service: "v2.math", Visibility: "cluster"}},
	Events:   []sabir.Subscription{{Service: "v2.math", Pattern: "user.*", Group: "math"}},
}

func meet(t *testing.T, n *sabir.Node, offer sabir.ForeignOffer, ids ...string) (list []*stranger) {
	t.Helper()
	for _, id := range ids {
		s := &stranger{id: id}
		if err := n.SetForeign(s, offer); err != nil {
			t.Fatal(err)
		}
		list = append(list, s)
	}
	return list
}

func double(n sabir.Caller, in int) (int, error) {
	return sabir.Call[int](context.Background(), n, "math.double", in)
}

func TestAForeignNodeSharesTheCallsOfANameWithThisOne(t *testing.T) {
	var here atomic.Int32
	own := sabir.NewService("math", sabir.Version(2))
	sabir.Handle(own, "double", func(_ context.Context, in int) (int, error) {
		here.Add(1)
		return 2 * in, nil
	})
	n := startNode(t, sabir.Serve(own), sabir.PreferLocal(false))
	s := meet(t, n, doubling, "left", "right")
	for range 30 {
		if out, err := double(n, 21); err != nil || out != 42 {
			t.Fatal(out, err)
		}
	}
	if a, b, c := here.Load(), s[0].calls.Load(), s[1].calls.Load(); a != 10 || b != 10 || c != 10 {
		t.Errorf("this node took %d, the others %d and %d: want 10 each", a, b, c)
	}
	if out, err := sabir.Call[int](t.Context(), n, "v2.math.double", 1, sabir.ToNode("right")); err != nil || out != 2 || s[1].calls.Load() != 11 {
		t.Errorf("to one by name: %d, %v", out, err)
	}
}

func TestForeignNodesAreListedWithTheirServicesAndActions(t *testing.T) {
	n := startNode(t)
	meet(t, n, doubling, "left")
	nodes := n.Nodes()
	if len(nodes) != 2 || nodes[1].ID != "left" || nodes[1].Framework != "stranger 1.0" || nodes[1].Services != 1 || nodes[1].Actions != 1 || nodes[1].State != "running" {
		t.Errorf("nodes: %+v", nodes)
	}
	if !slices.ContainsFunc(n.Services(), func(s introspect.Service) bool { return s.Name == "v2.math" && s.Node == "left" }) {
		t.Errorf("services: %+v", n.Services())
	}
	if a := n.Action("math.double"); a == nil || !a.Remote || a.Public() {
		t.Errorf("action: %+v", a)
	}
}

// What SetForeign and DropForeign did holds when they return, although one of many that run at once may do it for all.
func TestOfManyForeignNodesThatComeAndGoAtOnceEachIsThereWhenItWasSetAndNotWhenItWasDropped(t *testing.T) {
	n := startNode(t)
	var nodes sync.WaitGroup
	for i := range 100 {
		nodes.Go(func() {
			one := &stranger{id: fmt.Sprint("s", i)}
			if err := n.SetForeign(one, doubling); err != nil {
				t.Error(err)
			}
			if out, err := sabir.Call[int](t.Context(), n, "v2.math.double", i, sabir.ToNode(one.id)); err != nil || out != 2*i {
				t.Errorf("%s was set: %d, %v", one.id, out, err)
			}
			n.DropForeign(one)
			if _, err := sabir.Call[int](t.Context(), n, "v2.math.double", i, sabir.ToNode(one.id)); err == nil || one.calls.Load() != 1 {
				t.Errorf("%s was dropped, and got %d calls: %v", one.id, one.calls.Load(), err)
			}
		})
	}
	nodes.Wait()
}

// A registry may name a thousand nodes of one service at once.
func BenchmarkAThousandForeignNodesComeAtOnceAndGo(b *testing.B) {
	for b.Loop() {
		n := sabir.NewNode(sabir.NodeID("n"))
		if err := n.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		var nodes sync.WaitGroup
		for i := range 1000 {
			nodes.Go(func() {
				one := &stranger{id: fmt.Sprint("s", i)}
				if err := n.SetForeign(one, doubling); err != nil {
					b.Error(err)
				}
				n.DropForeign(one)
			})
		}
		nodes.Wait()
		if err := n.Stop(context.Background()); err != nil {
			b.Error(err)
		}
	}
}

func TestCallsOfAForeignNodeThatLeftAreUnavailable(t *testing.T) {
	n := startNode(t)
	s := meet(t, n, doubling, "left")[0]
	if _, err := double(n, 1); err != nil {
		t.Fatal(err)
	}
	n.DropForeign(&stranger{id: "left"}) // another one of the name, which is not there
	if _, err := double(n, 1); err != nil {
		t.Error(err)
	}
	n.DropForeign(s)
	if _, err := double(n, 1); !errors.Is(err, sabir.ErrServiceUnavailable) {
		t.Errorf("the error is %v", err)
	}
}

func TestACallThatAForeignNodeDidNotTakeGoesToAnother(t *testing.T) {
	n := startNode(t)
	s := meet(t, n, doubling, "left", "right")
	s[0].fails.Store(sabir.ErrServiceUnavailable)
	for range 4 {
		if out, err := double(n, 3); err != nil || out != 6 {
			t.Fatal(out, err)
		}
	}
}

func TestACallToAForeignNodeThatHasJustGoneGoesToTheLastOne(t *testing.T) {
	n := startNode(t)
	strangers := meet(t, n, doubling, "gone-1", "gone-2", "there")
	for _, s := range strangers[:2] {
		s.fails.Store(sabir.ErrServiceUnavailable.AsRetryable())
		s.leave = func() { n.DropForeign(s) }
	}
	for range 10 {
		if out, err := double(n, 4); err != nil || out != 8 {
			t.Fatalf("got %d, %v", out, err)
		}
	}
}

func TestAForeignNodeThatFailsIsLeftOut(t *testing.T) {
	n := startNode(t)
	s := meet(t, n, doubling, "left", "right")
	s[0].fails.Store(sabir.NewError(sabir.CodeUnavailable, "Broken", "broken"))
	for range 100 {
		_, _ = double(n, 3)
	}
	nodes := n.Nodes()
	if len(nodes[1].LeftOut) != 1 || nodes[1].LeftOut[0].Action != "v2.math.double" || len(nodes[2].LeftOut) != 0 {
		t.Errorf("left out: %+v", nodes)
	}
	if calls := s[0].calls.Load(); calls > 20 {
		t.Errorf("%d calls went to the node that fails", calls)
	}
}

func TestCallsPreferOthersWhileAForeignNodeIsSilent(t *testing.T) {
	n := startNode(t)
	s := meet(t, n, doubling, "left", "right")
	silent := doubling
	silent.Node.Silent = true
	if err := n.SetForeign(s[0], silent); err != nil {
		t.Fatal(err)
	}
	for range 10 {
		if _, err := double(n, 3); err != nil {
			t.Fatal(err)
		}
	}
	if s[0].calls.Load() != 0 || s[1].calls.Load() != 10 {
		t.Errorf("%d and %d calls", s[0].calls.Load(), s[1].calls.Load())
	}
}

func TestTheErrorOfAnUnknownNameSaysWhichForeignServersWereNotAskedYet(t *testing.T) {
	n := startNode(t)
	meet(t, n, sabir.ForeignOffer{Node: introspect.Node{Silent: true}}, "billing:50051")
	meet(t, n, sabir.ForeignOffer{}, "empty:50051")
	_, err := double(n, 3)
	if !errors.Is(err, sabir.ErrActionNotFound) || !strings.Contains(err.Error(), "billing:50051") || strings.Contains(err.Error(), "empty") {
		t.Error(err)
	}
	meet(t, n, doubling, "billing:50051")
	_, err = sabir.Call[int](t.Context(), n, "math.half", 3)
	if !errors.Is(err, sabir.ErrActionNotFound) || strings.Contains(err.Error(), "billing") {
		t.Error(err)
	}
}

func TestEventsReachEachForeignGroupOnceAndBroadcastsEachNode(t *testing.T) {
	n := startNode(t)
	s := meet(t, n, doubling, "left", "right")
	if err := sabir.Emit(t.Context(), n, "user.created", 1); err != nil {
		t.Error(err)
	}
	if err := sabir.Broadcast(t.Context(), n, "user.gone", 1); err != nil {
		t.Error(err)
	}
	sent := slices.Sorted(slices.Values(append(s[0].groups, s[1].groups...)))
	if !slices.Equal(sent, []string{"user.created math", "user.gone ", "user.gone "}) {
		t.Errorf("events: %q", sent)
	}
}

func TestAStreamToAForeignNodeCarriesValuesBothWays(t *testing.T) {
	n := startNode(t)
	meet(t, n, doubling, "left")
	stream, err := sabir.OpenStream[int, int](t.Context(), n, "math.double")
	if err != nil {
		t.Fatal(err)
	}
	defer stream.Close()
	for i := range 3 {
		if err := stream.Send(i); err != nil {
			t.Fatal(err)
		}
	}
	stream.CloseSend()
	var sum int
	for v, err := range stream.All() {
		if err != nil {
			t.Fatal(err)
		}
		sum += v
	}
	if sum != 3 {
		t.Errorf("the sum is %d", sum)
	}
}

func TestAnOfferWithAnActionTwiceIsRefused(t *testing.T) {
	n := startNode(t)
	twice := doubling
	twice.Actions = append(slices.Clone(doubling.Actions), doubling.Actions...)
	if err := n.SetForeign(&stranger{id: "left"}, twice); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) {
		t.Errorf("the error is %v", err)
	}
}

func TestTheLevelOfACallFromOutsideGoesOnToForeignNodesAndIsBounded(t *testing.T) {
	relay := sabir.NewService("relay")
	n := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(relay), sabir.Limits{MaxDepth: 5})
	sabir.Handle(relay, "double", func(ctx context.Context, in int) (int, error) {
		return sabir.Call[int](ctx, n, "math.double", in)
	})
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stopIfRunning(t, n) })
	s := meet(t, n, doubling, "left")[0]
	in := gateway.Inbound{Context: t.Context(), Level: 2, CalledBy: "page.show"}
	if out, err := n.Action("relay.double").ServeJSON(in, nil, []byte("4")); err != nil || string(out) != "8" {
		t.Fatal(string(out), err)
	}
	if len(s.depths) != 1 || s.depths[0] != "4 relay.double" {
		t.Errorf("the foreign node was called at %q", s.depths)
	}
	in.Level = 5
	if _, err := n.Action("relay.double").ServeJSON(in, nil, []byte("4")); !errors.Is(err, sabir.NewError(sabir.CodeFailedPrecondition, "TooManyLevels", "")) {
		t.Errorf("the error is %v", err)
	}
}

func TestAnEventFromOutsideReachesTheGroupsThatItIsFor(t *testing.T) {
	var mu sync.Mutex
	var got []string
	var list []sabir.Servable
	for _, name := range []string{"mail", "audit"} {
		s := sabir.NewService(name)
		sabir.On(s, "user.*", func(ctx context.Context, who string) error {
			mu.Lock()
			defer mu.Unlock()
			got = append(got, name+" "+who+" "+sabir.InfoFromContext(ctx).RequestID)
			return nil
		})
		list = append(list, s)
	}
	n := startNode(t, sabir.Serve(list...))
	in := gateway.Inbound{Context: t.Context(), RequestID: "r"}
	if err := n.ReceiveEvent(in, "user.created", []string{"mail"}, false, json.Codec, []byte(`"Ada"`)); err != nil {
		t.Error(err)
	}
	if err := n.ReceiveEvent(in, "user.gone", []string{"audit", "mail"}, true, json.Codec, []byte(`"Bob"`)); err != nil {
		t.Error(err)
	}
	slices.Sort(got)
	if !slices.Equal(got, []string{"audit Bob r", "mail Ada r", "mail Bob r"}) {
		t.Errorf("handlers got %q", got)
	}
	if err := n.ReceiveEvent(in, "user.created", []string{"mail"}, false, json.Codec, []byte(`7`)); !errors.Is(err, sabir.ErrBadInput) {
		t.Errorf("the error of a payload of another type is %v", err)
	}
}

// The garbage collector of a node that a bridge alone connects works as that of one in a cluster.
func TestAForeignNodeHasTheHeapGrowToItsFloorUntilTheNodeStops(t *testing.T) {
	if own, set := os.LookupEnv("GOGC"); set {
		os.Unsetenv("GOGC") // which leaves the percentage as it is
		t.Cleanup(func() { os.Setenv("GOGC", own) })
		defer debug.SetGCPercent(debug.SetGCPercent(100))
	}
	percent := func() uint64 {
		sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
		metrics.Read(sample)
		return sample[0].Value.Uint64()
	}
	// More than twice what the tests before this one may have left alive, for which there is no floor.
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Limits{HeapFloor: 8 << 30})
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	if now := percent(); now != 100 {
		t.Fatalf("without foreign nodes the percentage is %d", now)
	}
	if err := node.SetForeign(&stranger{id: "abroad"}, sabir.ForeignOffer{}); err != nil {
		t.Fatal(err)
	}
	if now := percent(); now <= 100 {
		t.Errorf("with a foreign node the percentage is %d", now)
	}
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if now := percent(); now != 100 {
		t.Errorf("after the stop the percentage is %d", now)
	}
}
