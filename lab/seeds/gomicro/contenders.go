package gomicro

import (
	"slices"

	"github.com/sabir-go/sabir/internal/brokers"
)

// Contender is one that a program of the lab can be ordered to be.
type Contender struct {
	Name     string       // the program's name for it
	Program  string       // the program's folder
	Network  string       // of its address: "tcp", "udp", "unix"; "" has both sides in one process, or a broker
	Broker   brokers.Kind // whose URL is its address
	Module   string
	Settings string

	kind kind
}

// kind is the kind of a contender: a peer, Sabir itself, or a limit.
type kind int

const (
	peer kind = iota
	ours
	limit
)

const (
	calls   = "rpc"         // the program of all but go-micro
	gomicro = "rpc/gomicro" // go-micro's
)

// Contenders returns the contenders of all tables.
func Contenders() []Contender { return slices.Concat(sabirs(), gomicros(), peers(), limits()) }

func sabirs() []Contender {
	const native, protobuf = "its own codec, 1 link", "google protobuf, 1 link"
	over := []Contender{
		{Name: "sabir tcp", Network: "tcp"},
		{Name: "sabir unix", Network: "unix"},
		{Name: "sabir tcp, key", Network: "tcp"},
		{Name: "sabir tls", Network: "tcp"},
		{Name: "sabir quic", Network: "udp"},
		{Name: "sabir kcp", Network: "udp"},
		{Name: "sabir utp", Network: "udp"},
		{Name: "sabir grpc", Network: "tcp"},
		{Name: "sabir grpc+tcp", Network: "tcp"},
		{Name: "sabir http", Network: "tcp"},
		{Name: "sabir nats", Broker: brokers.NATS},
		{Name: "sabir redis", Broker: brokers.Redis},
		{Name: "sabir mqtt", Broker: brokers.Mosquitto},
		{Name: "sabir amqp", Broker: brokers.RabbitMQ},
		{Name: "sabir mem"},
		{Name: "sabir nats embedded", Network: "tcp"},
	}
	var all []Contender
	for _, c := range over {
		c.Program, c.kind = calls, ours
		pb, inline, pbInline := c, c, c
		pb.Name, inline.Name, pbInline.Name = c.Name+", protobuf", c.Name+", inline", c.Name+", protobuf, inline"
		c.Settings, pb.Settings = native, protobuf
		inline.Settings, pbInline.Settings = native+", handlers on the goroutine that reads", protobuf+", handlers on the goroutine that reads"
		all = append(all, c, pb)
		if c.Name == "sabir tcp" || c.Name == "sabir unix" {
			all = append(all, inline, pbInline)
		}
		if c.Name == "sabir tcp" {
			borrowed := inline
			borrowed.Name, borrowed.Settings = inline.Name+", borrowed", inline.Settings+", sabir.Borrow"
			all = append(all, borrowed)
			for _, c := range []Contender{inline, pbInline} {
				c.Name, c.Settings = c.Name+", callers read", c.Settings+", cluster.Links{CallersRead: true}"
				all = append(all, c)
			}
		}
	}
	return append(all,
		Contender{Name: "sabir nats embedded in both", Program: calls, Network: "tcp", Settings: native + ", a broker in each process", kind: ours},
		Contender{Name: "sabir, one node", Program: calls, Settings: "a call within a node: no codec, no link", kind: ours})
}

func gomicros() []Contender {
	const v1, v5 = "github.com/micro/go-micro", "go-micro.dev/v5"
	const pool = "google protobuf, no registry, its pool of connections is as large as there are callers"
	const plugin = pool + ", transport of go-plugins 1.2.0"
	all := []Contender{
		{Name: "go-micro 1, http", Network: "tcp", Module: v1, Settings: pool},
		{Name: "go-micro 1, tcp", Network: "tcp", Module: v1, Settings: plugin},
		{Name: "go-micro 1, grpc", Network: "tcp", Module: v1, Settings: pool + ", its gRPC client and server"},
		{Name: "go-micro 1, grpc+tcp", Network: "tcp", Module: v1, Settings: plugin + ", which its gRPC client and server do not use"},
		{Name: "go-micro 1, transport/grpc", Network: "tcp", Module: v1, Settings: pool + ", its own client and server over its transport/grpc"},
		{Name: "go-micro 1, utp", Network: "udp", Module: v1, Settings: plugin},
		{Name: "go-micro 1, nats", Broker: brokers.NATS, Module: v1, Settings: plugin},
		{Name: "go-micro 1, rabbitmq", Broker: brokers.RabbitMQ, Module: v1, Settings: plugin},
		{Name: "go-micro 1, memory", Module: v1, Settings: pool},
		{Name: "go-micro 5, http", Network: "tcp", Module: v5, Settings: pool},
		{Name: "go-micro 5, memory", Module: v5, Settings: pool},
	}
	for i := range all {
		all[i].Program = gomicro
	}
	return all
}

