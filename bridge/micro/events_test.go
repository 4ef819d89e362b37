package micro_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/micro"
	"github.com/sabir-go/sabir/bridge/micro/nats"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/internal/brokers"
)

// got is an event as a handler of the Go side got it.
type got struct {
	handler  string
	event    string
	in       labIn
	metadata map[string]string
	key      string
}

// listener is a service that passes on the events that it gets.
func listener(name string, to chan got, patterns ...string) *sabir.Service {
	s := sabir.NewService(name)
	sabir.Handle(s, "ping", func(context.Context, any) (string, error) { return "pong", nil })
	for _, pattern := range patterns {
		sabir.On(s, pattern, func(ctx context.Context, in labIn) error {
			to <- got{name, pattern, in, sabir.InfoFromContext(ctx).Metadata, micro.Headers(ctx).Get("Authorization")}
			return nil
		})
	}
	return s
}

func next[T any](t *testing.T, what string, from <-chan T) T {
	t.Helper()
	select {
	case one := <-from:
		return one
	case <-time.After(waitLimit):
		t.Fatalf("%s did not come", what)
		panic("unreachable")
	}
}

// none fails where more comes than was taken. What could come has been sent on the same way before what was waited for.
func none[T any](t *testing.T, what string, from chan T) {
	t.Helper()
	select {
	case one := <-from:
		t.Errorf("%s: one more came: %+v", what, one)
	default:
	}
}

// through runs a test with each broker by which both sides exchange events: with the arguments of a peer, and the options of a bridge. go-micro 4 has
// its NATS broker in a module of its own.
func through(t *testing.T, test func(t *testing.T, version string, arguments []string, config func() micro.Config)) {
	t.Run("http", func(t *testing.T) {
		versions(t, func(t *testing.T, version string) {
			test(t, version, []string{"-mdns", "-broker=http"}, func() micro.Config { return micro.Config{MDNS: true, Listen: ":0"} })
		})
	})
	t.Run("nats", func(t *testing.T) {
		t.Parallel()
		server := brokers.ForTest(t, brokers.NATS)
		test(t, "v5", []string{"-broker=nats=" + server.URL()}, func() micro.Config {
			return micro.Config{Broker: &nats.Broker{Address: server.URL()}}
		})
	})
}

func TestEventsOfGoMicroReachOneHandlerOfEachGroup(t *testing.T) {
	through(t, func(t *testing.T, version string, arguments []string, config func() micro.Config) {
		topic, audit, mail := ownName("placed"+version), ownName("audit"), ownName("mail")
		events := make(chan got, 100)
		c := config()
		c.Expose = []string{audit + ".*", mail + ".*"}
		node(t, []sabir.Servable{listener(audit, events, topic), listener(mail, events, topic), listener("hidden", events, topic)}, c)
		second := config()
		second.Expose = []string{mail + ".*"}
		n2 := sabir.NewNode(sabir.NodeID("second"), sabir.Serve(listener(mail, events, topic)), micro.Bridge(second))
		if err := n2.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { stop(t, n2) })
		lab := startPeer(t, version, append(arguments, "-serve=false")...)
		const count = 10
		for i := range count {
			a := lab.call(order{Topic: topic, In: json.RawMessage(fmt.Sprintf(`{"a":%d,"text":"tea"}`, i)), Metadata: map[string]string{"user": "Ada", "Authorization": "Bearer x"}})
			if a.Error != "" {
				t.Fatal(a.Error)
			}
		}
		seen := make(map[string]int)
		for range 2 * count {
			one := next(t, "an event", events)
			seen[fmt.Sprint(one.handler, " ", one.in.A)]++
			if one.in.Text != "tea" || one.metadata["user"] != "Ada" || one.key != "Bearer x" || len(one.metadata) != 1 {
				t.Errorf("a handler got %+v", one)
			}
		}
		for i := range count {
			if seen[fmt.Sprint(audit, " ", i)] != 1 || seen[fmt.Sprint(mail, " ", i)] != 1 {
				t.Errorf("the groups got %v", seen)
				break
			}
		}
		none(t, "events", events)
	})
}

