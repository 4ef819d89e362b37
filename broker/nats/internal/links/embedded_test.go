package links_test

import (
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/url"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/secret"
	"github.com/sabir-go/sabir/transport"
)

// waitLimit is the time that a test waits for what should come.
const waitLimit = time.Minute

// freePort is a port that is free for clients, and the one for routes too.
func freePort(t *testing.T) int {
	t.Helper()
	for range 100 {
		port := 16384 + rand.IntN(14000)
		clients, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port))
		if err != nil {
			continue
		}
		routes, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+2000))
		clients.Close()
		if err != nil {
			continue
		}
		routes.Close()
		return port
	}
	t.Fatal("no free port")
	return 0
}

func try(t *testing.T, address string, config transport.Config) (transport.Broker, error) {
	t.Helper()
	at, err := schemes.Parse(address)
	if err != nil {
		t.Fatal(err)
	}
	driver, _ := transports.Bus("nats")
	broker, err := driver.Connect(t.Context(), at, config, transport.BusEvents{})
	if err == nil {
		t.Cleanup(func() { broker.Close() })
	}
	return broker, err
}

func join(t *testing.T, address string, config transport.Config) transport.Broker {
	t.Helper()
	broker, err := try(t, address, config)
	if err != nil {
		t.Fatal(err)
	}
	return broker
}

func named(name string) transport.Config { return transport.Config{Name: name} }

func listen(t *testing.T, broker transport.Broker, subject string) <-chan string {
	t.Helper()
	messages := make(chan string, 1000)
	if err := broker.Subscribe(t.Context(), subject, func(data []byte) { messages <- string(data) }); err != nil {
		t.Fatal(err)
	}
	return messages
}

// until repeats act until the text arrives: subscriptions need a moment to get around in a mesh.
func until(t *testing.T, messages <-chan string, text string, act func()) {
	t.Helper()
	again := time.NewTicker(20 * time.Millisecond)
	defer again.Stop()
	limit := time.After(waitLimit)
	for act(); ; {
		select {
		case got := <-messages:
			if got == text {
				return
			}
		case <-again.C:
			act()
		case <-limit:
			t.Fatalf("%q did not arrive", text)
		}
	}
}

func publish(t *testing.T, broker transport.Broker, subject, text string) {
	t.Helper()
	if err := broker.Publish(subject, []byte(text)); err != nil {
		t.Fatal(err)
	}
}

func TestAnEmbeddedServerPassesMessagesWithinTheProcess(t *testing.T) {
	one, two := join(t, "nats://embedded:0", transport.Config{}), join(t, "nats://embedded:0", transport.Config{})
	if one.Addr() != two.Addr() || !strings.HasPrefix(one.Addr(), "nats://127.0.0.1:") {
		t.Errorf("the addresses are %s and %s, want those of one server", one.Addr(), two.Addr())
	}
	messages := listen(t, two, "news")
	publish(t, one, "news", "hello")
	select {
	case got := <-messages:
		if got != "hello" {
			t.Errorf("%q arrived", got)
		}
	case <-time.After(waitLimit):
		t.Error("nothing arrived")
	}
}

func TestPlainClientsConnectToAnEmbeddedServer(t *testing.T) {
	embedded := join(t, "nats://embedded:0", transport.Config{})
	messages := listen(t, embedded, "news")
	conn, err := natsgo.Connect(embedded.Addr())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	if err := conn.Publish("news", []byte("from outside")); err != nil {
		t.Fatal(err)
	}
	until(t, messages, "from outside", func() {})
}

