package main

import (
	"context"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp" // the transports that rows are about
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/mem"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

const (
	sabirTimeout = 15 * time.Second // for the server's service to be known
	stopTimeout  = 2 * time.Second
)

// Payload is the input and the answer of the echo.
type Payload struct{ Data []byte }

func serveSabir(address string, s settings) (func(), error) {
	var options []sabir.ServiceOption
	if s.Tracking {
		options = append(options, sabir.OnStop(func(context.Context) error { return nil }))
	}
	service := sabir.NewService("echo", options...)
	sabir.Handle(service, "reply", func(_ context.Context, in Payload) (Payload, error) { return in, nil })
	_, stop, err := join("server", address, s, sabir.Serve(service))
	return stop, err
}

func dialSabir(address string, s settings, callers int) ([]echo, func(), error) {
	node, stop, err := join("client", address, s)
	if err != nil {
		return nil, nil, err
	}
	ctx, cancel := context.WithTimeout(context.Background(), sabirTimeout)
	defer cancel()
	if err := node.WaitFor(ctx, "echo"); err != nil {
		stop()
		return nil, nil, err
	}
	reply := sabir.Bind[Payload, Payload](node, "echo.reply")
	echoes := make([]echo, callers)
	for i := range echoes {
		echoes[i] = func(request []byte) ([]byte, error) {
			out, err := reply(context.Background(), Payload{Data: request})
			return out.Data, err
		}
	}
	return echoes, stop, nil
}

func join(id, address string, s settings, options ...sabir.NodeOption) (*sabir.Node, func(), error) {
	node := sabir.NewNode(append(options, sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)),
		sabir.Join(address, cluster.Config{Name: s.Cluster}))...)
	if err := node.Start(context.Background()); err != nil {
		return nil, nil, err
	}
	return node, func() {
		ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
		defer cancel()
		node.Stop(ctx)
	}, nil
}