func TestSubscribersOfGoMicroGetEvents(t *testing.T) {
	through(t, func(t *testing.T, version string, arguments []string, config func() micro.Config) {
		all, one, proto := ownName("paid"+version), ownName("packed"+version), ownName("sent"+version)+".proto"
		arguments = append(arguments, fmt.Sprintf("-subscribe=%s,%s=mail,%s", all, one, proto))
		peers := []*peer{startPeer(t, version, arguments...), startPeer(t, version, arguments...)}
		c, inProto := config(), config()
		c.Publish, inProto.Publish, inProto.Codec = []string{all, one}, []string{proto}, protobuf.Codec
		n, p := node(t, nil, c), node(t, nil, inProto)
		counts := make(map[string]int)
		collect := func(done func() bool) {
			for !done() {
				var e *event
				at := 0
				select {
				case e = <-peers[0].events:
				case e = <-peers[1].events:
					at = 1
				case <-time.After(waitLimit):
					t.Fatalf("no more events came after %v", counts)
				}
				counts[fmt.Sprint(e.Topic, at)]++
				var in labIn
				if json.Unmarshal(e.In, &in); in.A > 0 {
					counts[fmt.Sprint(e.Topic, at, " ", in.A)]++
					if in.Text != "tea" || e.Metadata["User"] != "Ada" || e.Metadata["Micro-Topic"] != e.Topic {
						t.Errorf("a subscriber got %+v", e)
					}
				}
			}
		}
		emit := func(on *sabir.Node, topic string, payload any) {
			t.Helper()
			if err := sabir.Emit(sabir.WithMetadata(t.Context(), "user", "Ada"), on, topic, payload); err != nil {
				t.Fatal(err)
			}
		}
		// Subscribers come into the registry one after the other: events without a number are sent until all are there.
		waitFor(t, "the subscribers", func() bool {
			emit(n, all, labIn{})
			emit(n, one, labIn{})
			emit(p, proto, value{"Ada"})
			collect(func() bool { return len(peers[0].events)+len(peers[1].events) == 0 })
			return counts[all+"0"] > 0 && counts[all+"1"] > 0 && counts[one+"0"]+counts[one+"1"] > 0 && counts[proto+"0"] > 0 && counts[proto+"1"] > 0
		})
		const count = 10
		for i := range count {
			emit(n, all, labIn{A: i + 1, Text: "tea"})
			emit(n, one, labIn{A: i + 1, Text: "tea"})
		}
		collect(func() bool {
			sum := 0
			for i := range count {
				for at := range peers {
					sum += counts[fmt.Sprint(all, at, " ", i+1)] + counts[fmt.Sprint(one, at, " ", i+1)]
				}
			}
			return sum >= 3*count
		})
		for i := range count {
			a, b, c := counts[fmt.Sprint(all, 0, " ", i+1)], counts[fmt.Sprint(all, 1, " ", i+1)], counts[fmt.Sprint(one, 0, " ", i+1)]+counts[fmt.Sprint(one, 1, " ", i+1)]
			if a != 1 || b != 1 || c != 1 {
				t.Errorf("event %d came %d and %d times to subscribers without a queue, and %d times to those of one", i+1, a, b, c)
			}
		}
	})
}

func TestPatternsThatTheHTTPBrokerCannotSubscribeToAreInTheLog(t *testing.T) {
	var log lines
	start(t, slog.NewTextHandler(&log, nil), []sabir.Servable{listener("audit", make(chan got, 1), "order.*")}, micro.Config{MDNS: true, Listen: ":0", Expose: []string{"audit.*"}})
	contains(t, "the log", log.String(), "has no patterns", "pattern=order.*")
}

func TestMalformedEventsAreRefused(t *testing.T) {
	events := make(chan got, 10)
	_, at := serving(t, []sabir.Servable{listener("audit", events, "order.placed")}, micro.Config{MDNS: true, Expose: []string{"audit.*"}})
	for what, body := range map[string]string{
		"no JSON": "hello", "nothing": "", "no body in base64": `{"Header":{"Micro-Topic":"order.placed"},"Body":"%%"}`, "no header": `{"Body":""}`, "null": "null",
		"a topic of nobody": `{"Header":{"Micro-Topic":"order.paid"},"Body":""}`, "too deep": `{"Header":` + strings.Repeat("[", 100_000),
		"large headers": `{"Header":{"X":"` + strings.Repeat("x", 1<<20) + `"},"Body":""}`,
	} {
		response, err := http.Post("http://"+at+"/?id=order.placed-audit-0", "application/json", strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		text, _ := io.ReadAll(response.Body)
		response.Body.Close()
		if response.StatusCode != 500 {
			t.Errorf("%s: %s %s", what, response.Status, text)
		}
	}
	if status, h := raw(t, at, "POST /?id=x HTTP/1.1\r\nHost: x\r\nContent-Length: 1000000000\r\n\r\n"); status != 500 {
		t.Errorf("a length of 1 GB: %d %v", status, h)
	}
	none(t, "events", events)
}
