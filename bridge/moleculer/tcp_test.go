package moleculer_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/brokers"
)

// newTCPPlace is a place without a broker: Moleculer's nodes know the address of the node go, and no other.
func newTCPPlace(t *testing.T) *place {
	t.Helper()
	brokers.Long(t)
	port := freePort(t)
	return &place{t: t, namespace: strings.NewReplacer("/", "-", "_", "-", " ", "-", ",", "").Replace(t.Name()), at: fmt.Sprintf("tcp://127.0.0.1:%d", port),
		bridge:  moleculer.Config{Discovery: "none"},
		options: map[string]any{"transporter": map[string]any{"type": "TCP", "options": map[string]any{"udpDiscovery": false, "urls": fmt.Sprintf("tcp://127.0.0.1:%d/go", port)}}}}
}

// freePort is a port that nobody has now.
func freePort(t *testing.T) int {
	t.Helper()
	address, err := brokers.FreeAddress("tcp")
	if err != nil {
		t.Fatal(err)
	}
	return portOf("tcp://" + address)
}

func TestNodesMeetOverTCPWithoutABroker(t *testing.T) {
	for _, version := range []string{"5", "4"} {
		t.Run("protocol "+version, func(t *testing.T) {
			t.Parallel()
			a := newTCPPlace(t)
			if version == "4" {
				a.options["serializer"] = "MsgPack"
				a.bridge.Serializer = msgpack.Codec
			}
			got := make(chan string, 10)
			n := a.node("go", []sabir.Servable{orders(), streams(), heard("mail", "user.*", got)}, moleculer.Config{Expose: []string{"**"}})
			js := a.peer(version, "js")
			js.must(nil, "wait", "v3.orders", "mail")
			if err := n.WaitFor(t.Context(), "v2.js", "listener"); err != nil {
				t.Fatal(err)
			}
			if out, err := js.call("v3.orders.create", order{Item: "tea"}); err != nil || string(out.Result) != `"order of tea"` {
				t.Errorf("%s, %v", out.Result, err)
			}
			if sum, err := sabir.Call[int](t.Context(), n, "js.add", map[string]int{"a": 2, "b": 3}); err != nil || sum != 5 {
				t.Errorf("the sum is %d, %v", sum, err)
			}
			var alive bool
			if js.must(&alive, "ping", "go"); !alive {
				t.Error("a ping was not answered")
			}
			js.must(nil, "emit", "user.created", "Ada")
			if text := next(t, got); text != "mail user.created Ada " {
				t.Errorf("an event: %q", text)
			}
			if err := sabir.Emit(t.Context(), n, "news.small", 7); err != nil {
				t.Fatal(err)
			}
			js.event()
			var streamed collected
			if err := js.do(&streamed, "stream", "streams.upper", []string{"a", "b"}, nil); err != nil || streamed.Bytes != 2 {
				t.Errorf("a stream: %+v, %v", streamed, err)
			}
			sum := 0
			for v, err := range sabir.CallStream[number](t.Context(), n, "js.range", map[string]int{"n": 100}) {
				if err != nil {
					t.Fatal(err)
				}
				sum += v.I
			}
			if sum != 4950 {
				t.Errorf("the sum is %d", sum)
			}

			// What is added is told at once.
			added := sabir.NewService("added")
			sabir.Handle(added, "hello", func(context.Context, any) (string, error) { return "hello from Go", nil })
			if err := n.Add(t.Context(), added); err != nil {
				t.Fatal(err)
			}
			js.must(nil, "wait", "added")
			js.must(nil, "add", "late")
			if err := n.WaitFor(t.Context(), "late"); err != nil {
				t.Fatal(err)
			}
			if err := n.Stop(t.Context()); err != nil {
				t.Fatal(err)
			}
			waitFor(t, "the goodbye", func() bool {
				var list []string
				js.must(&list, "nodes")
				return len(list) == 1
			})
		})
	}
}

