package dubbo_test

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"log"
	"maps"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/go-zookeeper/zk"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/bridge/dubbo/nacos"
	"github.com/sabir-go/sabir/bridge/dubbo/zookeeper"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
)

// What programs of Java need beside jars to use registries.
func init() {
	maps.Copy(jars, brokers.DubboZooKeeperJars)
	maps.Copy(jars, brokers.DubboNacosJars)
}

// at is the server as a registry.
func at(server *brokers.Server) []dubbo.Registry {
	if server.Kind() == brokers.Nacos {
		return []dubbo.Registry{&nacos.Registry{Servers: []string{server.Addr()}, User: "nacos", Password: secret.New(nacosPassword)}}
	}
	return []dubbo.Registry{&zookeeper.Registry{Servers: []string{server.Addr()}, SessionTimeout: 4 * time.Second}}
}

// ordersOf is a service whose answers name it.
func ordersOf(name string) *sabir.Service {
	s := sabir.NewService("orders")
	sabir.Handle(s, "ping", func(context.Context, sabir.Empty) (string, error) { return "pong of " + name, nil })
	sabir.Handle(s, "place", func(_ context.Context, in order) (*order, error) {
		in.Amount++
		return &in, nil
	})
	return s
}

// registered starts a node that offers OrderService by a registry.
func registered(t *testing.T, server *brokers.Server, name string, c dubbo.Config) *sabir.Node {
	t.Helper()
	return registeredAt(t, server, name, freeAddress(t), c)
}

// registeredForJava starts one at an address that programs of Java have too.
func registeredForJava(t *testing.T, server *brokers.Server, name string) *sabir.Node {
	t.Helper()
	address := freeAddress(t)
	return registeredAt(t, server, name, address, dubbo.Config{Advertise: asJava(address)})
}

func registeredAt(t *testing.T, server *brokers.Server, name, address string, c dubbo.Config) *sabir.Node {
	t.Helper()
	c.Registries, c.Application = at(server), "go-shop"
	served := map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}
	maps.Copy(served, c.Serve)
	c.Serve = served
	return startAs(t, name, sabir.Serve(ordersOf(name)), dubbo.Bridge(c))
}

// javaProvider starts one of Java, which answers pings with its port.
func javaProvider(t *testing.T, server *brokers.Server, application, mode, metadata string, parameters ...string) (p *process, port string) {
	t.Helper()
	_, port, err := net.SplitHostPort(freeAddress(t))
	if err != nil {
		t.Fatal(err)
	}
	return run(t, "RegisteredProvider", append([]string{forJava(server), application, port, mode, metadata}, parameters...)...), port
}

func (p *process) ask(t *testing.T, what string) string {
	t.Helper()
	if _, err := fmt.Fprintln(p.in, what); err != nil {
		t.Fatal(err)
	}
	return p.until(what)[what]
}

