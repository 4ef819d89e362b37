package micro_test

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	natsgo "github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/bridge/micro/nats"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
)

func TestEventsGoOnAfterTheBrokerWasRestarted(t *testing.T) {
	server := brokers.ForTest(t, brokers.NATS)
	lab := startPeer(t, "v5", "-broker=nats="+server.URL(), "-subscribe=order.placed")
	events := make(chan got, 10_000)
	n := node(t, []sabir.Servable{listener("audit", events, "order.*")},
		micro.Config{Broker: &nats.Broker{Address: server.URL()}, Expose: []string{"audit.*"}, Publish: []string{"order.placed"}})
	both := func() {
		waitFor(t, "an event to go-micro", func() bool {
			sabir.Emit(t.Context(), n, "order.placed", labIn{A: 1})
			return len(lab.events) > 0
		})
		waitFor(t, "an event of go-micro", func() bool {
			lab.call(order{Topic: "order.paid", In: json.RawMessage(`{"a":2}`)})
			return len(events) > 0
		})
	}
	both()
	server.Kill()
	waitFor(t, "the refusal without a broker", func() bool { return sabir.Emit(t.Context(), n, "order.placed", labIn{}) != nil })
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	for len(events) > 0 {
		<-events
	}
	for len(lab.events) > 0 {
		<-lab.events
	}
	both()
}

func TestABridgeWithoutItsBrokerDoesNotStart(t *testing.T) {
	for address, want := range map[string]string{"nats://127.0.0.1:1": "connection refused", "10.0.0.9": "is not of the form", "nats://ada:hunter2@10.0.0.9": "has a user in it"} {
		n := sabir.NewNode(micro.Bridge(micro.Config{Broker: &nats.Broker{Address: address}}))
		if err := n.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %v, want %q", address, err, want)
		}
	}
}

func TestABrokerAsksForItsPassword(t *testing.T) {
	server := brokers.ForTest(t, brokers.NATS, brokers.Config{User: "ada", Password: "hunter2"})
	at := "nats://" + server.Addr()
	n := sabir.NewNode(micro.Bridge(micro.Config{Broker: &nats.Broker{Address: at}}))
	if err := n.Start(t.Context()); err == nil {
		t.Error("it started without the password")
		stop(t, n)
	}
	node(t, nil, micro.Config{Broker: &nats.Broker{Address: at, User: "ada", Password: secret.New("hunter2")}})
}

func TestAFloodOfEventsTakesNoMoreThanItsBounds(t *testing.T) {
	server := brokers.ForTest(t, brokers.NATS)
	var running, most atomic.Int64
	release := make(chan struct{})
	s := sabir.NewService("audit")
	sabir.On(s, "order.placed", func(context.Context, string) error {
		defer running.Add(-1)
		if now := running.Add(1); now > most.Load() {
			most.Store(now)
		}
		<-release
		return nil
	})
	events := make(chan got, 10_000)
	node(t, []sabir.Servable{s, listener("mail", events, "order.paid")}, micro.Config{Broker: &nats.Broker{Address: server.URL()}, Expose: []string{"audit.*", "mail.*"}})
	conn, err := natsgo.Connect(server.URL())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	body, _ := json.Marshal(strings.Repeat("x", 500<<10))
	packet, _ := json.Marshal(map[string]any{"Header": map[string]string{"Content-Type": "application/json"}, "Body": body})
	for range 300 { // 200 MB in all
		if err := conn.Publish("order.placed", packet); err != nil {
			t.Fatal(err)
		}
	}
	// What is malformed, and what is too much, is dropped; other events still come when the flood is over.
	for _, bad := range []string{"", "null", "{", strings.Repeat("[", 100_000), `{"Header":{"Content-Type":"text/x"},"Body":""}`, `{"Header":{"Content-Type":"application/json"},"Body":"` + "W1tb" + `"}`} {
		conn.Publish("order.paid", []byte(bad))
	}
	if err := conn.FlushTimeout(waitLimit); err != nil {
		t.Fatal(err)
	}
	close(release)
	good, _ := json.Marshal(map[string]any{"Header": map[string]string{"Content-Type": "application/json"}, "Body": []byte(`{"a":7}`)})
	waitFor(t, "an event after the flood", func() bool {
		conn.Publish("order.paid", good)
		return len(events) > 0
	})
	if one := <-events; one.in.A != 7 {
		t.Errorf("a handler got %+v", one)
	}
	if most.Load()*int64(len(packet)) > 128<<20 {
		t.Errorf("%d events of %d bytes were handled at once", most.Load(), len(packet))
	}
}