func peers() []Contender {
	const grpc, arpc, kitex, rpcx, nats = "google.golang.org/grpc", "github.com/lesismal/arpc", "github.com/cloudwego/kitex",
		"github.com/smallnest/rpcx", "github.com/nats-io/nats.go"
	const protobuf = "google protobuf, "
	const generated = "vtprotobuf's generated code, "
	all := []Contender{
		{Name: "arpc, 10 conns, vtprotobuf", Network: "tcp", Module: arpc, Settings: generated + "10 connections, handlers on the goroutine that reads (its default)"},
		{Name: "grpc-go bidi, 4 conns, vtprotobuf", Network: "tcp", Module: grpc, Settings: generated + "4 connections, a stream that stays open for each caller"},
		{Name: "fasthttp, vtprotobuf", Network: "tcp", Module: "github.com/valyala/fasthttp", Settings: generated + "a connection for each caller, a POST for each call"},
		{Name: "grpc-go", Network: "tcp", Module: grpc, Settings: protobuf + "1 connection"},
		{Name: "grpc-go, unix", Network: "unix", Module: grpc, Settings: protobuf + "1 connection"},
		{Name: "grpc-go, TLS", Network: "tcp", Module: grpc, Settings: protobuf + "1 connection, TLS 1.3"},
		{Name: "grpc-go, bufconn", Module: grpc, Settings: protobuf + "1 connection of its bufconn"},
		{Name: "grpc-go bidi, 4 conns", Network: "tcp", Module: grpc, Settings: protobuf + "4 connections, a stream that stays open for each caller"},
		{Name: "grpc-go bidi, 1 conn", Network: "tcp", Module: grpc, Settings: protobuf + "1 connection, a stream that stays open for each caller"},
		{Name: "connect-go, HTTP/1.1", Network: "tcp", Module: "connectrpc.com/connect", Settings: protobuf + "a connection for each caller, compression off"},
		{Name: "connect-go, h2c", Network: "tcp", Module: "connectrpc.com/connect", Settings: protobuf + "1 connection, compression off"},
		{Name: "net/http, HTTP/1.1", Network: "tcp", Settings: protobuf + "of Go's library, a connection for each caller, a POST for each call"},
		{Name: "net/http, h2c", Network: "tcp", Settings: protobuf + "of Go's library, 1 connection, a POST for each call"},
		{Name: "net/http, HTTP/1.1 and TLS", Network: "tcp", Settings: protobuf + "of Go's library, a connection for each caller, TLS 1.3, a POST for each call"},
		{Name: "net/http, HTTP/2 and TLS", Network: "tcp", Settings: protobuf + "of Go's library, 1 connection, TLS 1.3, a POST for each call"},
		{Name: "fasthttp", Network: "tcp", Module: "github.com/valyala/fasthttp", Settings: protobuf + "a connection for each caller, a POST for each call"},
		{Name: "drpc", Network: "tcp", Module: "storj.io/drpc", Settings: protobuf + "a connection for each caller: it has one call at a time"},
		{Name: "arpc", Network: "tcp", Module: arpc, Settings: protobuf + "1 connection, handlers on the goroutine that reads (its default)"},
		{Name: "arpc, 10 conns", Network: "tcp", Module: arpc, Settings: protobuf + "10 connections, handlers on the goroutine that reads (its default)"},
		{Name: "arpc, TLS", Network: "tcp", Module: arpc, Settings: protobuf + "1 connection, TLS 1.3, handlers on the goroutine that reads (its default)"},
		{Name: "arpc, TLS, 10 conns", Network: "tcp", Module: arpc, Settings: protobuf + "10 connections, TLS 1.3, handlers on the goroutine that reads (its default)"},
		{Name: "arpc, async", Network: "tcp", Module: arpc, Settings: protobuf + "1 connection, a goroutine for each request"},
		{Name: "rpcx", Network: "tcp", Module: rpcx, Settings: protobuf + "1 connection"},
		{Name: "rpcx, 4 conns async", Network: "tcp", Module: rpcx, Settings: protobuf + "4 connections, async write"},
		{Name: "kitex, mux", Network: "tcp", Module: kitex, Settings: protobuf + "TTHeader, 1 connection"},
		{Name: "kitex, pool", Network: "tcp", Module: kitex, Settings: protobuf + "TTHeader, a connection for each call under way"},
		{Name: "net/rpc", Network: "tcp", Settings: "gob with a plain Go struct, 1 connection"},
		{Name: "net/rpc, unix", Network: "unix", Settings: "gob with a plain Go struct, 1 connection"},
		{Name: "nats.go request-reply", Broker: brokers.NATS, Module: nats, Settings: protobuf + "1 connection a side"},
		{Name: "nats.go micro API", Broker: brokers.NATS, Module: nats, Settings: protobuf + "1 connection a side"},
		{Name: "nats.go request-reply, embedded", Network: "tcp", Module: nats, Settings: protobuf + "broker in the server's process"},
		{Name: "nats.go micro API, embedded", Network: "tcp", Module: nats, Settings: protobuf + "broker in the server's process"},
		{Name: "quic-go, stream per call", Network: "udp", Module: "github.com/quic-go/quic-go", Settings: protobuf + "1 connection, TLS 1.3"},
		{Name: "quic-go, kept streams", Network: "udp", Module: "github.com/quic-go/quic-go", Settings: protobuf + "1 connection, a stream for each caller, TLS 1.3"},
		{Name: "kcp-go, bare", Network: "udp", Module: "github.com/xtaci/kcp-go/v5", Settings: protobuf + "a session for each caller, tuned for speed"},
		{Name: "anacrolix/utp, bare", Network: "udp", Module: "github.com/anacrolix/utp", Settings: protobuf + "1 socket, a connection for each caller"},
		{Name: "gobwas/ws, bare", Network: "tcp", Module: "github.com/gobwas/ws", Settings: protobuf + "a WebSocket for each caller"},
		{Name: "amqp091-go request-reply", Broker: brokers.RabbitMQ, Module: "github.com/rabbitmq/amqp091-go", Settings: protobuf + "a queue for replies, 1 connection a side, no acknowledgements"},
	}
	for i := range all {
		all[i].Program = calls
	}
	return all
}

