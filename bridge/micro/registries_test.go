package micro_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/bridge/micro/nats"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/gomicro"
)

// registries runs a test with each registry beside mDNS, of which every test has a server of its own.
func registries(t *testing.T, test func(t *testing.T, server *brokers.Server, argument string, registry func() micro.Registry)) {
	for _, c := range []struct {
		kind     brokers.Kind
		name     string
		registry func(*brokers.Server) micro.Registry
	}{
		{brokers.Etcd, "etcd", func(s *brokers.Server) micro.Registry {
			return &micro.Etcd{URLs: []string{"http://127.0.0.1:1", s.URL()}, TTL: 3 * time.Second} // the first never answers
		}},
		{brokers.NATS, "nats", func(s *brokers.Server) micro.Registry {
			return &nats.Registry{Address: s.URL(), Interval: time.Second}
		}},
		{brokers.Consul, "consul", func(s *brokers.Server) micro.Registry {
			return &micro.Consul{Agent: s.URL(), TTL: 3 * time.Second, Interval: time.Second}
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := brokers.ForTest(t, c.kind)
			test(t, server, "-registry="+c.name+"="+server.Addr(), func() micro.Registry { return c.registry(server) })
		})
	}
}

// placer is a service of the Go side that takes orders.
func placer(name string) *sabir.Service {
	s := sabir.NewService(name)
	sabir.Handle(s, "place", func(_ context.Context, in place) (placed, error) { return placed{"an order of " + in.Item}, nil })
	return s
}

func TestBothSidesFindEachOtherInARegistry(t *testing.T) {
	registries(t, func(t *testing.T, _ *brokers.Server, argument string, registry func() micro.Registry) {
		before := startPeer(t, "v5", argument, "-broker=http", "-subscribe=order.placed")
		events := make(chan got, 10_000)
		n := node(t, []sabir.Servable{placer("shop"), listener("audit", events, "order.paid")},
			micro.Config{Registries: []micro.Registry{registry()}, Listen: ":0", Expose: []string{"shop.*", "audit.*"}, Publish: []string{"order.placed"}})
		if err := n.WaitFor(t.Context(), "lab"); err != nil {
			t.Fatal(err)
		}
		out, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{A: 2, B: 3})
		if err != nil || out.Sum != 5 {
			t.Errorf("the sum is %+v, %v", out, err)
		}
		after := startPeer(t, "v5", argument, "-broker=http", "-serve=false")
		for _, p := range []*peer{before, after} {
			var a answer
			waitFor(t, "the shop for a client of go-micro", func() bool {
				a = p.call(order{Service: "shop", Endpoint: "Shop.Place", In: json.RawMessage(`{"item":"tea"}`)})
				return a.Error == ""
			})
			if string(a.Out) != `{"text":"an order of tea"}` {
				t.Errorf("a client of go-micro got %s", a.Out)
			}
		}
		waitFor(t, "an event of go-micro", func() bool { // the subscription is entered after the shop
			if a := after.call(order{Topic: "order.paid", In: json.RawMessage(`{"a":1}`)}); a.Error != "" {
				t.Log(a.Error)
			}
			return len(events) > 0
		})
		if one := next(t, "the event", events); one.in.A != 1 {
			t.Errorf("a handler got %+v", one)
		}
		waitFor(t, "the subscriber", func() bool { return len(n.Nodes()) == 3 })
		if err := sabir.Emit(t.Context(), n, "order.placed", labIn{A: 7}); err != nil {
			t.Error(err)
		}
		if one := next(t, "the event", before.events); !strings.Contains(string(one.In), `"a":7`) {
			t.Errorf("a subscriber of go-micro got %s", one.In)
		}
	})
}

