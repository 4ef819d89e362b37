package gomicro

import "github.com/sabir-go/sabir/lab/bench"

// transports is the report's only table, with a group for each transport. Those over UDP and over brokers are tables of their own:
// all rows of a table are open at the same time, and these use the processor, or end their connections, while others are measured.
func transports() []bench.Table {
	about := aboutMessage + "Server and client are two processes on loopback, a broker is a third, whose CPU time and memory count; in the group " +
		"*memory* both are one process. *Raw batched echo* is the same library alone: 25 requests as one write or one message, echoed as one, as " +
		"many messages under way as there are callers; its latencies are those of a batch. Not comparable: Sabir's own codec carries a plain Go " +
		"struct, most others google protobuf (*Sabir, protobuf* has the same codec as they); *bare* rows have a connection, session or stream " +
		"for each caller; Sabir's HTTP transport is a WebSocket; a node that calls itself hands over Go values."
	return []bench.Table{
		{Name: "transports", Title: "Transports, 100 callers", About: about, Columns: figures(), Duration: duration, Rows: rows(streamGroups()...)},
		{Name: "transports-udp", Title: "Transports over UDP, 100 callers", About: about, Columns: figures(), Duration: duration,
			Rows: rows(datagramGroups()...)},
		{Name: "transports-broker", Title: "Transports over brokers, 100 callers", About: about, Columns: figures(), Duration: duration,
			Rows: rows(brokerGroups()...)},
	}
}

// at is a group of transports.
func at(name string) order { return order{group: name, work: calling, callers: 100} }

func streamGroups() []group {
	return []group{
		groupOf(at("HTTP"),
			entry{name: "Sabir", contender: "sabir http"},
			entry{name: "Sabir, protobuf", contender: "sabir http, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, http",
				published: "664 TPS, mean 148.780 ms, median 113.004 ms, p90 302.865 ms, p99.9 396 ms; 34 of 100 000 replies were lost"},
			entry{name: "go-micro 5", contender: "go-micro 5, http"},
			entry{name: "go-micro 6", missing: missingV6},
			entry{name: "connect-go", contender: "connect-go, HTTP/1.1"},
			entry{name: "net/http", contender: "net/http, HTTP/1.1"},
			entry{name: "fasthttp", contender: "fasthttp"},
			entry{name: "gobwas/ws, bare", contender: "gobwas/ws, bare"},
			entry{name: "raw batched echo, gobwas/ws", contender: "raw batched echo, http"},
			entry{name: "raw TCP echo", contender: "raw TCP echo"}),
		groupOf(at("TCP"),
			entry{name: "Sabir", contender: "sabir tcp"},
			entry{name: "Sabir, protobuf", contender: "sabir tcp, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, tcp", published: publishedTCP},
			entry{name: "arpc", contender: "arpc"},
			entry{name: "kitex, mux", contender: "kitex, mux"},
			entry{name: "rpcx", contender: "rpcx"},
			entry{name: "net/rpc", contender: "net/rpc"},
			entry{name: "raw batched echo", contender: "raw batched echo, tcp"},
			entry{name: "raw TCP echo", contender: "raw TCP echo"}),
		groupOf(at("gRPC"),
			entry{name: "Sabir", contender: "sabir grpc"},
			entry{name: "Sabir, protobuf", contender: "sabir grpc, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, grpc",
				published: "30 102 TPS, mean 3.158 ms, median 2.572 ms, p90 5.201 ms, p99.9 20 ms"},
			entry{name: "go-micro 1, transport/grpc", contender: "go-micro 1, transport/grpc"},
			entry{name: "grpc-go, unary", contender: "grpc-go"},
			entry{name: "grpc-go, bidi stream", contender: "grpc-go bidi, 4 conns"},
			entry{name: "grpc-go, bidi stream, 1 connection", contender: "grpc-go bidi, 1 conn"},
			entry{name: "raw batched echo, grpc-go", contender: "raw batched echo, grpc"}),
		groupOf(at("gRPC-TCP"),
			entry{name: "Sabir", contender: "sabir grpc+tcp"},
			entry{name: "Sabir, protobuf", contender: "sabir grpc+tcp, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, grpc+tcp",
				published: "30 911 TPS, mean 3.064 ms, median 2.562 ms, p90 4.871 ms, p99.9 19 ms"},
			entry{name: "grpc-go, bidi stream", contender: "grpc-go bidi, 4 conns"},
			entry{name: "connect-go, h2c", contender: "connect-go, h2c"},
			entry{name: "net/http, h2c", contender: "net/http, h2c"},
			entry{name: "raw batched echo, net/http", contender: "raw batched echo, grpc+tcp"}),
		groupOf(at("unix"),
			entry{name: "Sabir", contender: "sabir unix"},
			entry{name: "Sabir, protobuf", contender: "sabir unix, protobuf"},
			entry{name: "Sabir, inline", contender: "sabir unix, inline"},
			entry{name: "Sabir, protobuf, inline", contender: "sabir unix, protobuf, inline"},
			entry{name: "grpc-go", contender: "grpc-go, unix"},
			entry{name: "net/rpc", contender: "net/rpc, unix"},
			entry{name: "raw batched echo", contender: "raw batched echo, unix"},
			entry{name: "bare Go mux", contender: "bare Go mux, unix"},
			entry{name: "raw unix echo", contender: "raw unix echo"}),
		groupOf(at("memory"),
			entry{name: "Sabir", contender: "sabir mem"},
			entry{name: "Sabir, protobuf", contender: "sabir mem, protobuf"},
			entry{name: "Sabir, one node", contender: "sabir, one node"},
			entry{name: "go-micro 1", contender: "go-micro 1, memory"},
			entry{name: "go-micro 5", contender: "go-micro 5, memory"},
			entry{name: "grpc-go, bufconn", contender: "grpc-go, bufconn"},
			entry{name: "function call", contender: "function call"}),
	}
}

