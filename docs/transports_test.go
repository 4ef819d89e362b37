package docs

import (
	"context"
	"crypto/tls"
	"errors"
	"log/slog"
	"net"
	"testing"

	"go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/admin"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/cbor"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/codec/msgpack"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/transport/tcp"
)

// The code of the guides to transports, codecs and telemetry.

// doc: tagged
type TaggedOrder struct {
	ID    string `json:"id"`                            // "id" in every format
	Lines []Line `json:"lines" protobuf:"3" thrift:"3"` // field 3 where fields have numbers
	Note  string `json:"note,omitempty"`                // left out of json, msgpack and cbor when empty
	Blob  []byte `json:"blob" msgpack:"b" protobuf:"4"` // "b" in MessagePack, "blob" elsewhere
	Cache string `json:"-" protobuf:"-" thrift:"-"`     // in none
}

// end

func TestCodecsOfTheGuide(t *testing.T) {
	order := TaggedOrder{ID: "o-1", Lines: []Line{{"rope"}}, Blob: []byte{1}, Cache: "no"}
	// doc: codec
	data, err := msgpack.Codec.Append(nil, order) // a value or a pointer to it: the same bytes
	if err != nil {
		t.Fatal(err)
	}
	var read TaggedOrder
	err = msgpack.Codec.Decode(data, &read) // nothing in it refers to data afterwards

	c, ok := codec.Lookup("msgpack") // the same codec, by a name that comes from a setting
	// end
	if err != nil || read.ID != "o-1" || read.Cache != "" || !ok || c.Name() != "msgpack" {
		t.Errorf("%+v, %v, %v", read, err, ok)
	}
	orders := sabir.NewService("orders")
	put := func(_ context.Context, o TaggedOrder) (TaggedOrder, error) { return o, nil }
	// doc: codecs
	node := sabir.NewNode(sabir.Codecs(msgpack.Codec, json.Codec)) // all calls, streams and events of and to this node
	joined := sabir.Join("tcp://:7700", sabir.Codecs(cbor.Codec))  // on the links of this cluster, instead
	sabir.Handle(orders, "put", put, sabir.Codecs(msgpack.Codec))  // for this action, instead: callers learn it from the node that offers it
	// end
	if node == nil || joined == nil {
		t.Error("no node")
	}
	log := slog.New(slog.DiscardHandler)
	// doc: codec-panic
	if p, ok := errors.AsType[*codec.PanicError](err); ok {
		log.Error(p.Detail(), "stack", string(p.Stack)) // what the panic said: for your log only
	}
	// end
}

func TestTheNetworkInMemoryOfTheGuide(t *testing.T) {
	// doc: mem
	network := mem.New() // or mem.Default, which is behind mem:// addresses

	network.Cut("a", "b")   // connections break with ECONNRESET, new ones with EHOSTUNREACH
	network.Stall("a", "b") // nothing gets through and nothing fails: a partition, or a process that is stopped
	network.Heal("a", "b")
	// end
}

func TestTelemetryOfTheGuide(t *testing.T) {
	users := sabir.NewService("users")
	var exporter trace.SpanExporter
	// doc: telemetry
	tel, err := telemetry.New(telemetry.Config{Prometheus: true, Traces: exporter, CallLog: slog.Default()})
	if err != nil {
		t.Fatal(err)
	}
	node := sabir.NewNode(sabir.Serve(users), sabir.Use(tel.Middleware()), admin.Serve(":9464", admin.Metrics(tel.Handler())))
	// end
	_ = node
}

func TestValuesOfTheGuide(t *testing.T) {
	exporter := tracetest.NewNoopExporter()
	// doc: values
	tel, err := telemetry.New(telemetry.Config{Traces: exporter, Values: []string{"orders.*"}, Hidden: []string{"iban"}})
	// end
	if err != nil {
		t.Fatal(err)
	}
	if err := tel.Shutdown(t.Context()); err != nil {
		t.Error(err)
	}
}

func TestStatsOfTheGuide(t *testing.T) {
	users := sabir.NewService("users")
	// doc: stats
	tel, err := telemetry.New(telemetry.Config{Metrics: true})
	if err != nil {
		t.Fatal(err)
	}
	node := sabir.NewNode(sabir.Serve(users, tel.Stats()), sabir.Use(tel.Middleware()), sabir.Join("tcp://:7700"))
	// end
	_ = node
}

func transportsOfOthers(ctx context.Context, greeter *sabir.Service, certificates *tls.Config) (net.Conn, error) {
	// doc: nats
	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("nats://127.0.0.1:4222"))
	// end
	// doc: embedded
	alone := sabir.NewNode(sabir.Serve(greeter), sabir.Join("nats://embedded"))
	// end
	// doc: quic
	quick := sabir.NewNode(sabir.Join("quic://0.0.0.0:7700", cluster.Config{TLS: certificates}))
	// end
	// doc: packet-size
	large := sabir.Join("kcp://0.0.0.0:7700", cluster.Links{PacketSize: 1472}) // transport.Config.PacketSize; 1,200 is the least
	// end
	// doc: listen
	certificates, err := tcp.Certificates("/etc/shop/node.crt", "/etc/shop/node.key", "/etc/shop/ca.crt")
	if err != nil {
		return nil, err
	}
	config := transport.Config{TLS: certificates}
	listener, err := transport.Listen(ctx, "tls://0.0.0.0:7700", config)
	if err != nil {
		return nil, err
	}
	defer listener.Close()
	conn, err := transport.Dial(ctx, "tls://shop-2.example.com:7700", config)
	// end
	_, _, _, _ = node, alone, quick, large
	return conn, err
}

func TestTheCodeOfTransportsThatNeedsOtherMachinesCompiles(t *testing.T) {
	if any(transportsOfOthers) == nil {
		t.Error("it is missing")
	}
}