func TestARegistryForgetsWhoHasGone(t *testing.T) {
	registries(t, func(t *testing.T, _ *brokers.Server, argument string, registry func() micro.Registry) {
		lab := startPeer(t, "v5", argument, "-ttl=3s")
		n := node(t, nil, micro.Config{Registries: []micro.Registry{registry()}})
		if err := n.WaitFor(t.Context(), "lab"); err != nil {
			t.Fatal(err)
		}
		shop := sabir.NewNode(sabir.NodeID("shop"), sabir.Serve(placer("shop")), micro.Bridge(micro.Config{Registries: []micro.Registry{registry()}, Listen: ":0", Expose: []string{"**"}}))
		if err := shop.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, shop) })
		ask := order{Service: "shop", Endpoint: "Shop.Place", In: json.RawMessage(`{"item":"tea"}`)}
		waitFor(t, "the shop", func() bool { return lab.call(ask).Error == "" })
		stop(t, shop)
		waitFor(t, "a client of go-micro that finds no shop", func() bool { // an agent of Consul tells its catalog a moment later
			fresh := startPeer(t, "v5", argument, "-serve=false") // without a cache of the registry
			a := fresh.call(ask)
			if a.Error == "" {
				t.Fatalf("the shop that was stopped answered %s", a.Out)
			}
			return strings.Contains(a.Error, "not found") || strings.Contains(a.Error, "none available")
		})
		lab.process.Process.Kill()
		waitFor(t, "the end of the killed process", func() bool { return len(n.Nodes()) == 1 })
	})
}

// shopProcess names the variable with the registry of a process that is a node of Sabir: its kind and its address.
const shopProcess = "SABIR_TEST_SHOP"

// TestTheProcessOfAShop runs only where another test starts this program with that variable, and ends with its input.
func TestTheProcessOfAShop(t *testing.T) {
	kind, at, there := strings.Cut(os.Getenv(shopProcess), "=")
	if !there {
		t.Skip("a part of TestARegistryForgetsANodeOfSabirThatWasKilled")
	}
	registry := map[string]micro.Registry{"etcd": &micro.Etcd{URLs: []string{at}, TTL: 3 * time.Second}, "nats": &nats.Registry{Address: at},
		"consul": &micro.Consul{Agent: at, TTL: 3 * time.Second}}[kind]
	node(t, []sabir.Servable{placer("shop")}, micro.Config{Registries: []micro.Registry{registry}, Listen: ":0", Expose: []string{"**"}})
	io.Copy(io.Discard, os.Stdin)
}

func TestARegistryForgetsANodeOfSabirThatWasKilled(t *testing.T) {
	brokers.Slow(t)
	registries(t, func(t *testing.T, server *brokers.Server, argument string, _ func() micro.Registry) {
		shop := exec.Command(os.Args[0], "-test.run=^TestTheProcessOfAShop$")
		shop.Env = append(os.Environ(), shopProcess+"="+strings.Split(argument, "=")[1]+"="+server.URL())
		in, err := shop.StdinPipe()
		if err != nil {
			t.Fatal(err)
		}
		defer in.Close()
		if err := shop.Start(); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() {
			shop.Process.Kill()
			shop.Wait()
		})
		ask := order{Service: "shop", Endpoint: "Shop.Place", In: json.RawMessage(`{"item":"tea"}`)}
		lab := startPeer(t, "v5", argument, "-serve=false")
		waitFor(t, "the shop", func() bool { return lab.call(ask).Error == "" })
		shop.Process.Kill()
		waitFor(t, "a client of go-micro that finds no shop", func() bool {
			a := startPeer(t, "v5", argument, "-serve=false").call(ask) // without a cache of the registry
			if a.Error == "" {
				t.Fatalf("the shop that was killed answered %s", a.Out)
			}
			return strings.Contains(a.Error, "not found") || strings.Contains(a.Error, "none available")
		})
	})
}