func datagramGroups() []group {
	return []group{
		groupOf(at("QUIC"),
			entry{name: "Sabir", contender: "sabir quic"},
			entry{name: "Sabir, protobuf", contender: "sabir quic, protobuf"},
			entry{name: "go-micro 1", missing: "the QUIC library that go-micro 1.8.3 links ends the program at its start with today's Go",
				published: "not measured: its QUIC package changed too often"},
			entry{name: "quic-go, stream per call", contender: "quic-go, stream per call"},
			entry{name: "quic-go, kept streams", contender: "quic-go, kept streams"},
			entry{name: "raw batched echo, quic-go", contender: "raw batched echo, quic"}),
		groupOf(at("KCP"),
			entry{name: "Sabir", contender: "sabir kcp"},
			entry{name: "Sabir, protobuf", contender: "sabir kcp, protobuf"},
			entry{name: "kcp-go, bare", contender: "kcp-go, bare"},
			entry{name: "raw batched echo, kcp-go", contender: "raw batched echo, kcp"}),
		groupOf(at("uTP"),
			entry{name: "Sabir", contender: "sabir utp"},
			entry{name: "Sabir, protobuf", contender: "sabir utp, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, utp",
				published: "14 388 TPS, mean 6.757 ms, median 6.583 ms, p90 8.402 ms, p99.9 24 ms"},
			entry{name: "anacrolix/utp, bare", contender: "anacrolix/utp, bare"},
			entry{name: "raw batched echo, anacrolix/utp", contender: "raw batched echo, utp"}),
	}
}

func brokerGroups() []group {
	return []group{
		groupOf(at("NATS"),
			entry{name: "Sabir", contender: "sabir nats"},
			entry{name: "Sabir, protobuf", contender: "sabir nats, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, nats",
				published: "4 865 TPS, mean 20.113 ms, median 18.007 ms, p90 28.260 ms, p99.9 596 ms; with 4 GB in place of 2 GB for the broker 6 773 TPS, " +
					"mean 14.364 ms, median 13.280 ms, p90 21.289 ms, p99.9 59 ms"},
			entry{name: "nats.go, request-reply", contender: "nats.go request-reply"},
			entry{name: "nats.go, micro API", contender: "nats.go micro API"},
			entry{name: "raw batched echo, nats.go", contender: "raw batched echo, nats"}),
		groupOf(at("NATS, embedded"),
			entry{name: "Sabir", contender: "sabir nats embedded"},
			entry{name: "Sabir, protobuf", contender: "sabir nats embedded, protobuf"},
			entry{name: "Sabir, a broker in each process", contender: "sabir nats embedded in both"},
			entry{name: "nats.go, request-reply", contender: "nats.go request-reply, embedded"},
			entry{name: "nats.go, micro API", contender: "nats.go micro API, embedded"},
			entry{name: "raw batched echo, nats.go", contender: "raw batched echo, nats embedded"}),
		groupOf(at("RabbitMQ"),
			entry{name: "Sabir", contender: "sabir amqp"},
			entry{name: "Sabir, protobuf", contender: "sabir amqp, protobuf"},
			entry{name: "go-micro 1", contender: "go-micro 1, rabbitmq",
				published: "700 TPS, mean 127.019 ms, median 22.259 ms, p90 32.702 ms, p99.9 5004 ms; 2092 of 100 000 replies were lost"},
			entry{name: "amqp091-go, request-reply", contender: "amqp091-go request-reply"},
			entry{name: "raw batched echo, amqp091-go", contender: "raw batched echo, amqp"}),
		groupOf(at("Redis"),
			entry{name: "Sabir", contender: "sabir redis"},
			entry{name: "Sabir, protobuf", contender: "sabir redis, protobuf"},
			entry{name: "raw batched echo, rueidis", contender: "raw batched echo, redis"}),
		groupOf(at("MQTT"),
			entry{name: "Sabir", contender: "sabir mqtt"},
			entry{name: "Sabir, protobuf", contender: "sabir mqtt, protobuf"},
			entry{name: "raw batched echo, paho.golang", contender: "raw batched echo, mqtt"}),
	}
}

const publishedTCP = "45 310 TPS, mean 2.047 ms, median 1.485 ms, p90 3.646 ms, p99.9 23 ms"

const missingV6 = "the module proxy serves neither its list of versions nor 6.0.0"
