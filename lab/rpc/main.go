// Command rpc makes calls from one process to another by Sabir and by the RPC libraries of Go that it is compared with, each as
// the lab orders it; see package work.
package main

import (
	"slices"

	"github.com/sabir-go/sabir/lab/bus"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

func main() { work.Main(contenders()) }

// contenders returns all contenders of this program.
func contenders() []work.Contender {
	return slices.Concat(rawContenders(), muxContenders(), functionContenders(), netrpcContenders(), grpcContenders(),
		connectContenders(), httpContenders(), drpcContenders(), arpcContenders(), rpcxContenders(), kitexContenders(),
		natsContenders(), brokerContenders(), streamContenders(), sabirContenders())
}

// streamContenders are the libraries that carry bytes, alone.
func streamContenders() []work.Contender {
	return []work.Contender{
		quicPerCall(), quicStreams.bare("quic-go, kept streams"), kcpStreams.bare("kcp-go, bare"), utpStreams.bare("anacrolix/utp, bare"),
		webSockets.bare("gobwas/ws, bare"),
		tcpStreams.batched("raw batched echo, tcp"), unixStreams.batched("raw batched echo, unix"),
		quicStreams.batched("raw batched echo, quic"), kcpStreams.batched("raw batched echo, kcp"),
		utpStreams.batched("raw batched echo, utp"), grpcBytes.batched("raw batched echo, grpc"),
		http2Bodies.batched("raw batched echo, grpc+tcp"), webSockets.batched("raw batched echo, http"),
	}
}

// brokerContenders are the clients of brokers, alone; those of NATS are natsContenders.
func brokerContenders() []work.Contender {
	return []work.Contender{
		amqpCalls(), batched("raw batched echo, amqp", bus.AMQP), batched("raw batched echo, redis", bus.Redis),
		batched("raw batched echo, mqtt", bus.MQTT),
	}
}