// openRaw opens a stream as a client of go-micro does.
func openRaw(t *testing.T, at, endpoint string) net.Conn {
	t.Helper()
	c, err := net.Dial("tcp", at)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	io.WriteString(c, rawMessage(endpoint, ""))
	return c
}

func rawMessage(endpoint, body string) string {
	return fmt.Sprintf("POST / HTTP/1.1\r\nHost: x\r\nMicro-Service: flow\r\nMicro-Endpoint: %s\r\nMicro-Id: 1\r\nMicro-Stream: 1\r\nContent-Type: application/json\r\nContent-Length: %d\r\n\r\n%s", endpoint, len(body), body)
}

func TestMalformedMessagesEndTheirStream(t *testing.T) {
	_, at := serving(t, []sabir.Servable{streams()}, micro.Config{Expose: []string{"flow.*"}})
	for what, sent := range map[string]string{
		"a length of 1 GB":    strings.Replace(rawMessage("Flow.Chat", "{}"), "Content-Length: 2", "Content-Length: 1000000000", 1),
		"no HTTP":             "hello, this is no request\r\n\r\n",
		"headers of 1 MB":     "POST / HTTP/1.1\r\nHost: x\r\nX: " + strings.Repeat("x", 1<<20) + "\r\n\r\n",
		"JSON that is broken": rawMessage("Flow.Chat", "{"),
		"JSON that is deep":   rawMessage("Flow.Chat", `{"text":`+strings.Repeat("[", 200_000)),
		"half a message":      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 10\r\n\r\n{",
	} {
		c := openRaw(t, at, "Flow.Chat")
		c.SetDeadline(time.Now().Add(waitLimit))
		io.WriteString(c, rawMessage("Flow.Chat", `{"a":1,"b":2}`))
		from := bufio.NewReader(c)
		first, err := http.ReadResponse(from, nil)
		if err != nil || first.Header.Get("Micro-Error") != "" {
			t.Fatalf("%s: the answer before it: %v, %v", what, first, err)
		}
		io.Copy(io.Discard, first.Body)
		io.WriteString(c, sent)
		if what == "half a message" {
			c.(*net.TCPConn).CloseWrite()
		}
		last, err := http.ReadResponse(from, nil)
		if err == nil && (last.Header.Get("Micro-Error") == "" || last.Header.Get("Micro-Error") == "EOS") && last.StatusCode == 200 {
			t.Errorf("%s: the stream goes on with %v", what, last.Header)
		}
	}
	c := openRaw(t, at, "Flow.Chat")
	io.WriteString(c, rawMessage("Flow.Chat", `{"a":1,"b":2}`))
	if answer, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil || answer.StatusCode != 200 {
		t.Errorf("a good stream after them: %v", err)
	}
}

func TestAClientThatDoesNotReadItsStreamHoldsTheHandlerUp(t *testing.T) {
	var sent atomic.Int64
	ended := make(chan struct{})
	s := sabir.NewService("flow")
	sabir.HandleStream(s, "pour", func(ctx context.Context, s *sabir.Stream[labIn, string]) error {
		defer close(ended)
		for {
			if err := s.Send(strings.Repeat("x", 64<<10)); err != nil {
				return err
			}
			sent.Add(64 << 10)
		}
	})
	_, at := serving(t, []sabir.Servable{s}, micro.Config{Expose: []string{"flow.*"}})
	c := openRaw(t, at, "Flow.Pour")
	still := 0
	for before := int64(-1); still < 50; time.Sleep(10 * time.Millisecond) {
		if now := sent.Load(); now == before && now > 0 {
			still++
		} else {
			before, still = now, 0
		}
		if sent.Load() > 64<<20 {
			t.Fatal("the handler is not held up")
		}
	}
	c.Close()
	next(t, "the end of the handler", ended)
}
