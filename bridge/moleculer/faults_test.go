//go:build unix

package moleculer_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestANodeThatStandsStillGetsNoCallsWhileOthersOfferTheAction(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	still := a.peer("5", "still")
	a.peer("5", "other")
	n := a.node("go", nil, moleculer.Config{})
	who := func(ctx context.Context, options ...sabir.CallOption) (string, error) {
		return sabir.Call[string](ctx, n, "js.whoami", sabir.Empty{}, options...)
	}
	waitFor(t, "both", func() bool {
		_, one := who(t.Context(), sabir.ToNode("still"))
		_, two := who(t.Context(), sabir.ToNode("other"))
		return one == nil && two == nil
	})
	if err := brokers.Suspend(still.process.Process); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), 200*time.Millisecond)
	defer cancel()
	if _, err := who(ctx, sabir.ToNode("still")); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("a call of a node that stands still: %v", err)
	}
	waitFor(t, "twenty answers of the other", func() bool {
		for range 20 {
			ctx, cancel := context.WithTimeout(t.Context(), time.Second)
			id, err := who(ctx)
			cancel()
			if err != nil || id != "other" {
				return false
			}
		}
		return true
	})
	if err := still.process.Process.Signal(syscall.SIGCONT); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "an answer of the node that goes on", func() bool {
		id, err := who(t.Context())
		return err == nil && id == "still"
	})
}

// The streams are in both directions, each from a node that was killed.
// The node is sent a large packet only when it has read the one before, however long that takes: its reader breaks the connection otherwise.
func TestLargePacketsOutliveAStopOfTheNode(t *testing.T) {
	t.Parallel()
	a := newTCPPlace(t)
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	js := a.peer("5", "js")
	if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
		t.Fatal(err)
	}
	if err := brokers.Suspend(js.process.Process); err != nil {
		t.Fatal(err)
	}
	const stop = 15 * time.Second // half of the silence that is borne
	resumed := time.AfterFunc(stop, func() { _ = js.process.Process.Signal(syscall.SIGCONT) })
	defer resumed.Stop()
	echoAtOnce(t, n, 5, strings.Repeat("x", 1_000_000))
}

func TestStreamsOfANodeThatWasKilledEnd(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	ended := make(chan error, 1)
	begun := make(chan struct{}, 1)
	s := sabir.NewService("sink")
	sabir.HandleStream(s, "take", func(_ context.Context, s *sabir.Stream[number, number]) error {
		for _, err := range s.All() {
			if err != nil {
				ended <- err
				return err
			}
			select {
			case begun <- struct{}{}:
			default:
			}
		}
		ended <- io.EOF
		return nil
	})
	n := a.node("go", []sabir.Servable{s}, moleculer.Config{Expose: []string{"**"}})
	js.must(nil, "wait", "sink")
	if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
		t.Fatal(err)
	}
	go js.do(nil, "endless", "sink.take")
	<-begun
	answers := make(chan error, 1)
	first := make(chan struct{}, 1)
	go func() {
		for _, err := range sabir.CallStream[number](t.Context(), n, "js.endless", map[string]int{}) {
			if err != nil {
				answers <- err
				return
			}
			select {
			case first <- struct{}{}:
			default:
			}
		}
		answers <- io.EOF
	}()
	<-first
	if err := js.process.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-answers; !errors.Is(err, sabir.ErrLinkLost) {
		t.Errorf("the stream from the node ended with %v", err)
	}
	if err := <-ended; err == io.EOF {
		t.Error("the stream of the node's call ended as if it were whole")
	}
}