// Moleculer's reader breaks a connection when more than 1 MiB lies in its buffer, even of packets that are allowed.
func TestLargePacketsOverTCPAreSentOneAfterTheOther(t *testing.T) {
	t.Parallel()
	a := newTCPPlace(t)
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	js := a.peer("5", "js")
	js.must(nil, "wait", "v3.orders")
	if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
		t.Fatal(err)
	}
	text := strings.Repeat("x", 1_000_000)
	echoAtOnce(t, n, 10, text)
	var sizes []int
	js.must(&sizes, "many", 10, "v3.orders.echo", text)
	if fmt.Sprint(sizes) != fmt.Sprint([]int{1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6, 1e6}) {
		t.Errorf("answers of %v", sizes)
	}
	_, err := sabir.Call[string](t.Context(), n, "js.echo", strings.Repeat("x", 1<<20))
	if sabir.AsError(err).Name != sabir.ErrMessageTooLarge.Name {
		t.Errorf("a call of more than 1 MiB ends with %v", err)
	}
}

// echoAtOnce calls js.echo with the text so many times at once.
func echoAtOnce(t *testing.T, n *sabir.Node, times int, text string) {
	t.Helper()
	failed := make(chan error, times)
	for range times {
		go func() {
			back, err := sabir.Call[string](t.Context(), n, "js.echo", text)
			if err == nil && back != text {
				err = fmt.Errorf("%d bytes came back", len(back))
			}
			failed <- err
		}()
	}
	for range times {
		if err := <-failed; err != nil {
			t.Error(err)
		}
	}
}

func TestGossipTellsNodesOfEachOther(t *testing.T) {
	t.Parallel()
	a := newTCPPlace(t)
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	one, two := a.peer("5", "one"), a.peer("5", "two")
	waitFor(t, "the nodes", func() bool { return len(n.Nodes()) == 3 })
	for _, js := range []*peer{one, two} {
		waitFor(t, "the nodes", func() bool {
			var list []string
			js.must(&list, "nodes")
			return len(list) == 3
		})
	}
	if out, err := one.call("v2.js.whoami", nil, map[string]any{"nodeID": "two"}); err != nil || string(out.Result) != `"two"` {
		t.Errorf("%s, %v", out.Result, err)
	}
	// A second Go node that knows one of Moleculer's learns of all. It comes back under its id.
	second := *a
	second.at = "tcp://:0"
	for range 2 {
		reader := second.node("reader", []sabir.Servable{whoami("reader")}, moleculer.Config{Peers: []string{a.at + "/go"}, Expose: []string{"**"}})
		waitFor(t, "the nodes", func() bool { return len(reader.Nodes()) == 4 })
		waitFor(t, "a call", func() bool {
			out, err := one.call("v2.js.whoami", nil, map[string]any{"nodeID": "reader"})
			return err == nil && string(out.Result) == `"reader"`
		})
		if err := reader.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
	}
	// A process that was killed has gone for all at once, and is there again under its id.
	if err := two.process.Process.Signal(syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	waitFor(t, "the end", func() bool { return len(n.Nodes()) == 2 })
	a.peer("5", "two")
	waitFor(t, "the node", func() bool {
		who, err := sabir.Call[string](t.Context(), n, "js.whoami", sabir.Empty{}, sabir.ToNode("two"))
		return err == nil && who == "two"
	})
}

func TestANodeIsDialledWhileItStarts(t *testing.T) {
	t.Parallel()
	at := fmt.Sprintf("127.0.0.1:%d", freePort(t))
	other, err := net.Listen("tcp", "127.0.0.1:0") // the node dials back, and greets
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	packet := fmt.Sprintf(`{"ver":"5","sender":"other","host":"127.0.0.1","port":%d,"online":{}}`, portOf("tcp://"+other.Addr().String()))
	hello := append([]byte{0, 0, 0, 0, byte(6 + len(packet)), 8}, packet...)
	hello[0] = hello[4] ^ hello[5]
	greeted := make(chan error, 1)
	go func() {
		for t.Context().Err() == nil {
			c, err := net.Dial("tcp", at)
			if err != nil {
				continue // the node does not listen yet
			}
			defer c.Close()
			if _, err = c.Write(hello); err != nil {
				greeted <- err
				return
			}
			back, err := other.Accept()
			if err == nil {
				_, err = io.ReadFull(back, make([]byte, len(hello)))
				err = errors.Join(err, back.Close())
			}
			greeted <- err
			return
		}
	}()
	n := sabir.NewNode(sabir.NodeID("go"), sabir.Logger(slog.New(slog.DiscardHandler)), moleculer.Bridge(moleculer.Config{Address: "tcp://" + at, Discovery: "none"}))
	if err := errors.Join(n.Start(t.Context()), <-greeted, n.Stop(t.Context())); err != nil {
		t.Fatal(err)
	}
}

func TestNodesFindEachOtherByUDP(t *testing.T) {
	t.Parallel()
	a := newTCPPlace(t)
	port := freePort(t)
	a.at = "tcp://:0"
	a.bridge = moleculer.Config{Discovery: fmt.Sprintf("239.0.0.0:%d", port)}
	a.options["transporter"] = map[string]any{"type": "TCP", "options": map[string]any{"udpPort": port, "udpBindAddress": "127.0.0.1"}}
	js := a.peer("5", "js")
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	js.must(nil, "wait", "v3.orders")
	if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
		t.Fatal(err)
	}
}

