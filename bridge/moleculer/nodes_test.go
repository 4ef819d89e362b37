package moleculer_test

import (
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"strings"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/internal/brokers"
)

// whoami is the service of the Moleculer nodes in the tests, offered by a Sabir node.
func whoami(id string) *sabir.Service {
	s := sabir.NewService("js", sabir.Version(2))
	sabir.Handle(s, "whoami", func(context.Context, any) (string, error) { return id, nil })
	return s
}

// counts calls an action and returns which nodes answered how often.
func counts(t *testing.T, times int, call func() (string, error)) map[string]int {
	t.Helper()
	by := make(map[string]int)
	for range times {
		id, err := call()
		if err != nil {
			t.Fatal(err)
		}
		by[id]++
	}
	return by
}

func TestAServiceOfBothSidesSharesItsCalls(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js, other := a.peer("5", "js"), a.peer("4", "old")
	n := a.node("go", []sabir.Servable{whoami("go")}, moleculer.Config{Expose: []string{"**"}})
	reader := a.node("reader", nil, moleculer.Config{})
	for _, each := range []*sabir.Node{n, reader} {
		waitFor(t, "the nodes", func() bool { return len(each.Nodes()) == 4 && n.Action("js.whoami") != nil })
	}
	if by := counts(t, 30, func() (string, error) {
		return sabir.Call[string](t.Context(), reader, "js.whoami", sabir.Empty{})
	}); by["js"] != 10 || by["old"] != 10 || by["go"] != 10 {
		t.Errorf("answers came from %v", by)
	}
	_ = other
	if by := counts(t, 4, func() (string, error) { return sabir.Call[string](t.Context(), n, "js.whoami", sabir.Empty{}) }); by["go"] != 4 {
		t.Errorf("a node that offers an action itself calls %v", by)
	}

	// A process that was killed is noticed by the broker: its calls in flight end long before its heartbeats are missed.
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[string](t.Context(), reader, "js.sleep", map[string]int{"ms": 600_000}, sabir.ToNode("js"))
		failed <- err
	}()
	waitFor(t, "the call", func() bool {
		_, err := sabir.Call[string](t.Context(), reader, "js.whoami", sabir.Empty{}, sabir.ToNode("js"))
		return err == nil
	})
	if err := js.process.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
		t.Errorf("the call ended with %v", err)
	}
	if by := counts(t, 10, func() (string, error) {
		return sabir.Call[string](t.Context(), reader, "js.whoami", sabir.Empty{})
	}); by["js"] != 0 {
		t.Errorf("answers came from %v", by)
	}

	// It comes back under its id, and is used again.
	a.peer("5", "js")
	waitFor(t, "the node", func() bool {
		who, _ := sabir.Call[string](t.Context(), reader, "js.whoami", sabir.Empty{}, sabir.ToNode("js"))
		return who == "js"
	})
	// It leaves in order.
	other.must(nil, "stop")
	waitFor(t, "the goodbye", func() bool { return len(reader.Nodes()) == 3 })
}

func TestServicesComeAndGoOnBothSides(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	n := a.node("go", nil, moleculer.Config{Expose: []string{"**"}})
	js.must(nil, "add", "late")
	if err := n.WaitFor(t.Context(), "late"); err != nil {
		t.Fatal(err)
	}
	if text, err := sabir.Call[string](t.Context(), n, "late.hello", sabir.Empty{}); err != nil || text != "hello from late" {
		t.Error(text, err)
	}
	js.must(nil, "remove", "late")
	waitFor(t, "the removal", func() bool { return n.Action("late.hello") == nil })

	added := sabir.NewService("added")
	sabir.Handle(added, "hello", func(context.Context, any) (string, error) { return "hello from Go", nil })
	if err := n.Add(t.Context(), added); err != nil {
		t.Fatal(err)
	}
	js.must(nil, "wait", "added")
	if out, err := js.call("added.hello", nil); err != nil || string(out.Result) != `"hello from Go"` {
		t.Errorf("%s, %v", out.Result, err)
	}
	if err := n.Remove(t.Context(), added); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the removal", func() bool {
		_, err := js.call("added.hello", nil)
		return err != nil
	})
	if err := n.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	stopped := time.Now()
	waitFor(t, "the end of the node on the other side", func() bool {
		var list []string
		js.must(&list, "nodes")
		return len(list) == 1
	})
	if took := time.Since(stopped); took > 5*time.Second {
		t.Errorf("the other side forgot the node %v after its stop, by its silence", took)
	}
}

