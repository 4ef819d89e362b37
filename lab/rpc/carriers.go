package main

import (
	"slices"

	// The transports that the rows of Sabir are about.
	_ "github.com/sabir-go/sabir/transport/amqp"
	_ "github.com/sabir-go/sabir/transport/grpc"
	_ "github.com/sabir-go/sabir/transport/h2"
	_ "github.com/sabir-go/sabir/transport/http"
	_ "github.com/sabir-go/sabir/transport/kcp"
	_ "github.com/sabir-go/sabir/transport/mqtt"
	_ "github.com/sabir-go/sabir/transport/nats"
	_ "github.com/sabir-go/sabir/transport/quic"
	_ "github.com/sabir-go/sabir/transport/redis"
	_ "github.com/sabir-go/sabir/transport/utp"

	"github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/brokers"
)

// carrier is what links go over, with everything that is measured on it: Sabir, the peers on the same carrier, and the raw
// batched echo of the same library. All rows of one carrier with one number of callers are interleaved.
type carrier struct {
	name   string
	broker brokers.Kind // which is started for it, as a process; "" is none
	rows   []row
}

// row is a contender with the message it carries. The first row of Sabir in a mode is what others in that mode are compared
// with, and the raw batched echo with that of the 677-byte message.
type row struct {
	contender
	mode mode
	ours bool
	want float64 // how many times the row's calls per second Sabir must make; 0 is no demand
}

// tinyBytes is the size of the small message: 10 bytes of data with Sabir and 10 bytes of JSON with the peers of Node.
const tinyBytes = 10

// rawWant is what Sabir must reach of the raw batched echo.
const rawWant = 0.5

func carriers() []carrier {
	streamed := func(name, scheme string, s streams, rows ...row) carrier {
		at := func(address string) string { return scheme + "://" + address }
		all := append(sabirRows(name, "", s.network, at, at), rows...)
		limit := limitOf(s.batched("raw batched echo, " + name))
		if name == "tcp" {
			limit.want = 0 // there is no library in between: this is what the socket takes
		}
		return carrier{name: name, rows: append(all, limit)}
	}
	brokered := func(name string, kind brokers.Kind, limit contender, rows ...row) carrier {
		at := func(address string) string { return address }
		all := append(sabirRows(name, kind, "", at, at), rows...)
		return carrier{name: name, broker: kind, rows: append(all, limitOf(limit))}
	}
	return []carrier{
		streamed("tcp", "tcp", tcpStreams, slices.Concat(nodeRows("moleculer", "tcp", "", 2), nodeRows("cote", "tcp", "", 2))...),
		streamed("quic", "quic", quicStreams, peer(quicPerCall(), 2),
			peer(quicStreams.bare("quic-go, kept streams", "1 conn, a stream per caller, TLS 1.3"), 2)),
		streamed("kcp", "kcp", kcpStreams, peer(kcpStreams.bare("kcp-go, bare", "a session per caller, tuned for speed"), 2)),
		streamed("utp", "utp", utpStreams, peer(utpStreams.bare("anacrolix/utp, bare", "1 socket, a conn per caller"), 2)),
		streamed("grpc", "grpc", grpcBytes, peer(grpcKept("grpc-go bidi", "4 conns, a kept stream per caller", 4), 2),
			peer(grpcKept("grpc-go bidi, 1 conn", "1 conn, a kept stream per caller", 1), 2)),
		streamed("grpc+tcp", "grpc+tcp", http2Bodies, peer(grpcKept("grpc-go bidi, as on grpc", "4 conns, a kept stream per caller", 4), 2),
			peer(http2Call(), 2)),
		streamed("http", "http", webSockets, peer(webSockets.bare("gobwas/ws, bare", "a WebSocket per caller"), 0)),
		brokered("nats", brokers.NATS, bus(natsBus).batched("raw batched echo, nats", brokers.NATS, "nats.go, 1 conn a side, 25 messages a message"),
			slices.Concat([]row{
				peer(overNATS("nats.go request-reply", natsRespond), 2),
				peer(overNATS("nats.go micro API", natsMicro), 2),
			}, nodeRows("moleculer", "nats", brokers.NATS, 0))...),
		embeddedNATS(),
		brokered("redis", brokers.Redis, bus(redisBus).batched("raw batched echo, redis", brokers.Redis, "rueidis, 2 conns a side, 25 messages a message"),
			nodeRows("moleculer", "redis", brokers.Redis, 4)...),
		brokered("mqtt", brokers.Mosquitto, bus(mqttBus).batched("raw batched echo, mqtt", brokers.Mosquitto, "paho.golang, QoS 0, 1 conn a side, 25 messages a message"),
			nodeRows("moleculer", "mqtt", brokers.Mosquitto, 4)...),
		brokered("amqp", brokers.RabbitMQ, bus(amqpBus).batched("raw batched echo, amqp", brokers.RabbitMQ, "amqp091-go, 1 conn a side, no acks, 25 messages a message"),
			peer(goMicroCalls(), 3), peer(amqpCalls(), 0)),
	}
}