func TestAnEmbeddedServerEndsWithItsLastUse(t *testing.T) {
	one, two := join(t, "nats://embedded:0", transport.Config{}), join(t, "nats://embedded:0", transport.Config{})
	at, err := url.Parse(one.Addr())
	if err != nil {
		t.Fatal(err)
	}
	one.Close()
	messages := listen(t, two, "still")
	publish(t, two, "still", "here")
	until(t, messages, "here", func() {})
	two.Close()
	if conn, err := net.Dial("tcp", at.Host); !errors.Is(err, syscall.ECONNREFUSED) {
		if err == nil {
			conn.Close()
		}
		t.Errorf("connecting to the server gives %v, want ECONNREFUSED", err)
	}
}

func TestServersOfOneAddressFormAMesh(t *testing.T) {
	address := fmt.Sprintf("nats://embedded:%d", freePort(t))
	var all []transport.Broker
	var arrived []<-chan string
	addrs := make(map[string]bool)
	for i := range 3 {
		broker := join(t, address, named(strconv.Itoa(i)))
		all, arrived = append(all, broker), append(arrived, listen(t, broker, "news"))
		addrs[broker.Addr()] = true
	}
	if len(addrs) != 3 {
		t.Errorf("there are %d servers, want 3: %v", len(addrs), addrs)
	}
	for i, from := range all {
		for _, messages := range arrived {
			text := fmt.Sprint("from ", i)
			until(t, messages, text, func() { publish(t, from, "news", text) })
		}
	}
}

func TestAProbeReachesSubscribersAcrossTheMeshAndReportsIfThereAreNone(t *testing.T) {
	address := fmt.Sprintf("nats://embedded:%d", freePort(t))
	subscriber := join(t, address, named("subscriber"))
	at, _ := schemes.Parse(address)
	driver, _ := transports.Bus("nats")
	unheard := make(chan string, 1000)
	prober, err := driver.Connect(t.Context(), at, named("prober"), transport.BusEvents{Unheard: func(subject string) { unheard <- subject }})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { prober.Close() })
	messages := listen(t, subscriber, "asked")
	until(t, messages, "anybody?", func() { prober.Probe("asked", []byte("anybody?")) })
	// While the subscription was on its way, "asked" was unheard too. Its report comes before the report of this.
	prober.Probe("fence", nil)
	for <-unheard != "fence" {
	}
	prober.Probe("asked", []byte("again"))
	prober.Probe("nobody", []byte("anybody?"))
	if got := <-unheard; got != "nobody" {
		t.Errorf("%s is unheard", got)
	}
	until(t, messages, "again", func() {})
}

func TestAMeshSurvivesTheKillOfAnyProcessAndTakesNewOnes(t *testing.T) {
	port := freePort(t)
	address := fmt.Sprintf("nats://embedded:%d", port)
	first, killFirst := startPeer(t, address, "first")
	if want := fmt.Sprintf("nats://127.0.0.1:%d", port); first != want {
		t.Errorf("the first server is at %s, want %s", first, want)
	}
	_, killSecond := startPeer(t, address, "second")
	_, _ = startPeer(t, address, "third")
	own := join(t, address, transport.Config{})
	answers := listen(t, own, "answers")
	ask := func(name string) {
		t.Helper()
		until(t, answers, name, func() { own.Publish(name+".ask", nil) })
	}
	ask("first")
	ask("second")
	ask("third")

	killFirst()
	ask("second") // by a way of its own
	ask("third")
	_, _ = startPeer(t, address, "fourth")
	ask("fourth")
	ask("third")

	killSecond()
	_, _ = startPeer(t, address, "fifth")
	ask("fifth")
	ask("fourth")
}

func TestWhenTheFirstServerIsGoneAnotherTakesOverItsPorts(t *testing.T) {
	brokers.Long(t)
	first, kill := startPeer(t, fmt.Sprintf("nats://embedded:%d", freePort(t)), "first")
	second := join(t, strings.Replace(first, "127.0.0.1", "embedded", 1), transport.Config{})
	if second.Addr() == first {
		t.Fatalf("both servers are at %s", first)
	}
	messages := listen(t, second, "news")
	kill()
	conn, err := natsgo.Connect(first, natsgo.RetryOnFailedConnect(true), natsgo.MaxReconnects(-1), natsgo.ReconnectWait(20*time.Millisecond))
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	until(t, messages, "by the old address", func() { conn.Publish("news", []byte("by the old address")) })
}