func TestNothingIsExposedThatIsNotNamed(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	a.node("go", []sabir.Servable{orders()}, moleculer.Config{})
	if _, err := js.call("v3.orders.echo", 1, map[string]any{"nodeID": "go"}); err == nil || !strings.Contains(err.Error(), "SERVICE_NOT_FOUND") {
		t.Errorf("the error is %v", err)
	}
}

func TestANodeWhoseIDIsTakenDoesNotStartAndHarmsNobody(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "taken")
	n := sabir.NewNode(sabir.NodeID("taken"), sabir.Logger(slog.New(slog.DiscardHandler)), moleculer.Bridge(moleculer.Config{Address: a.broker.URL(), Namespace: a.namespace}))
	if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), "a Moleculer node with the id taken is there already") {
		t.Errorf("the error is %v", err)
	}
	if _, err := js.call("v2.js.whoami", nil); err != nil {
		t.Error(err)
	}
}

func TestTheBridgeIsAnOptionOfJoinAtTheSameBroker(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	var nodes []*sabir.Node
	for _, id := range []string{"one", "two"} {
		n := sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(whoami(id)),
			sabir.Join(a.broker.URL(), moleculer.Bridge(moleculer.Config{Namespace: a.namespace, Expose: []string{"**"}})))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer n.Stop(t.Context())
		nodes = append(nodes, n)
	}
	// Nodes of the cluster are known by their links, though their bridges show them to each other too.
	waitFor(t, "the nodes", func() bool { return len(nodes[0].Nodes()) == 3 && len(nodes[1].Nodes()) == 3 })
	for _, one := range nodes[0].Nodes() {
		if (one.Framework != "") != (one.ID == "js") {
			t.Errorf("%s is of the framework %q", one.ID, one.Framework)
		}
	}
	waitFor(t, "both", func() bool {
		by := counts(t, 6, func() (string, error) {
			var who string
			out, err := js.call("v2.js.relay", map[string]any{"action": "v2.js.whoami"})
			if err == nil {
				who = string(out.Result)
			}
			return who, err
		})
		return by[`"js"`] == 6 // it prefers its own
	})
}

func TestForgedAndMalformedPacketsHarmNobody(t *testing.T) {
	brokers.Long(t)
	t.Parallel()
	a := newPlace(t)
	js := a.peer("5", "js")
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"orders.*"}})
	js.must(nil, "wait", "v3.orders")
	conn, err := natsgo.Connect(a.broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	head := `{"ver":"5","sender":"evil",`
	for _, topic := range []string{"INFO", "INFO.go", "DISCOVER", "HEARTBEAT", "PING", "PING.go", "PONG.go", "REQ.go", "RES.go", "EVENT.go"} {
		for _, text := range []string{"", "{", "null", "[]", `"x"`, "\x00\xff", strings.Repeat("[", 100_000), `{"ver":5,"sender":"evil"}`, `{"ver":"5"}`, `{"ver":"5","sender":"a b"}`, `{"ver":"5","sender":">"}`,
			head + `"services":7}`, head + `"services":[{"name":"x","actions":[1]}],"seq":1}`, head + `"services":[null,{"name":"$node"},{"name":"orders","version":3,"actions":{"v3.orders.echo":null}}],"instanceID":7}`,
			head + `"services":[{"name":"..","actions":{"..":{}}}],"instanceID":"i","seq":1e300}`, head + `"id":7}`, head + `"id":"1","action":7}`,
			head + `"id":"1","action":"v3.orders.echo","meta":7,"level":-5,"timeout":-1,"params":{"a":1}}`, head + `"id":"1","action":"v3.orders.echo","level":2000000000}`,
			head + `"id":"1","event":"..","data":{}}`, head + `"id":"1","success":false}`} {
			if err := conn.Publish("MOL-"+a.namespace+"."+topic, []byte(text)); err != nil {
				t.Fatal(err)
			}
		}
	}
	// An INFO in the node's own name, such as ends a Moleculer node's process.
	if err := conn.Publish("MOL-"+a.namespace+".INFO.go", []byte(`{"ver":"5","sender":"go","services":[],"instanceID":"other","seq":99}`)); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	if out, err := js.call("v3.orders.echo", 1); err != nil || string(out.Result) != "1" {
		t.Errorf("%s, %v", out.Result, err)
	}
	if sum, err := sabir.Call[int](t.Context(), n, "js.add", map[string]int{"a": 1, "b": 1}); err != nil || sum != 2 {
		t.Errorf("%d, %v", sum, err)
	}
}