func limits() []Contender {
	const batch, message = "no codec, 1 connection, 25 messages in each write", "no codec, 25 messages in each message"
	all := []Contender{
		{Name: "function call", Settings: "the handler as a function"},
		{Name: "raw TCP echo", Network: "tcp", Settings: "no codec, a connection for each caller"},
		{Name: "raw TLS echo", Network: "tcp", Settings: "no codec, a connection for each caller, TLS 1.3"},
		{Name: "raw TCP echo, lengths", Network: "tcp", Settings: "no codec, a connection for each caller, a length before each message"},
		{Name: "raw unix echo", Network: "unix", Settings: "no codec, a connection for each caller"},
		{Name: "raw copy", Network: "tcp", Settings: "no codec, a connection for each caller, sent back while it comes in"},
		{Name: "raw TCP push", Network: "tcp", Settings: "no codec, a connection for each stream, 64 KiB buffers"},
		{Name: "bare Go mux", Network: "tcp", Settings: "no codec, 1 connection, answered on the goroutine that reads"},
		{Name: "bare Go mux, unix", Network: "unix", Settings: "no codec, 1 connection, answered on the goroutine that reads"},
		{Name: "raw batched echo, tcp", Network: "tcp", Settings: batch},
		{Name: "raw batched echo, unix", Network: "unix", Settings: batch},
		{Name: "raw batched echo, quic", Network: "udp", Module: "github.com/quic-go/quic-go", Settings: batch},
		{Name: "raw batched echo, kcp", Network: "udp", Module: "github.com/xtaci/kcp-go/v5", Settings: batch},
		{Name: "raw batched echo, utp", Network: "udp", Module: "github.com/anacrolix/utp", Settings: batch},
		{Name: "raw batched echo, grpc", Network: "tcp", Module: "google.golang.org/grpc", Settings: message},
		{Name: "raw batched echo, grpc+tcp", Network: "tcp", Settings: batch + ", net/http"},
		{Name: "raw batched echo, http", Network: "tcp", Module: "github.com/gobwas/ws", Settings: batch},
		{Name: "raw batched echo, nats", Broker: brokers.NATS, Module: "github.com/nats-io/nats.go", Settings: message},
		{Name: "raw batched echo, nats embedded", Network: "tcp", Module: "github.com/nats-io/nats.go", Settings: message},
		{Name: "raw batched echo, redis", Broker: brokers.Redis, Module: "github.com/redis/rueidis", Settings: message},
		{Name: "raw batched echo, mqtt", Broker: brokers.Mosquitto, Module: "github.com/eclipse/paho.golang", Settings: message},
		{Name: "raw batched echo, amqp", Broker: brokers.RabbitMQ, Module: "github.com/rabbitmq/amqp091-go", Settings: message},
	}
	for i := range all {
		all[i].Program, all[i].kind = calls, limit
	}
	return all
}