// A peer sends requests, streams and descriptions of nodes faster than anybody can take them, in its own namespace's topics.
func TestAFloodOfPacketsTakesNoMoreThanItsBounds(t *testing.T) {
	brokers.Slow(t)
	a := newPlace(t)
	js := a.peer("5", "js")
	n := a.node("go", []sabir.Servable{orders(), streams()}, moleculer.Config{Expose: []string{"**"}})
	js.must(nil, "wait", "v3.orders")
	conn, err := natsgo.Connect(a.broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	send := func(topic, format string, arguments ...any) {
		if err := conn.Publish("MOL-"+a.namespace+"."+topic, fmt.Appendf(nil, format, arguments...)); err != nil {
			t.Fatal(err)
		}
	}
	piece := strings.Repeat("x", 100<<10)
	for i := range 6000 {
		sender := fmt.Sprintf("evil-%d", i)
		send("INFO", `{"ver":"5","sender":%q,"services":[{"name":"s%d","fullName":"s%d","actions":{},"events":{}}],"instanceID":"i","seq":1}`, sender, i, i)
		send("REQ.go", `{"ver":"5","sender":%q,"id":"r-%d","action":"v3.orders.sleep","params":{},"timeout":500,"level":1}`, sender, i)
		if i < 3000 { // 300 MB of streams that nobody takes
			send("REQ.go", `{"ver":"5","sender":"evil","id":"s-%d","action":"streams.double","seq":0,"stream":true,"params":null,"headers":{"$streamObjectMode":true}}`, i%100)
			send("REQ.go", `{"ver":"5","sender":"evil","id":"s-%d","action":"streams.double","seq":%d,"stream":true,"params":%q,"headers":{"$streamObjectMode":true}}`, i%100, 2+i/100, piece)
		}
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a call from the other side", func() bool {
		out, err := js.call("v3.orders.echo", 1, map[string]any{"timeout": 5000})
		return err == nil && string(out.Result) == "1"
	})
	if sum, err := sabir.Call[int](t.Context(), n, "js.add", map[string]int{"a": 1, "b": 1}); err != nil || sum != 2 {
		t.Errorf("%d, %v", sum, err)
	}
	if nodes := len(n.Nodes()); nodes > 4097 {
		t.Errorf("%d nodes are known", nodes)
	}
	runtime.GC()
	var memory runtime.MemStats
	if runtime.ReadMemStats(&memory); memory.HeapAlloc > 512<<20 {
		t.Errorf("%d MiB are in use", memory.HeapAlloc>>20)
	}
}

func TestTwoProjectsAtOneBrokerDoNotSeeEachOther(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	b := *a
	b.namespace += "-2"
	one, two := a.peer("5", "js"), b.peer("5", "js")
	first := a.node("go", []sabir.Servable{whoami("first")}, moleculer.Config{Expose: []string{"**"}})
	b.node("go", []sabir.Servable{whoami("second")}, moleculer.Config{Expose: []string{"**"}})
	for want, js := range map[string]*peer{`"first"`: one, `"second"`: two} {
		waitFor(t, "its own node", func() bool {
			out, err := js.call("v2.js.whoami", nil, map[string]any{"nodeID": "go"})
			if err == nil && string(out.Result) != want {
				t.Errorf("%s answers, not %s", out.Result, want)
			}
			return err == nil
		})
	}
	if nodes := first.Nodes(); len(nodes) != 2 {
		t.Errorf("%d nodes are known", len(nodes))
	}
}

// Ids of Moleculer are those of processes by default, so two brokers of one process, in two projects, have the same.
func TestANodeWithTwoBridgesHasTheNodesOfBothProjectsThoughTheirIDsAreTheSame(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	b := *a
	b.namespace += "-2"
	n := sabir.NewNode(sabir.NodeID("go"), sabir.Logger(slog.New(slog.DiscardHandler)),
		moleculer.Bridge(moleculer.Config{Address: a.broker.URL(), Namespace: a.namespace}), moleculer.Bridge(moleculer.Config{Address: a.broker.URL(), Namespace: b.namespace}))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	ids := func() (list []string) {
		for _, node := range n.Nodes()[1:] {
			list = append(list, node.ID)
		}
		return list
	}
	one := a.peer("5", "js")
	waitFor(t, "the node of the first project", func() bool { return slices.Equal(ids(), []string{"js"}) })
	b.peer("5", "js")
	waitFor(t, "that of the second one", func() bool { return slices.Equal(ids(), []string{b.namespace + "/js", "js"}) })
	if err := one.process.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end of the first one", func() bool { return slices.Equal(ids(), []string{b.namespace + "/js"}) })
	waitFor(t, "the services of the second one", func() bool { return len(n.Nodes()[1].ID) > 0 && n.Nodes()[1].Actions > 0 })
	if out, err := sabir.Call[string](t.Context(), n, "js.whoami", sabir.Empty{}); err != nil || out != "js" {
		t.Errorf("%q, %v", out, err)
	}
}