// A node of Moleculer logs an error for each packet of another version than its own.
func TestHeartbeatsAreInTheVersionsOfTheNodesThatAreThere(t *testing.T) {
	t.Parallel()
	a := newPlace(t)
	conn, err := natsgo.Connect(a.broker.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	beats := make(chan string, 4096)
	topic := "MOL-" + a.namespace + "."
	if _, err := conn.Subscribe(topic+"HEARTBEAT", func(m *natsgo.Msg) {
		var packet struct {
			Version string `json:"ver"`
			Sender  string `json:"sender"`
		}
		if json.Unmarshal(m.Data, &packet) == nil && packet.Sender == "go" {
			beats <- packet.Version
		}
	}); err != nil {
		t.Fatal(err)
	}
	if err := conn.Flush(); err != nil {
		t.Fatal(err)
	}
	a.node("go", []sabir.Servable{orders()}, moleculer.Config{Heartbeat: 10 * time.Millisecond, Timeout: time.Minute})
	appear := func(version string) {
		t.Helper()
		if err := conn.Publish(topic+"INFO", []byte(`{"ver":"`+version+`","sender":"js`+version+`","services":[],"instanceID":"i","seq":1}`)); err != nil {
			t.Fatal(err)
		}
	}
	next := func() string {
		t.Helper()
		select {
		case version := <-beats:
			return version
		case <-time.After(waitLimit):
			t.Fatal("no heartbeat came")
			return ""
		}
	}
	appear("4")
	for range 10 {
		if version := next(); version != "4" {
			t.Fatalf("a heartbeat has the version %s, and the only node speaks 4", version)
		}
	}
	appear("5")
	for next() != "5" {
	}
}

func TestAfterTheBrokerWasRestartedBothSidesCallAgain(t *testing.T) {
	t.Parallel()
	broker := brokers.ForTest(t, brokers.NATS)
	a := &place{t: t, broker: broker, namespace: "restart", options: map[string]any{"transporter": broker.URL()}}
	js := a.peer("5", "js")
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"orders.*"}})
	js.must(nil, "wait", "v3.orders")
	failed := make(chan error, 1)
	go func() {
		_, err := sabir.Call[string](context.Background(), n, "js.sleep", map[string]int{"ms": 600_000})
		failed <- err
	}()
	waitFor(t, "a call", func() bool {
		_, err := sabir.Call[string](t.Context(), n, "js.whoami", sabir.Empty{})
		return err == nil
	})
	if err := a.broker.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := <-failed; !errors.Is(err, sabir.ErrLinkLost) && !errors.Is(err, sabir.ErrServiceUnavailable) { // the latter where it had not been sent yet
		t.Errorf("the call in flight ended with %v", err)
	}
	if err := a.broker.Restart(); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "a call to the other side", func() bool {
		ctx, cancel := context.WithTimeout(t.Context(), waitLimit/10)
		defer cancel()
		_, err := sabir.Call[string](ctx, n, "js.whoami", sabir.Empty{})
		return err == nil
	})
	waitFor(t, "a call from there", func() bool {
		_, err := js.call("v3.orders.echo", 1, map[string]any{"timeout": 2000})
		return err == nil
	})
}

// TestANodeSaysItsAddresses holds that Moleculer's own list of nodes, which its REPL shows, and that of the bridge have addresses of the node. Its list had "?".
func TestANodeSaysItsAddresses(t *testing.T) {
	versions(t, func(t *testing.T, a *place, js *peer) {
		a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"orders.*"}})
		js.must(nil, "wait", "v3.orders")
		for _, on := range []string{js.id, "go"} {
			var nodes []struct {
				ID     string   `json:"id"`
				IPList []string `json:"ipList"`
			}
			answer, err := js.call("$node.list", map[string]any{}, map[string]any{"nodeID": on})
			if err = errors.Join(err, json.Unmarshal(answer.Result, &nodes)); err != nil {
				t.Fatal(err)
			}
			found := false
			for _, n := range nodes {
				found = found || n.ID == "go" && len(n.IPList) > 0
			}
			if !found {
				t.Errorf("the list on %s is %+v", on, nodes)
			}
		}
	})
}