func TestBytesThatAreNoPacketsEndTheirConnectionOnly(t *testing.T) {
	t.Parallel()
	a := newTCPPlace(t)
	n := a.node("go", []sabir.Servable{orders()}, moleculer.Config{Expose: []string{"**"}})
	js := a.peer("5", "js")
	js.must(nil, "wait", "v3.orders")
	frame := func(kind byte, length uint32, packet string) []byte {
		out := []byte{0, byte(length >> 24), byte(length >> 16), byte(length >> 8), byte(length), kind}
		out[0] = out[1] ^ out[2] ^ out[3] ^ out[4] ^ out[5]
		return append(out, packet...)
	}
	whole := func(kind byte, packet string) []byte { return frame(kind, uint32(len(packet)+6), packet) }
	head := `{"ver":"5","sender":"evil",`
	for _, bad := range []struct {
		data []byte
		ends bool
	}{
		{[]byte("GET / HTTP/1.1\r\n\r\n"), true}, {bytes.Repeat([]byte{0}, 100), true}, {frame(2, 1<<30, "{}"), true}, {frame(2, 0xffffffff, "{}"), true}, {frame(2, 3, ""), true}, {whole(9, "{}"), true},
		{whole(8, head+`"host":"x","port":70000}`), false}, {whole(8, head+`"host":"x","port":1}`), false}, {whole(6, head+`"online":[]}`), false}, {whole(6, head+`"online":{"go":[1e300],"..":{}},"offline":{"go":99999999999}}`), false},
		{whole(7, head+`"online":{"x":[1,2,3],"y":["z"],"..":[{}],"go":[{"instanceID":"other","seq":9}],"q":[{"seq":1,"instanceID":"i","port":-1,"client":{"version":"0.15.2"}}]}}`), false},
		{whole(7, head+`"online":{"one":[{"seq":1,"services":7}]},"offline":{"js":99}}`), false}, {whole(2, "{"), false},
	} {
		c, err := net.Dial("tcp", strings.TrimPrefix(a.at, "tcp://"))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := c.Write(bad.data); err != nil {
			t.Fatal(err)
		}
		if bad.ends {
			_ = c.SetReadDeadline(time.Now().Add(waitLimit))
			if _, err := c.Read(make([]byte, 1)); err == nil || strings.Contains(err.Error(), "timeout") {
				t.Errorf("after %.20q a read ended with %v", bad.data, err)
			}
		}
		c.Close()
	}
	if out, err := js.call("v3.orders.echo", 1); err != nil || string(out.Result) != "1" {
		t.Errorf("%s, %v", out.Result, err)
	}
	if sum, err := sabir.Call[int](t.Context(), n, "js.add", map[string]int{"a": 1, "b": 1}); err != nil || sum != 2 {
		t.Errorf("%d, %v", sum, err)
	}
}

func TestBeyondThisMachineTCPWantsOpen(t *testing.T) {
	for want, c := range map[string]moleculer.Config{
		"set Open":                  {Address: "tcp://0.0.0.0:0"},
		"want tcp://host:port":      {Address: "tcp://127.0.0.1:0/x"},
		"want tcp://host:port/id":   {Address: "tcp://:0", Peers: []string{"tcp://10.0.0.1:4100"}},
		"want a group of IPv4":      {Address: "tcp://:0", Discovery: "10.0.0.1:4445"},
		"cannot share out messages": {Address: "tcp://:0", Discovery: "none", DisableBalancer: true},
	} {
		n := sabir.NewNode(moleculer.Bridge(c))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q: %v", want, err)
		}
	}
}