// carried are the contenders of all carriers.
func carried() []contender {
	var all []contender
	for _, c := range carriers() {
		for _, r := range c.rows {
			all = append(all, r.contender)
		}
	}
	return all
}

func peer(c contender, want float64) row { return row{contender: c, mode: c.modes[0], want: want} }

func limitOf(c contender) row { return row{contender: c, mode: batchMode, want: rawWant} }

// sabirRows are Sabir's own codec, protobuf for those who want the same codec on both sides, and the small message where a
// peer carries that.
func sabirRows(name string, kind brokers.Kind, network string, server, client func(string) string) []row {
	c := contender{name: "sabir " + name, codec: "native", settings: "1 link, default handlers", network: network, modes: []mode{callMode, echoMode},
		broker: kind, quick: true}
	pb := c
	pb.name, pb.codec, pb.modes = c.name+", protobuf", "google protobuf", []mode{callMode}
	c, pb = sabirAt(c, "hello.say", server, client), sabirAt(pb, "hello.sayProto", server, client)
	rows := []row{{contender: c, mode: callMode, ours: true}, {contender: pb, mode: callMode, ours: true}}
	if slices.Contains([]string{"tcp", "nats", "redis", "mqtt"}, name) {
		rows = append(rows, row{contender: c, mode: echoMode, ours: true})
	}
	return rows
}

// nodeRows are a peer of Node with both messages.
func nodeRows(library, over string, kind brokers.Kind, want float64) []row {
	c := contender{name: library + " " + over, codec: "JSON", settings: "Node, two processes, logs errors only", network: "tcp",
		modes: []mode{callMode, echoMode}, broker: kind, node: true}
	return []row{{contender: c, mode: callMode, want: want}, {contender: c, mode: echoMode, want: want}}
}

func overNATS(name string, respond func(*nats.Conn) error) contender {
	return contender{name: name, codec: "google protobuf", settings: "1 conn a side", broker: brokers.NATS, modes: []mode{callMode},
		serve: natsServer(joinNATS, respond), dial: dialNATS}
}

// embeddedNATS has the broker in the server's process. Its client is not in that process.
func embeddedNATS() carrier {
	embedded := func(address string) string { return "nats://embedded:" + portOf(address) }
	joined := func(address string) string { return "nats://" + address }
	const settings = "broker in the server's process, 1 client conn"
	inServer := func(name string, respond func(*nats.Conn) error) contender {
		return contender{name: name, codec: "google protobuf", settings: settings, network: "tcp", modes: []mode{callMode},
			serve: natsServer(embedNATS, respond), dial: dialNATS}
	}
	rows := sabirRows("nats embedded", "", "tcp", embedded, joined)
	for i := range rows {
		rows[i].settings += ", broker in the server's process"
	}
	both := rows[0].contender
	both.name, both.settings = "sabir nats embedded in both", "1 link, default handlers, a broker in each process"
	rows = append(rows, row{contender: sabirAt(both, "hello.say", embedded, embedded), mode: callMode, ours: true})
	return carrier{name: "nats embedded", rows: append(rows,
		peer(inServer("nats.go request-reply, embedded", natsRespond), 2),
		peer(inServer("nats.go micro API, embedded", natsMicro), 2),
		limitOf(embeddedBatches()))}
}
