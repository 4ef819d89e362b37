package main

import (
	"context"

	microbroker "github.com/micro/go-micro/broker/memory"
	microclient "github.com/micro/go-micro/client"
	microselector "github.com/micro/go-micro/client/selector"
	microregistry "github.com/micro/go-micro/registry/memory"
	microserver "github.com/micro/go-micro/server"
	micromemory "github.com/micro/go-micro/transport/memory"

	"github.com/sabir-go/sabir/lab/child"
)

//go:generate protoc --go_out=. --go_opt=paths=source_relative sum.proto

var goMicroWorks = map[string]func(child.Order) (work, error){"call": goMicroCalls}

// goMicroCalls is go-micro v1.8.3 over its transport in memory, with its registry and its broker in memory.
func goMicroCalls(child.Order) (work, error) {
	transport, registry, broker := micromemory.NewTransport(), microregistry.NewRegistry(), microbroker.NewBroker()
	server := microserver.NewServer(microserver.Name("math"), microserver.Address("127.0.0.1:0"), microserver.Transport(transport),
		microserver.Registry(registry), microserver.Broker(broker))
	if err := server.Handle(server.NewHandler(new(GoMicroMath))); err != nil {
		return work{}, err
	}
	if err := server.Start(); err != nil {
		return work{}, err
	}
	client := microclient.NewClient(microclient.Transport(transport), microclient.Registry(registry), microclient.Broker(broker),
		microclient.Selector(microselector.NewSelector(microselector.Registry(registry))))
	ctx := context.Background()
	return work{stop: func() { server.Stop() }, do: sums(func(in Pair) (int, error) {
		request, reply := &ProtoPair{A: int64(in.A), B: int64(in.B)}, new(ProtoSum)
		err := client.Call(ctx, client.NewRequest("math", "GoMicroMath.Add", request), reply)
		return int(reply.Sum), err
	})}, nil
}

// GoMicroMath is exported because go-micro finds only such handlers.
type GoMicroMath struct{}

// Add answers with the sum.
func (GoMicroMath) Add(_ context.Context, in *ProtoPair, out *ProtoSum) error {
	out.Sum = in.A + in.B
	return nil
}