func TestJavaConsumersFindANodeByZooKeeper(t *testing.T) {
	brokers.Slow(t)
	for _, scheme := range []string{"dubbo", "tri"} {
		t.Run(scheme, func(t *testing.T) {
			if scheme == "tri" {
				brokers.Nightly(t)
			}
			server := brokers.ForTest(t, brokers.ZooKeeper)
			address := freeAddress(t)
			startAs(t, "go-1", sabir.Serve(ordersOf("go-1")), dubbo.Bridge(dubbo.Config{Registries: at(server), Application: "go-shop", Advertise: asJava(address),
				Serve: map[string][]dubbo.Interface{scheme + "://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
			consumers := make(map[string]*process)
			for _, migration := range []string{"FORCE_INTERFACE", "FORCE_APPLICATION", "APPLICATION_FIRST"} {
				consumers[migration] = run(t, "RegisteredConsumer", forJava(server), migration)
			}
			for migration, consumer := range consumers {
				consumer.until("ready")
				if got := consumer.ask(t, "ping"); got != "pong of go-1" {
					t.Errorf("%s: ping is %q", migration, got)
				}
				if got := consumer.ask(t, "place"); got != "a x3 1.5 null" {
					t.Errorf("%s: place is %q", migration, got)
				}
			}
		})
	}
}

func TestANodeFindsJavaProvidersByZooKeeper(t *testing.T) {
	brokers.Slow(t)
	// By day each mode, each place of metadata and each protocol once: each provider is a program of Java.
	t.Run("of each kind", func(t *testing.T) {
		findsJavaProviders(t, [][3]string{{"all", "local", "dubbo"}, {"interface", "local", "tri"}, {"instance", "remote", "tri"}})
	})
	t.Run("in all combinations", func(t *testing.T) {
		brokers.Nightly(t)
		findsJavaProviders(t, [][3]string{{"interface", "local", "dubbo"}, {"instance", "local", "dubbo"}, {"instance", "remote", "dubbo"}, {"all", "local", "dubbo"},
			{"interface", "local", "tri"}, {"instance", "local", "tri"}, {"instance", "remote", "tri"}})
	})
}

func findsJavaProviders(t *testing.T, kinds [][3]string) {
	server := brokers.ForTest(t, brokers.ZooKeeper)
	want := make(map[string]bool)
	var all []*process
	for _, one := range kinds {
		p, port := javaProvider(t, server, "shop-"+strings.Join(one[:], "-"), one[0], one[1], "protocol="+one[2])
		all, want["pong of "+port] = append(all, p), true
	}
	for _, p := range all {
		p.until("ready")
	}
	node := discovering(t, server, dubbo.Config{})
	seen := make(map[string]bool)
	eventually(t, "calls of all providers", func() bool {
		answer, err := sabir.Call[string](t.Context(), node, "orders.ping", sabir.Empty{})
		if err != nil || !want[answer] {
			t.Fatalf("ping is %q, %v", answer, err)
		}
		seen[answer] = true
		return len(seen) == len(want)
	})
}

func TestANodeFindsProvidersOfTripleAndOfBothProtocolsAtOnePort(t *testing.T) {
	brokers.Long(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	both, triple := freeAddress(t), freeAddress(t)
	table := func() dubbo.Interface {
		return dubbo.Interface{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}
	}
	registeredAt(t, server, "both", both, dubbo.Config{Serve: map[string][]dubbo.Interface{"tri://" + both: {table()}}})
	startAs(t, "triple", sabir.Serve(ordersOf("triple")), dubbo.Bridge(dubbo.Config{Registries: at(server), Application: "tri-shop", Serve: map[string][]dubbo.Interface{"tri://" + triple: {table()}}}))
	c := zooKeeper(t, server)
	eventually(t, "the entries", func() bool {
		return len(entered(c, "/dubbo/com.shop.OrderService/providers")) == 3 && len(entered(c, "/services/tri-shop")) == 1
	})
	node := discovering(t, server, dubbo.Config{})
	seen := make(map[string]bool)
	eventually(t, "calls of both", func() bool {
		answer, err := sabir.Call[string](t.Context(), node, "orders.ping", sabir.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		seen[answer] = true
		return seen["pong of both"] && seen["pong of triple"]
	})
	var names []string
	for _, n := range node.Nodes() {
		if strings.HasPrefix(n.Framework, "dubbo") {
			names = append(names, n.ID)
		}
	}
	slices.Sort(names)
	if want := []string{"dubbo://" + both, "tri://" + triple}; !slices.Equal(names, want) {
		t.Errorf("the providers are %q, want %q", names, want)
	}
}

func TestCallsOfAnInterfaceWithStreamsGoOverBothProtocols(t *testing.T) {
	brokers.Long(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	overDubbo, dubboPort := javaProvider(t, server, "floor-dubbo", "interface", "local", "floor=yes")
	overTriple, triplePort := javaProvider(t, server, "floor-tri", "interface", "local", "floor=yes", "protocol=tri")
	overDubbo.until("ready")
	overTriple.until("ready")
	node := startAs(t, "caller", dubbo.Bridge(dubbo.Config{Registries: at(server), Discover: []dubbo.Interface{{Name: "com.shop.FloorService", Service: "floor",
		Methods: []dubbo.Method{{Name: "who", Parameters: []string{}}, {Name: "watch", ServerStream: true, Parameters: []string{"int"}}}}}}))
	seen := make(map[string]bool)
	eventually(t, "calls of both", func() bool {
		answer, err := sabir.Call[string](t.Context(), node, "floor.who", sabir.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		seen[answer] = true
		return seen[dubboPort] && seen[triplePort]
	})
	for range 10 {
		var got []string
		for one, err := range sabir.CallStream[string](t.Context(), node, "floor.watch", int32(2)) {
			if err != nil {
				t.Fatal(err)
			}
			got = append(got, one)
		}
		if !slices.Equal(got, []string{triplePort, triplePort}) {
			t.Errorf("the stream is %q, want those of %s", got, triplePort)
		}
	}
}

// discovering starts a node that calls OrderService by a registry.
func discovering(t *testing.T, server *brokers.Server, c dubbo.Config) *sabir.Node {
	t.Helper()
	c.Registries = at(server)
	c.Discover = []dubbo.Interface{{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0", Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}, {Name: "slow", Parameters: []string{"int"}}}}}
	return startAs(t, "caller", dubbo.Bridge(c))
}

// eventually calls is until it is true.
func eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for late := time.Now().Add(waitLimit); !is(); {
		if time.Now().After(late) {
			t.Fatalf("%s did not come", what)
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// zooKeeper is a client of its own at the server.
func zooKeeper(t *testing.T, server *brokers.Server) *zk.Conn {
	t.Helper()
	c, events, err := zk.Connect([]string{server.Addr()}, 5*time.Second, zk.WithLogInfo(false), zk.WithLogger(log.New(io.Discard, "", 0)))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		c.Close()
		for range events {
		}
	})
	return c
}

// entered are the names below a path, decoded; none where that is not there.
func entered(c *zk.Conn, path string) (names []string) {
	children, _, err := c.Children(path)
	if err != nil {
		return nil
	}
	for _, child := range children {
		text, err := url.QueryUnescape(child)
		if err != nil {
			text = child
		}
		names = append(names, text)
	}
	return names
}

func TestAConsumerLosesNoCallWhileANodeStops(t *testing.T) {
	brokers.Slow(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	c := zooKeeper(t, server)
	first, second := registeredForJava(t, server, "go-1"), registeredForJava(t, server, "go-2")
	eventually(t, "both nodes", func() bool { return len(entered(c, "/dubbo/com.shop.OrderService/providers")) == 2 })
	for _, migration := range []string{"FORCE_INTERFACE", "FORCE_APPLICATION"} {
		consumer := run(t, "RegisteredConsumer", forJava(server), migration)
		consumer.until("ready")
		seen := make(map[string]bool)
		eventually(t, "calls of both nodes", func() bool {
			seen[consumer.ask(t, "ping")] = true
			return len(seen) == 2
		})
		if !seen["pong of go-1"] || !seen["pong of go-2"] {
			t.Fatalf("%s: the answers are %v", migration, seen)
		}
		stopped := make(chan struct{})
		go func() {
			defer close(stopped)
			stop(t, first)
			// What was entered had gone before the stop was over.
			if urls := entered(c, "/dubbo/com.shop.OrderService/providers"); len(urls) != 1 {
				t.Errorf("after the stop there are %v", urls)
			}
			if instances := entered(c, "/services/go-shop"); len(instances) != 1 {
				t.Errorf("after the stop there are the instances %v", instances)
			}
		}()
		calls := 0
		for done := false; !done; calls++ {
			select {
			case <-stopped:
				done = true
			default:
			}
			if got := consumer.ask(t, "ping"); !strings.HasPrefix(got, "pong of go-") {
				t.Fatalf("%s: call %d while a node stops: %s", migration, calls, got)
			}
		}
		if got := consumer.ask(t, "ping"); got != "pong of go-2" {
			t.Errorf("%s: after the stop ping is %q", migration, got)
		}
		t.Logf("%s: %d calls", migration, calls)
		first = registeredForJava(t, server, "go-1")
		eventually(t, "both nodes", func() bool { return len(entered(c, "/dubbo/com.shop.OrderService/providers")) == 2 })
	}
	_ = second
}

func TestWhatIsEnteredIsEnteredAnewAfterTheSessionExpiredAndTheServerWasLost(t *testing.T) {
	brokers.Slow(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	c := zooKeeper(t, server)
	between := brokers.NewForwarder(t, server.Addr())
	address := freeAddress(t)
	startAs(t, "go", sabir.Serve(ordersOf("go")), dubbo.Bridge(dubbo.Config{Registries: []dubbo.Registry{&zookeeper.Registry{Servers: []string{between.Addr()}, SessionTimeout: 2 * time.Second}}, Application: "go-shop",
		Serve: map[string][]dubbo.Interface{"dubbo://" + address: {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0", Group: "eu"}}}}))
	there := func(n int) func() bool {
		return func() bool {
			return len(entered(c, "/dubbo/com.shop.OrderService/providers")) == n && len(entered(c, "/services/go-shop")) == n
		}
	}
	eventually(t, "the entries", there(1))
	if urls := entered(c, "/dubbo/com.shop.OrderService/providers"); !strings.HasPrefix(urls[0], "dubbo://"+address+"/com.shop.OrderService?") || !strings.Contains(urls[0], "&methods=ping%2Cplace&") || !strings.Contains(urls[0], "&group=eu&") {
		t.Errorf("what is entered is %s", urls[0])
	}

	// Cut off from ZooKeeper, the session expires.
	between.Point("127.0.0.1:1")
	between.Cut()
	eventually(t, "the end of the session", there(0))
	between.Point(server.Addr())
	eventually(t, "the entries of the next session", there(1))

	// Killed and started again, ZooKeeper still knows the session.
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "the entries after a restart", there(1))

	// What another removed by force stays away for the session, and a ZooKeeper without data gets it in the next one.
	between.Point("127.0.0.1:1")
	between.Cut()
	eventually(t, "the end of the session", there(0))
	for _, path := range []string{"/dubbo/mapping/com.shop.OrderService", "/dubbo/com.shop.OrderService/providers", "/services/go-shop"} {
		if err := c.Delete(path, -1); err != nil {
			t.Fatal(err)
		}
	}
	between.Point(server.Addr())
	eventually(t, "the entries in an empty ZooKeeper", there(1))
	if data, _, err := c.Get("/dubbo/mapping/com.shop.OrderService"); string(data) != "go-shop" || err != nil {
		t.Errorf("the mapping is %q, %v", data, err)
	}
}

func TestProvidersComeAndGoAndAreKilled(t *testing.T) {
	brokers.Nightly(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	node := discovering(t, server, dubbo.Config{})
	ping := func() (string, error) { return sabir.Call[string](t.Context(), node, "orders.ping", sabir.Empty{}) }
	if answer, err := ping(); err == nil {
		t.Errorf("without a provider the answer is %q", answer)
	}
	first, port1 := javaProvider(t, server, "shop-1", "all", "local")
	second, port2 := javaProvider(t, server, "shop-2", "all", "local")
	first.until("ready")
	second.until("ready")
	both := func() {
		t.Helper()
		seen := make(map[string]bool)
		eventually(t, "calls of both providers", func() bool {
			answer, err := ping()
			seen[answer] = err == nil
			return seen["pong of "+port1] && seen["pong of "+port2]
		})
	}
	both()

	// ZooKeeper that is lost changes nothing, and is found again.
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if _, err := ping(); err != nil {
			t.Fatalf("without ZooKeeper: %v", err)
		}
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}

	// A provider that is killed gets no more calls at once, though ZooKeeper still has it.
	if err := second.command.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	failed := 0
	for range 1000 {
		if answer, err := ping(); err != nil {
			failed++
		} else if answer != "pong of "+port1 && answer != "pong of "+port2 {
			t.Fatalf("the answer is %q", answer)
		}
	}
	if failed > 1 { // the one that was on its way
		t.Errorf("%d of 1000 calls failed", failed)
	}

	// One that stops is left before it has ended: no call fails.
	third, port3 := javaProvider(t, server, "shop-3", "all", "local")
	third.until("ready")
	port2 = port3
	both()
	first.in.Close()
	for ended := false; !ended; {
		select {
		case line, more := <-first.lines:
			ended = !more || line == "stopped"
		default:
			if _, err := ping(); err != nil {
				t.Fatalf("while a provider stops: %v", err)
			}
		}
	}
	if answer, err := ping(); answer != "pong of "+port3 || err != nil {
		t.Errorf("after the stop the answer is %q, %v", answer, err)
	}
}

func TestTagsWeightsAndDisabledProvidersAreHeeded(t *testing.T) {
	brokers.Long(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	registered(t, server, "plain", dubbo.Config{Parameters: map[string]string{"weight": "50", "timeout": "70"}})
	registered(t, server, "gray", dubbo.Config{Parameters: map[string]string{"dubbo.tag": "gray"}})
	registered(t, server, "spare", dubbo.Config{Parameters: map[string]string{"weight": "0"}})
	registered(t, server, "off", dubbo.Config{Parameters: map[string]string{"disabled": "true"}})
	registered(t, server, "off too", dubbo.Config{Parameters: map[string]string{"enabled": "false"}})
	c := zooKeeper(t, server)
	eventually(t, "all entries", func() bool { return len(entered(c, "/dubbo/com.shop.OrderService/providers")) == 5 })
	for tag, want := range map[string]string{"": "pong of plain", "gray": "pong of gray", "blue": "pong of plain"} {
		node := discovering(t, server, dubbo.Config{Tag: tag})
		for range 50 {
			if answer, err := sabir.Call[string](t.Context(), node, "orders.ping", sabir.Empty{}); answer != want || err != nil {
				t.Errorf("with the tag %q ping is %q, %v, want %q", tag, answer, err, want)
				break
			}
		}
		stop(t, node)
	}
	node := discovering(t, server, dubbo.Config{})
	var labels []map[string]string
	for _, n := range node.Nodes() {
		if n.Framework == "dubbo" {
			labels = append(labels, n.Labels)
		}
	}
	if len(labels) != 2 || labels[0]["weight"] != "50" && labels[1]["weight"] != "50" || labels[0]["application"] != "go-shop" {
		t.Errorf("the labels of providers are %v", labels)
	}
}

// A provider with token="true" refuses calls without what the registry says of it.
func TestCallsBringTheTokenOfTheirProvider(t *testing.T) {
	brokers.Long(t)
	server, got := brokers.ForTest(t, brokers.ZooKeeper), make(chan string, 1)
	frames, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer frames.Close()
	go func() {
		c, err := frames.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		head := make([]byte, 16)
		if _, err := io.ReadFull(c, head); err == nil {
			body := make([]byte, binary.BigEndian.Uint32(head[12:]))
			_, _ = io.ReadFull(c, body)
			_, token, _ := strings.Cut(string(body), "\x05token\x06")
			got <- token[:min(len(token), 6)]
		}
	}()
	messages := httptest.NewUnstartedServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		got <- r.Header.Get("Token")
		w.WriteHeader(http.StatusForbidden)
	}))
	messages.Config.Protocols = new(http.Protocols)
	messages.Config.Protocols.SetUnencryptedHTTP2(true)
	messages.Start()
	defer messages.Close()
	c := zooKeeper(t, server)
	for scheme, address := range map[string]string{"dubbo": frames.Addr().String(), "tri": messages.Listener.Addr().String()} {
		provider := url.QueryEscape(scheme + "://" + address + "/com.shop." + scheme + "?token=secret")
		path := ""
		for _, part := range []string{"dubbo", "com.shop." + scheme, "providers", provider} {
			path += "/" + part
			if _, err := c.Create(path, nil, 0, zk.WorldACL(zk.PermAll)); err != nil && !errors.Is(err, zk.ErrNodeExists) {
				t.Fatal(err)
			}
		}
		node := startAs(t, "caller", dubbo.Bridge(dubbo.Config{Registries: at(server), Discover: []dubbo.Interface{{Name: "com.shop." + scheme, Service: "orders", Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}}}}}))
		_, _ = sabir.Call[string](t.Context(), node, "orders.ping", sabir.Empty{})
		if token := <-got; token != "secret" {
			t.Errorf("over %s the token is %q", scheme, token)
		}
		stop(t, node)
	}
}

func TestForgedEntriesHarmNobody(t *testing.T) {
	brokers.Long(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	registered(t, server, "go", dubbo.Config{})
	c := zooKeeper(t, server)
	eventually(t, "the entry", func() bool { return len(entered(c, "/services/go-shop")) == 1 })
	for _, text := range []string{"%zz", "dubbo://", "dubbo://:1/com.shop.OrderService?version=1.0.0", "dubbo://10.0.0.1:99999/com.shop.OrderService", "dubbo://0.0.0.0:1/com.shop.OrderService?version=1.0.0",
		"empty://10.0.0.1/com.shop.OrderService", "override://10.0.0.1:1/com.shop.OrderService", "dubbo://[::1/x", "dubbo://10.0.0.1:20880/other.Service?interface=other.Service", strings.Repeat("x", 100_000), "\xff\xfe"} {
		name := text
		if text != "%zz" {
			name = url.QueryEscape(text)
		}
		if _, err := c.Create("/dubbo/com.shop.OrderService/providers/"+name, []byte{0xff}, zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatalf("%.50s: %v", text, err)
		}
	}
	for i, data := range []string{"", "{", "null", "[]", `{"address":"x"}`, `{"address":"127.0.0.1","port":-1}`, `{"address":"127.0.0.1","port":1}`,
		`{"address":"127.0.0.1","port":1,"payload":{"metadata":{"dubbo.metadata.revision":"r","dubbo.metadata.storage-type":"remote"}}}`,
		`{"address":"127.0.0.1","port":1,"payload":{"metadata":{"dubbo.metadata.revision":"../../x","dubbo.metadata.storage-type":"remote"}}}`,
		`{"address":"127.0.0.1","port":1,"payload":{"metadata":{"dubbo.metadata.revision":"s","dubbo.metadata-service.url-params":"{"}}}`,
		`{"address":"127.0.0.1","port":1,"payload":{"metadata":{"dubbo.metadata.revision":"t","dubbo.metadata-service.url-params":"{\"port\":\"1\",\"protocol\":\"dubbo\"}"}}}`} {
		if _, err := c.Create(fmt.Sprintf("/services/go-shop/forged-%d", i), []byte(data), zk.FlagEphemeral, zk.WorldACL(zk.PermAll)); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := c.Set("/dubbo/mapping/com.shop.OrderService", []byte(",,go-shop, a/b ,\x00,nothing,"+strings.Repeat("x,", 1000)), -1); err != nil {
		t.Fatal(err)
	}
	node := discovering(t, server, dubbo.Config{})
	for range 100 {
		if answer, err := sabir.Call[string](t.Context(), node, "orders.ping", sabir.Empty{}); answer != "pong of go" || err != nil {
			t.Fatalf("ping is %q, %v", answer, err)
		}
	}
	if got := foreigners(node); got != 1 {
		t.Errorf("%d providers are known, want 1", got)
	}
}

func TestAFloodOfProvidersIsBounded(t *testing.T) {
	brokers.Slow(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	registered(t, server, "go", dubbo.Config{})
	c := zooKeeper(t, server)
	eventually(t, "the entry", func() bool { return len(entered(c, "/services/go-shop")) == 1 })
	var forged []any
	for i := range 1500 {
		text := fmt.Sprintf("dubbo://127.1.%d.%d:1/com.shop.OrderService?version=1.0.0", i/250, i%250)
		forged = append(forged, &zk.CreateRequest{Path: "/dubbo/com.shop.OrderService/providers/" + url.QueryEscape(text), Flags: zk.FlagEphemeral, Acl: zk.WorldACL(zk.PermAll)})
	}
	if _, err := c.Multi(forged...); err != nil {
		t.Fatal(err)
	}
	node := discovering(t, server, dubbo.Config{})
	eventually(t, "the bound", func() bool { return foreigners(node) == 1000 })
}

func foreigners(node *sabir.Node) (n int) {
	for _, one := range node.Nodes() {
		if one.Framework == "dubbo" {
			n++
		}
	}
	return n
}

func TestInterfacesThatOperatorsTakeOutOfServiceLeaveTheRegistry(t *testing.T) {
	brokers.Long(t)
	server := brokers.ForTest(t, brokers.ZooKeeper)
	c, commands := zooKeeper(t, server), freeAddress(t)
	startAs(t, "go-1", sabir.Serve(ordersOf("go-1")), dubbo.Bridge(dubbo.Config{Registries: at(server), Application: "go-shop", QoS: commands,
		Serve: map[string][]dubbo.Interface{"dubbo://127.0.0.1:0": {{Name: "com.shop.OrderService", Service: "orders"}, dubbo.Interface{Name: "com.shop.Other", Service: "orders"}}}}))
	there := func() string {
		return fmt.Sprint(len(entered(c, "/dubbo/com.shop.OrderService/providers")), len(entered(c, "/dubbo/com.shop.Other/providers")), len(entered(c, "/services/go-shop")))
	}
	eventually(t, "the node", func() bool { return there() == "1 1 1" })
	operator := dial(t, commands)
	operator.says("dubbo>")
	for _, o := range []struct{ command, want string }{
		{"offline com.shop.Other", "1 0 1"}, {"offline", "0 0 0"}, {"online com.shop.Other", "0 1 1"}, {"online", "1 1 1"},
	} {
		operator.write([]byte(o.command + "\n"))
		operator.says("OK\r\ndubbo>")
		eventually(t, o.command+": "+o.want, func() bool { return there() == o.want })
	}
}
