package moleculer_test

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/internal/brokers"
)

// kinds has a field of each kind that serializers treat differently.
type kinds struct {
	Data []byte    `json:"data"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
	List []any     `json:"list"`
}

func kindsService() *sabir.Service {
	s := sabir.NewService("kinds")
	sabir.Handle(s, "typed", func(_ context.Context, in kinds) (kinds, error) { return in, nil })
	sabir.Handle(s, "any", func(_ context.Context, in any) (any, error) { return in, nil })
	sabir.Handle(s, "raw", func(_ context.Context, in json.RawMessage) (json.RawMessage, error) { return in, nil })
	return s
}

func TestSerializersKeepBytesAndTimes(t *testing.T) {
	brokers.Long(t)
	for _, c := range []struct {
		serializer string
		codec      codec.Codec
		data, date string // what bytes and a time of Go are in JavaScript
	}{
		{"JSON", nil, "map[data:[1 2 255] type:Buffer]", "1970-01-02T00:00:00Z"},
		{"MsgPack", msgpack.Codec, "[1 2 255]", "Date 86400000"},
		{"Notepack", msgpack.Codec, "[1 2 255]", "Date 86400000"},
		{"CBOR", cbor.Codec, "[1 2 255]", "Date 86400000"},
	} {
		t.Run(c.serializer, func(t *testing.T) {
			t.Parallel()
			a := newPlace(t)
			a.options["serializer"] = c.serializer
			if c.codec != nil {
				a.bridge.Serializer = c.codec
			}
			js := a.peer("5", "js")
			n := a.node("go", []sabir.Servable{kindsService(), streams(), heard("mail", "user.*", make(chan string, 1)), orders()}, moleculer.Config{Expose: []string{"**"}})
			js.must(nil, "wait", "kinds", "v3.orders")
			if err := n.WaitFor(t.Context(), "v2.js"); err != nil {
				t.Fatal(err)
			}
			const list = "[1 2.5 <nil> true -7 1.099511627776e+12]"
			var got map[string]any
			var holes []any
			if err := js.do(&got, "kinds", "kinds.typed"); err != nil || fmt.Sprint(got) != "map[at:"+c.date+" data:"+c.data+" list:"+list+" text:x]" {
				t.Errorf("a struct: %v, %v", got, err)
			}
			if err := js.do(&got, "kinds", "kinds.any"); err != nil || fmt.Sprint(got["list"]) != list || c.codec != nil && (fmt.Sprint(got["data"]) != "[1 2 255]" || got["at"] != c.date) {
				t.Errorf("an any: %v, %v", got, err)
			}
			if err := js.do(&got, "kinds", "kinds.raw"); err != nil || fmt.Sprint(got["list"]) != list || got["text"] != "x" {
				t.Errorf("a document: %v, %v", got, err)
			}
			in := kinds{[]byte{0, 7, 255}, time.UnixMilli(86400123).UTC(), "ä", []any{1.5}}
			back, err := sabir.Call[kinds](t.Context(), n, "js.echo", in)
			if err != nil || fmt.Sprint(back) != fmt.Sprint(in) {
				t.Errorf("%v came back as %v, %v", in, back, err)
			}
			text, err := sabir.Call[json.RawMessage](t.Context(), n, "js.echo", json.RawMessage(`{"a":[1,"x"]}`))
			if err != nil || string(text) != `{"a":[1,"x"]}` {
				t.Errorf("a document came back as %s, %v", text, err)
			}
			// JavaScript's undefined in a list is null; the encoder of MsgPack refuses it there.
			switch err := js.do(&holes, "holes", "kinds.any"); {
			case c.serializer == "MsgPack":
				if err == nil || !strings.Contains(err.Error(), "undefined is not encodable") {
					t.Errorf("undefined in a list: %v", err)
				}
			case err != nil || fmt.Sprint(holes) != "[1 <nil> 3]":
				t.Errorf("undefined in a list: %v, %v", holes, err)
			}
			// Meta, errors, streams and INFO are in the serializer too.
			out, err := js.call("v3.orders.info", nil, map[string]any{"meta": map[string]any{"user": "Ada"}, "headers": map[string]any{"x": 1}, "requestID": "r-1"})
			var info map[string]any
			if err == nil {
				err = json.Unmarshal(out.Result, &info)
			}
			if err != nil || fmt.Sprint(info) != "map[caller: headers:map[x:1] level:1 limited:false meta:map[user:Ada] requestID:r-1]" {
				t.Errorf("a handler got %v, %v", info, err)
			}
			if _, err := js.call("v3.orders.create", map[string]any{}); err == nil || err.(*jsError).Name != "ValidationError" {
				t.Errorf("an error is %v", err)
			}
			if _, err := sabir.Call[any](t.Context(), n, "js.fail", map[string]any{"class": "MoleculerClientError", "message": "m", "code": 409, "type": "T"}); sabir.AsError(err).Name != "T" {
				t.Errorf("an error is %v", err)
			}
			var streamed collected
			if err := js.do(&streamed, "stream", "streams.upper", []string{"a", "b"}, nil); err != nil || streamed.Bytes != 2 || streamed.Sum != 131 || streamed.Object {
				t.Errorf("a stream: %+v, %v", streamed, err)
			}
			sum := 0
			for v, err := range sabir.CallStream[number](t.Context(), n, "js.range", map[string]int{"n": 10}) {
				if err != nil {
					t.Fatal(err)
				}
				sum += v.I
			}
			if sum != 45 {
				t.Errorf("the sum is %d", sum)
			}
			if health, err := js.call("$node.health", nil, map[string]any{"nodeID": "go"}); err != nil || len(health.Result) < 2 {
				t.Errorf("health: %s, %v", health.Result, err)
			}
		})
	}
}

// portOf is the port of a broker's URL.
func portOf(address string) int {
	_, text, _ := net.SplitHostPort(address[strings.Index(address, "//")+2:])
	port, _ := strconv.Atoi(text)
	return port
}

func TestAnUnknownSerializerIsRefused(t *testing.T) {
	n := sabir.NewNode(moleculer.Bridge(moleculer.Config{Address: "nats://127.0.0.1:1", Serializer: unknownCodec{}}))
	if err := n.Start(t.Context()); err == nil {
		t.Error("the node started")
	}
}

type unknownCodec struct{ codec.Codec }

func (unknownCodec) Name() string { return "unknown" }

// TestTransportersBesideNATS has the calls, events and streams of one pair of nodes over each other broker.
func TestTransportersBesideNATS(t *testing.T) {
	brokers.Long(t)
	for _, c := range []struct {
		name string
		kind brokers.Kind
		of   func(url string) any
	}{
		{"Redis", brokers.Redis, func(url string) any { return url }},
		{"MQTT", brokers.Mosquitto, func(url string) any { return url }},
		{"MQTT with slashes", brokers.Mosquitto, func(url string) any {
			return map[string]any{"type": "MQTT", "options": map[string]any{"host": "127.0.0.1", "port": portOf(url), "topicSeparator": "/"}}
		}},
		{"AMQP", brokers.RabbitMQ, func(url string) any { return url }},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			a := newPlaceAt(t, c.kind)
			a.options["transporter"] = c.of(a.broker.URL())
			if strings.Contains(c.name, "slashes") {
				a.bridge.TopicSeparator = "/"
			}
			js := a.peer("5", "js")
			got := make(chan string, 10)
			n := a.node("go", []sabir.Servable{orders(), streams(), heard("mail", "user.*", got)}, moleculer.Config{Expose: []string{"**"}})
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
			js.must(nil, "emit", "user.created", "Ada")
			if text := next(t, got); text != "mail user.created Ada " {
				t.Errorf("an event: %q", text)
			}
			if err := sabir.Emit(t.Context(), n, "news.small", 7); err != nil {
				t.Fatal(err)
			}
			js.event()
			var streamed collected
			if err := js.do(&streamed, "stream", "streams.double", []number{{1}, {2}}, nil); err != nil || fmt.Sprintf("%s", streamed.Values) != `[{"i":2} {"i":4}]` {
				t.Errorf("a stream: %+v, %v", streamed, err)
			}
			if c.kind == brokers.RabbitMQ { // which reports that a process was killed
				if err := js.process.Process.Signal(syscall.SIGKILL); err != nil {
					t.Fatal(err)
				}
			} else {
				js.must(nil, "stop")
			}
			begun := time.Now()
			waitFor(t, "the goodbye", func() bool { return len(n.Nodes()) == 1 })
			if took := time.Since(begun); took > 15*time.Second {
				t.Errorf("the end of a node was noticed after %v", took)
			}
		})
	}
}
