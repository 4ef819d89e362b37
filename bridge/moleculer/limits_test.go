package moleculer_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
)

// NATS takes packets of 1 MiB, which no packet with a text of so many characters is.
func whatIsTooLargeForTheBrokerIsAnError(t *testing.T, n *sabir.Node, js *peer) {
	const fits, tooLarge = 1_000_000, 1 << 20
	// Calls of Moleculer.
	var length int
	if err := js.do(&length, "text", fits, "v3.orders.echo"); err != nil || length != fits {
		t.Errorf("a text of %d characters came back with %d, %v", fits, length, err)
	}
	if err := js.do(&length, "text", tooLarge, "v3.orders.length"); err == nil || !strings.Contains(fmt.Sprint(err), "MAX_PAYLOAD_EXCEEDED") {
		t.Errorf("the error of Moleculer for its own call is %v", err)
	}
	for action, want := range map[string]string{"v3.orders.text": "MoleculerClientError 413 MessageTooLarge false: the answer of v3.orders.text has", "v3.orders.busy": "MoleculerRetryableError 503 Busy true: come again"} {
		if _, err := js.call(action, tooLarge); err == nil || !strings.HasPrefix(err.Error(), want) {
			t.Errorf("%s: %v", action, err)
		}
	}
	// Calls of Moleculer's actions.
	if back, err := sabir.Call[string](t.Context(), n, "js.echo", strings.Repeat("y", fits)); err != nil || len(back) != fits {
		t.Errorf("a text of %d characters came back with %d, %v", fits, len(back), err)
	}
	if _, err := sabir.Call[int](t.Context(), n, "js.length", strings.Repeat("y", tooLarge)); !errors.Is(err, sabir.ErrMessageTooLarge) {
		t.Errorf("a call that is too large: %v", err)
	}
	if _, err := sabir.Call[string](t.Context(), n, "js.text", map[string]int{"n": tooLarge}); err == nil || !strings.Contains(err.Error(), "MAX_PAYLOAD_EXCEEDED") {
		t.Errorf("an answer of Moleculer that is too large: %#v", sabir.AsError(err))
	}
	// Events, which nobody answers.
	if err := sabir.Emit(t.Context(), n, "news.large", strings.Repeat("y", tooLarge)); !errors.Is(err, sabir.ErrMessageTooLarge) {
		t.Errorf("an event that is too large: %v", err)
	}
}

func TestManyServicesAreKnownOnBothSides(t *testing.T) {
	brokers.Slow(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	const services = 300
	var many []sabir.Servable
	for i := range services {
		s := sabir.NewService(fmt.Sprint("go", i))
		for j := range 10 {
			sabir.Handle(s, fmt.Sprint("act", j), func(context.Context, order) (int, error) { return 10*i + j, nil })
		}
		many = append(many, s)
	}
	n := a.node("go", many, moleculer.Config{Expose: []string{"**"}})
	js.must(nil, "addMany", "node", services)
	js.must(nil, "wait", "go0", "go299")
	if err := n.WaitFor(t.Context(), "node0", "node299"); err != nil {
		t.Fatal(err)
	}
	if out, err := js.call("go299.act9", order{Item: "tea"}); err != nil || string(out.Result) != "2999" {
		t.Errorf("%s, %v", out.Result, err)
	}
	if out, err := sabir.Call[int](t.Context(), n, "node299.act9", map[string]int{"a": 1}); err != nil || out != 2999 {
		t.Errorf("%d, %v", out, err)
	}
}

func TestWhatIsOfferedMayBeTooLargeForTheBroker(t *testing.T) {
	a := newPlace(t)
	s := sabir.NewService("wordy")
	sabir.Handle(s, "hello", func(context.Context, any) (string, error) { return "", nil }, sabir.Doc(strings.Repeat("word ", 1<<18)))
	log := make(logLines, 100)
	n := sabir.NewNode(sabir.NodeID("go"), sabir.Logger(slog.New(slog.NewTextHandler(log, nil))), sabir.Serve(s),
		moleculer.Bridge(moleculer.Config{Address: a.broker.URL(), Namespace: a.namespace, Expose: []string{"**"}}))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer n.Stop(t.Context())
	for line := next(t, log); !strings.Contains(line, "the packet INFO has"); line = next(t, log) {
	}
}

// logLines has the lines of a log.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default:
	}
	return len(line), nil
}

// A node is there for its answers, where its heartbeats are off.
func TestNodesWithoutHeartbeatsStay(t *testing.T) {
	brokers.Slow(t)
	t.Parallel()
	a := newPlace(t)
	a.options["heartbeatInterval"] = 0
	a.peer("5", "js")
	n := a.node("go", nil, moleculer.Config{Heartbeat: time.Second, Timeout: time.Second})
	if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
		t.Fatal(err)
	}
	for begun := time.Now(); time.Since(begun) < 4*time.Second; time.Sleep(100 * time.Millisecond) {
		if len(n.Nodes()) != 2 {
			t.Fatalf("the node was forgotten after %v", time.Since(begun))
		}
	}
}

func TestAMoleculerNodeThatTakesTheIDOfThisOneEnds(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"orders.*"}})
	js.must(nil, "wait", "v3.orders")
	late := a.peer("5", "go")
	waitFor(t, "the end of the second", func() bool { return late.do(nil, "nodes") != nil })
	waitFor(t, "a call of the first", func() bool {
		out, err := js.call("v3.orders.echo", 1)
		return err == nil && string(out.Result) == "1"
	})
}

// moleculer-web leaves the stream of a form open whose client goes.
func TestAnUploadWhoseSenderGivesUpWithoutAWordEndsWithItsTimeLimit(t *testing.T) {
	a := newPlace(t)
	ended := make(chan error, 1)
	s := sabir.NewService("files")
	sabir.HandleStream(s, "put", func(_ context.Context, in *sabir.Stream[[]byte, int]) error {
		for _, err := range in.All() {
			if err != nil {
				ended <- err
				return err
			}
		}
		ended <- nil
		return in.Send(0)
	}, sabir.ClientStream())
	a.node("go", []sabir.Servable{s}, moleculer.Config{Expose: []string{"**"}})
	conn, err := natsgo.Connect(a.broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Publish("MOL-"+a.namespace+".REQ.go", []byte(`{"ver":"5","sender":"web","id":"1","action":"files.put","seq":0,"stream":true,"params":null,"meta":{},"headers":{},"level":1,"timeout":50}`)); err != nil {
		t.Fatal(err)
	}
	select {
	case err := <-ended:
		if !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Errorf("the handler got %v", err)
		}
	case <-time.After(waitLimit):
		t.Error("the handler still waits")
	}
}
