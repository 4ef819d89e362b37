package main

import (
	"net"

	"github.com/nats-io/nats.go"

	"github.com/sabir-go/sabir/lab/rpc/work"
)

// natsBusBy is nats.go alone.
func natsBusBy(connect func(string) (*nats.Conn, func(), error)) bus {
	return func(address, subject string, deliver func([]byte)) (func(string, []byte) error, func(), error) {
		conn, stop, err := connect(address)
		if err != nil {
			return nil, nil, err
		}
		if _, err = conn.Subscribe(subject, func(m *nats.Msg) { deliver(m.Data) }); err == nil {
			err = conn.Flush()
		}
		if err != nil {
			stop()
			return nil, nil, err
		}
		return conn.Publish, stop, nil
	}
}

// embeddedBatches is the raw batched echo with the broker in the server's process.
func embeddedBatches() work.Contender {
	c := natsBusBy(joinNATS).batched("raw batched echo, nats embedded")
	c.Serve = natsBusBy(embedNATS).batched("").Serve
	return c
}

func portOf(address string) string {
	_, port, _ := net.SplitHostPort(address)
	return port
}