func TestAfterTheRegistryWasRestartedAllFindEachOther(t *testing.T) {
	registries(t, func(t *testing.T, server *brokers.Server, argument string, registry func() micro.Registry) {
		node(t, []sabir.Servable{placer("shop")}, micro.Config{Registries: []micro.Registry{registry()}, Listen: ":0", Expose: []string{"**"}})
		ask := order{Service: "shop", Endpoint: "Shop.Place", In: json.RawMessage(`{"item":"tea"}`)}
		first := startPeer(t, "v5", argument, "-serve=false")
		waitFor(t, "the shop", func() bool { return first.call(ask).Error == "" })
		server.Kill()
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		second := startPeer(t, "v5", argument, "-ttl=3s")
		waitFor(t, "the shop after the restart", func() bool { return second.call(ask).Error == "" })
		n := sabir.NewNode(sabir.NodeID("n"), micro.Bridge(micro.Config{Registries: []micro.Registry{registry()}}))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, n) })
		if err := n.WaitFor(t.Context(), "lab"); err != nil {
			t.Error(err)
		}
	})
}

func TestARegistryThatIsNotThereYetIsFoundLater(t *testing.T) {
	registries(t, func(t *testing.T, server *brokers.Server, argument string, registry func() micro.Registry) {
		server.Kill()
		n := node(t, nil, micro.Config{Registries: []micro.Registry{registry()}})
		if err := server.Restart(); err != nil {
			t.Fatal(err)
		}
		startPeer(t, "v5", argument)
		if err := n.WaitFor(t.Context(), "lab"); err != nil {
			t.Error(err)
		}
	})
}

func TestCallsGoToTheNodesThatAreSelected(t *testing.T) {
	server := brokers.ForTest(t, brokers.Etcd)
	registry := "-registry=etcd=" + server.Addr()
	startPeer(t, "v5", registry, "-version=1.0.0", "-region=us")
	startPeer(t, "v5", registry, "-version=2.0.0", "-region=us")
	chosen := startPeer(t, "v5", registry, "-version=2.0.0", "-region=eu")
	at := func() micro.Registry { return &micro.Etcd{URLs: []string{server.URL()}} }
	all := node(t, nil, micro.Config{Registries: []micro.Registry{at()}})
	some := sabir.NewNode(sabir.NodeID("some"), micro.Bridge(micro.Config{Registries: []micro.Registry{at()}, Services: map[string]micro.Service{"lab": {Version: "2.0.0", Labels: map[string]string{"region": "eu"}}}}))
	if err := some.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, some) })
	waitFor(t, "all nodes", func() bool { return len(all.Nodes()) == 4 })
	if nodes := some.Nodes(); len(nodes) != 2 || nodes[1].Host != chosen.address {
		t.Errorf("the nodes that were selected are %+v, want %s", nodes, chosen.address)
	}
}

func TestClientsOfGoMicroSelectByVersionAndLabel(t *testing.T) {
	server := brokers.ForTest(t, brokers.Etcd)
	node(t, []sabir.Servable{placer("shop")}, micro.Config{Registries: []micro.Registry{&micro.Etcd{URLs: []string{server.URL()}}}, Listen: ":0", Expose: []string{"**"},
		Version: "3.1.0", Labels: map[string]string{"region": "eu"}})
	client := startPeer(t, "v5", "-registry=etcd="+server.Addr(), "-serve=false")
	place := order{Service: "shop", Endpoint: "Shop.Place", In: json.RawMessage(`{"item":"tea"}`)}
	waitFor(t, "the service in the registry", func() bool { return client.call(place).Error == "" })
	for _, c := range []struct {
		version, region string
		found           bool
	}{{"3.1.0", "", true}, {"", "eu", true}, {"3.1.0", "eu", true}, {"3.0.0", "", false}, {"", "us", false}} {
		place.Version, place.Region = c.version, c.region
		a := client.call(place)
		if (a.Error == "") != c.found {
			t.Errorf("version %q and region %q: %s %s", c.version, c.region, a.Out, a.Error)
		}
	}
}

