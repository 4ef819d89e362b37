package main

import (
	"net"

	"github.com/sabir-go/sabir/lab/bus"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// embeddedBatches is the raw batched echo with the broker in the server's process.
func embeddedBatches() work.Contender {
	c := batched("raw batched echo, nats embedded", bus.NATS)
	c.Serve = batched("", bus.NATSBy(embedNATS)).Serve
	return c
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