func TestServersFindEachOtherAfterTheDeathOfAFrozenFirstServer(t *testing.T) {
	brokers.Long(t)
	address := fmt.Sprintf("nats://embedded:%d", freePort(t))
	first := launchPeer(t, address, "first")
	suspend(t, first.Process)
	one, two := join(t, address, named("one")), join(t, address, named("two"))
	first.kill()
	messages := listen(t, two, "news")
	until(t, messages, "hello", func() { publish(t, one, "news", "hello") })
}

func TestProcessesThatStartAtTheSameMomentFormOneMesh(t *testing.T) {
	address := fmt.Sprintf("nats://embedded:%d", freePort(t))
	var peers []*peerProcess
	for i := range 5 {
		peers = append(peers, beginPeer(t, address, fmt.Sprint("peer-", i)))
	}
	own := join(t, address, transport.Config{})
	answers := listen(t, own, "answers")
	for i, peer := range peers {
		peer.await(t)
		name := fmt.Sprint("peer-", i)
		until(t, answers, name, func() { own.Publish(name+".ask", nil) })
	}
}

func TestAServerThatStandsStillDoesNotKeepOthersFromStarting(t *testing.T) {
	brokers.Long(t)
	port := freePort(t)
	address := fmt.Sprintf("nats://embedded:%d", port)
	peer := launchPeer(t, address, "still")
	suspend(t, peer.Process)
	own := join(t, address, transport.Config{})
	answers := listen(t, own, "answers")
	messages := listen(t, own, "own")
	publish(t, own, "own", "works")
	until(t, messages, "works", func() {})
	resume(t, peer.Process)
	until(t, answers, "still", func() { own.Publish("still.ask", nil) })
}

func TestAServerTakesAPortThatIsReleasedWhileItAsksForTheOwner(t *testing.T) {
	l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		if conn, err := l.Accept(); err == nil {
			l.Close()
			conn.Close()
		}
	}()
	broker := join(t, fmt.Sprintf("nats://embedded:%d", l.Addr().(*net.TCPAddr).Port), transport.Config{})
	<-ended
	if want := "nats://" + l.Addr().String(); broker.Addr() != want {
		t.Errorf("the server is at %s, want %s", broker.Addr(), want)
	}
}