func TestForgedRecordsInARegistryHarmNobody(t *testing.T) {
	server := brokers.ForTest(t, brokers.Etcd)
	put := func(key, value string) {
		t.Helper()
		text, _ := json.Marshal(map[string][]byte{"key": []byte("/micro/registry/" + key), "value": []byte(value)})
		answer, err := http.Post(server.URL()+"/v3/kv/put", "application/json", strings.NewReader(string(text)))
		if err != nil {
			t.Fatal(err)
		}
		answer.Body.Close()
		if answer.StatusCode != 200 {
			t.Fatal(answer.Status)
		}
	}
	record := func(name, id, address, more string) string {
		return fmt.Sprintf(`{"name":%q,"version":"latest","endpoints":[{"name":"Lab.Add"}],"nodes":[{"id":%q,"address":%q}]%s}`, name, id, address, more)
	}
	for i, value := range []string{
		"", "null", "[]", "no JSON", strings.Repeat("[", 20_000), `{"name":"lab","nodes":[null]}`, `{"name":"lab","nodes":[{}]}`, record("", "a", "127.0.0.1:80", ""),
		record("lab", "", "127.0.0.1:80", ""), record("lab", "b", "nowhere", ""), record("lab", "c", "127.0.0.1:0", ""), record("lab", "d\n", "127.0.0.1:80", ""),
		record("$node", "e", "127.0.0.1:80", ""), record("lab lab", "f", "127.0.0.1:80", ""), record("large", "g", "127.0.0.1:80", `,"metadata":{"x":"`+strings.Repeat("x", 1<<20)+`"}`),
		record("micro.http.broker", "h", "127.0.0.1:80", ""), `{"name":"micro.http.broker","version":"q","nodes":[{"id":"x","address":"127.0.0.1:80","metadata":{"broker":"http","topic":"a b"}}]}`,
		`{"name":"many","nodes":[` + strings.Repeat(`{"id":"i","address":"127.0.0.1:80"},`, 5000) + `{"id":"i","address":"127.0.0.1:80"}]}`,
	} {
		put(fmt.Sprint("forged/", i), value)
	}
	startPeer(t, "v5", "-registry=etcd="+server.Addr())
	n := node(t, nil, micro.Config{Registries: []micro.Registry{&micro.Etcd{URLs: []string{server.URL()}}}, Publish: []string{"**"}})
	if err := n.WaitFor(t.Context(), "lab"); err != nil {
		t.Fatal(err)
	}
	if out, err := sabir.Call[labOut](t.Context(), n, "lab.add", labIn{A: 2, B: 3}); err != nil || out.Sum != 5 {
		t.Errorf("the sum is %+v, %v", out, err)
	}
	for _, one := range n.Nodes() {
		if strings.ContainsAny(one.ID, "\n") || one.ID == "e" || one.ID == "f" {
			t.Errorf("the node %q is known", one.ID)
		}
	}
}

// listed is a registry that has always the same.
type listed []gomicro.Service

func (listed) Name() string { return "list" }

func (l listed) Run(ctx context.Context, s *gomicro.Session) {
	s.Found(l)
	<-ctx.Done()
}

func TestANodeOfAnotherTransportIsNotCalled(t *testing.T) {
	lab := sabir.NewService("lab")
	sabir.Handle(lab, "add", func(context.Context, sabir.Empty) (string, error) { return "", nil })
	_, at := serving(t, []sabir.Servable{lab}, micro.Config{Expose: []string{"lab.*"}})
	one := func(id, address, transport string) gomicro.Node {
		return gomicro.Node{ID: id, Address: address, Metadata: map[string]string{"protocol": "mucp", "server": "mucp", "transport": transport}}
	}
	endpoints := []gomicro.Endpoint{{Name: "Lab.Add"}}
	var log lines
	n := start(t, slog.NewJSONHandler(&log, nil), nil, micro.Config{Registries: []micro.Registry{listed{{Name: "lab", Version: "1", Endpoints: endpoints, Nodes: []gomicro.Node{one("a", at, "http"), one("b", at, "grpc"), one("c", at, "nats")}}}}})
	if err := n.WaitFor(t.Context(), "lab"); err != nil {
		t.Fatal(err)
	}
	for _, other := range n.Nodes() {
		if other.ID == "b" || other.ID == "c" {
			t.Errorf("the node %s is called", other.ID)
		}
	}
	if text := log.String(); !strings.Contains(text, "over go-micro's transport") {
		t.Errorf("the log does not say it: %s", text)
	}
}
