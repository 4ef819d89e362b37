package dubbo_test

import (
	"context"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/dubbo"
	"github.com/sabir-go/sabir/bridge/dubbo/nacos"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
)

const nacosPassword = "hunter22"

// forJava is the address of a registry for programs of Java.
func forJava(server *brokers.Server) string {
	if server.Kind() == brokers.Nacos {
		return "nacos://" + server.Addr() + "?username=nacos&password=" + nacosPassword
	}
	return server.URL()
}

// TestDubboMeetsByNacos has one server for all, which takes 15 s of a processor to start.
func TestDubboMeetsByNacos(t *testing.T) {
	brokers.Slow(t)
	server := brokers.ForTest(t, brokers.Nacos, brokers.Config{User: "nacos", Password: nacosPassword})
	// The node has two addresses for one interface, which are one service of Nacos.
	start := func(t *testing.T, advertise string) *sabir.Node {
		table := []dubbo.Interface{{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}
		return startAs(t, "go-1", sabir.Serve(ordersOf("go-1")), dubbo.Bridge(dubbo.Config{Registries: at(server), Application: "go-shop", Advertise: advertise,
			Serve: map[string][]dubbo.Interface{"dubbo://" + freeAddress(t): table, "tri://" + freeAddress(t): table}}))
	}

	t.Run("Java consumers find a node", func(t *testing.T) {
		start(t, javaHost)
		consumers := make(map[string]*process)
		for _, migration := range []string{"FORCE_INTERFACE", "FORCE_APPLICATION"} {
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

	t.Run("a node finds Java providers, and that they are gone", func(t *testing.T) {
		start(t, "")
		want := map[string]bool{"pong of go-1": true}
		var all []*process
		for _, one := range [][3]string{{"interface", "local", "dubbo"}, {"instance", "remote", "tri"}} {
			p, port := javaProvider(t, server, "shop-"+strings.Join(one[:], "-"), one[0], one[1], "protocol="+one[2])
			all, want["pong of "+port] = append(all, p), true
		}
		for _, p := range all {
			p.until("ready")
		}
		caller := discovering(t, server, dubbo.Config{})
		seen := make(map[string]bool)
		eventually(t, "calls of all providers", func() bool {
			answer, err := sabir.Call[string](t.Context(), caller, "orders.ping", sabir.Empty{})
			if err != nil || !want[answer] {
				t.Fatalf("ping is %q, %v", answer, err)
			}
			seen[answer] = true
			return len(seen) == len(want)
		})
		for _, p := range all {
			if err := p.command.Process.Kill(); err != nil {
				t.Fatal(err)
			}
		}
		eventually(t, "the end of those that were killed", func() bool { return providersSeen(caller) == 2 })
	})

	t.Run("who may not log in is told what to do", func(t *testing.T) {
		for want, r := range map[string]*nacos.Registry{
			"check User and Password": {Servers: []string{server.Addr()}, User: "nacos", Password: secret.New("guessed-1")},
			"give User and Password":  {Servers: []string{server.Addr()}},
		} {
			ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
			said := make(logLines, 10)
			var running sync.WaitGroup
			running.Go(func() {
				r.Run(ctx, slog.New(slog.NewTextHandler(said, nil)), func(ctx context.Context, s dubbo.RegistrySession) error {
					return s.Provide(ctx, "com.shop.OrderService", "dubbo://127.0.0.1:20880/com.shop.OrderService")
				})
			})
			if line := <-said; !strings.Contains(line, want) || strings.Contains(line, "guessed-1") {
				t.Errorf("the log says %q, want %q", line, want)
			}
			cancel()
			running.Wait()
		}
	})

	t.Run("namespaces and groups keep nodes apart", func(t *testing.T) {
		in := func(namespace, group string) []dubbo.Registry {
			return []dubbo.Registry{&nacos.Registry{Servers: []string{server.Addr()}, User: "nacos", Password: secret.New(nacosPassword), Namespace: namespace, Group: group}}
		}
		startAs(t, "go-2", sabir.Serve(ordersOf("go-2")), dubbo.Bridge(dubbo.Config{Registries: in("blue", "shop"), Application: "blue-shop", Serve: map[string][]dubbo.Interface{
			"dubbo://" + freeAddress(t): {{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0"}}}}))
		beside := func(name, namespace, group string) *sabir.Node {
			return startAs(t, name, dubbo.Bridge(dubbo.Config{Registries: in(namespace, group), Discover: []dubbo.Interface{{Name: "com.shop.OrderService", Service: "orders", Version: "1.0.0",
				Methods: []dubbo.Method{{Name: "ping", Parameters: []string{}}}}}}))
		}
		same := beside("same", "blue", "shop")
		eventually(t, "the node of the same namespace and group", func() bool { return providersSeen(same) == 1 })
		if seen := providersSeen(beside("namespace", "green", "shop")); seen != 0 {
			t.Errorf("another namespace has %d providers", seen)
		}
		if seen := providersSeen(beside("group", "blue", "")); seen != 0 {
			t.Errorf("another group has %d providers", seen)
		}
	})

	t.Run("what is entered has gone when a stop is over", func(t *testing.T) {
		node, caller := start(t, ""), discovering(t, server, dubbo.Config{})
		eventually(t, "the node", func() bool { return providersSeen(caller) == 2 })
		stop(t, node)
		eventually(t, "its end", func() bool { return providersSeen(caller) == 0 })
	})
}

// logLines gets the lines of a log.
type logLines chan string

func (l logLines) Write(line []byte) (int, error) {
	select {
	case l <- string(line):
	default: // the first ones are enough
	}
	return len(line), nil
}

// providersSeen is how many providers of Dubbo a node knows.
func providersSeen(node *sabir.Node) (count int) {
	for _, n := range node.Nodes() {
		if strings.HasPrefix(n.Framework, "dubbo") {
			count++
		}
	}
	return count
}

func TestWhatIsEnteredInNacosIsEnteredAnewWhenTheServerComesBack(t *testing.T) {
	brokers.Nightly(t)
	server := brokers.ForTest(t, brokers.Nacos, brokers.Config{User: "nacos", Password: nacosPassword})
	registered(t, server, "go-1", dubbo.Config{})
	caller := discovering(t, server, dubbo.Config{})
	ping := func() bool {
		answer, err := sabir.Call[string](t.Context(), caller, "orders.ping", sabir.Empty{})
		return err == nil && answer == "pong of go-1"
	}
	eventually(t, "a call", ping)
	if err := server.Kill(); err != nil {
		t.Fatal(err)
	}
	for range 100 {
		if !ping() {
			t.Fatal("without Nacos a provider that is known gets no calls")
		}
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	late := discovering(t, server, dubbo.Config{})
	eventually(t, "the node, for one that comes later", func() bool { return providersSeen(late) == 1 })
	if err := server.Suspend(); err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(15*time.Second, func() { server.Resume() }) // longer than a server that does not answer is waited for
	registered(t, server, "go-2", dubbo.Config{})
	eventually(t, "both nodes", func() bool { return providersSeen(late) == 2 && providersSeen(caller) == 2 })
}