func TestOtherServersOnThePortAreRecognized(t *testing.T) {
	brokers.Long(t)
	t.Run("a NATS server", func(t *testing.T) {
		at, _ := url.Parse(brokers.ForTestShared(t, brokers.NATS).URL())
		_, err := try(t, "nats://embedded:"+at.Port(), transport.Config{})
		if err == nil || !strings.Contains(err.Error(), "not embedded") || !strings.Contains(err.Error(), at.Host) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("no NATS server", func(t *testing.T) {
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", freePort(t)))
		if err != nil {
			t.Fatal(err)
		}
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			for {
				conn, err := l.Accept()
				if err != nil {
					return
				}
				io.WriteString(conn, "SSH-2.0-x\r\n")
				conn.Close()
			}
		}()
		defer func() {
			l.Close()
			<-ended
		}()
		_, err = try(t, fmt.Sprintf("nats://embedded:%d", l.Addr().(*net.TCPAddr).Port), transport.Config{})
		if err == nil || !strings.Contains(err.Error(), "what has the port") {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("at the port for routes", func(t *testing.T) {
		port := freePort(t)
		l, err := net.Listen("tcp", fmt.Sprintf("127.0.0.1:%d", port+2000))
		if err != nil {
			t.Fatal(err)
		}
		defer l.Close()
		_, err = try(t, fmt.Sprintf("nats://embedded:%d", port), transport.Config{})
		if !errors.Is(err, syscall.EADDRINUSE) || !strings.Contains(err.Error(), fmt.Sprintf("the port %d is taken", port+2000)) {
			t.Errorf("the error is %v", err)
		}
	})
	t.Run("another cluster", func(t *testing.T) {
		address := fmt.Sprintf("nats://embedded:%d", freePort(t))
		join(t, address, transport.Config{Name: "a", Keyed: true, Secret: secret.New("one")})
		_, err := try(t, address, transport.Config{Name: "b", Keyed: true, Secret: secret.New("two")})
		if err == nil || !strings.Contains(err.Error(), "another cluster key") {
			t.Errorf("the error is %v", err)
		}
		if _, err := try(t, address, transport.Config{Name: "c"}); err == nil {
			t.Error("a server without the key joined")
		}
	})
}

func TestBeyondLoopbackAnEmbeddedServerNeedsTheKey(t *testing.T) {
	for _, config := range []transport.Config{{}, {Keyed: true}, {Secret: secret.New("x")}} {
		_, err := try(t, "nats://embedded:0?host=0.0.0.0", config)
		if err == nil || !strings.Contains(err.Error(), "refusing") || !strings.Contains(err.Error(), "key") {
			t.Errorf("Keyed %v: the error is %v", config.Keyed, err)
		}
	}
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	for name, config := range map[string]transport.Config{"plain": {}, "TLS": {TLS: certificates(t, files)}} {
		t.Run(name, func(t *testing.T) {
			config.Keyed, config.Secret, config.Advertise = true, secret.New("secret of the cluster"), "127.0.0.1"
			port := freePort(t)
			address := fmt.Sprintf("nats://embedded:%d?host=0.0.0.0", port)
			first, second, third := config, config, config
			first.Name, second.Name, third.Name = "first", "second", "third"
			one, two := join(t, address, first), join(t, address, second)
			messages := listen(t, two, "news")
			until(t, messages, "by route", func() { publish(t, one, "news", "by route") })
			// A node with the key, from outside.
			observer := join(t, two.Addr(), third)
			publish(t, observer, "news", "from a client-only node")
			until(t, messages, "from a client-only node", func() {})

			wrong := third
			wrong.Secret = secret.New("another")
			if _, err := try(t, two.Addr(), wrong); !errors.Is(err, natsgo.ErrAuthorization) {
				t.Errorf("another key gives %v, want an authorization error", err)
			}
			wrong.Secret = secret.Secret{}
			if _, err := try(t, two.Addr(), wrong); !errors.Is(err, natsgo.ErrAuthorization) {
				t.Errorf("no key gives %v, want an authorization error", err)
			}
		})
	}
}

func TestConnectGivesAPlainConnectionToTheSameServer(t *testing.T) {
	address := "nats://embedded:0"
	broker := join(t, address, transport.Config{})
	at, _ := url.Parse(address)
	conn, release, err := connect(t.Context(), at, transport.Config{}, natsgo.Name("plain"))
	if err != nil {
		t.Fatal(err)
	}
	messages := listen(t, broker, "news")
	if err := conn.Publish("news", []byte("hello")); err != nil {
		t.Fatal(err)
	}
	until(t, messages, "hello", func() {})
	if conn.Opts.Name != "plain" {
		t.Errorf("the option was not used: the name is %q", conn.Opts.Name)
	}
	conn.Close()
	release()
	publish(t, broker, "news", "still there")
	until(t, messages, "still there", func() {})
}

func TestServersOnOtherPortsAreJoinedByRoutes(t *testing.T) {
	port := freePort(t)
	one := join(t, fmt.Sprintf("nats://embedded:%d", port), named("one"))
	two := join(t, fmt.Sprintf("nats://embedded:0?routes=127.0.0.1:%d", port+2000), named("two"))
	messages := listen(t, one, "news")
	until(t, messages, "hello", func() { publish(t, two, "news", "hello") })
}
