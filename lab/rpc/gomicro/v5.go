package main

import (
	"context"

	"go-micro.dev/v5/broker"
	"go-micro.dev/v5/client"
	"go-micro.dev/v5/logger"
	"go-micro.dev/v5/registry"
	"go-micro.dev/v5/server"
	"go-micro.dev/v5/transport"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// v5Contenders are go-micro 5 with the transports that it still has.
func v5Contenders() []work.Contender {
	memory := transport.NewMemoryTransport() // both sides share it
	return []work.Contender{
		v5("go-micro 5, http", func() transport.Transport { return transport.NewHTTPTransport() }),
		v5("go-micro 5, memory", func() transport.Transport { return memory }),
	}
}

func v5(name string, over func() transport.Transport) work.Contender {
	at := func(address string) string {
		if address == "" {
			return queue
		}
		return address
	}
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			logger.Init(logger.WithLevel(logger.FatalLevel))
			s := server.NewServer(server.Name("hello"), server.Address(at(address)), server.Transport(over()),
				server.Registry(registry.NewMemoryRegistry()), server.Broker(broker.NewMemoryBroker()))
			if err := s.Handle(s.NewHandler(new(GoMicroHello))); err != nil {
				return nil, err
			}
			if err := s.Start(); err != nil {
				return nil, err
			}
			return func() { s.Stop() }, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			c := client.NewClient(client.Transport(over()), client.Registry(registry.NewMemoryRegistry()),
				client.Broker(broker.NewMemoryBroker()), client.RequestTimeout(requestTimeout), client.PoolSize(max(callers, client.DefaultPoolSize)))
			call := func(ctx context.Context, request *message.Proto) (*message.Proto, error) {
				reply := new(message.Proto)
				asked := c.NewRequest("hello", "GoMicroHello.Say", request, client.WithContentType(contentType))
				return reply, c.Call(ctx, asked, reply, client.WithAddress(at(address)))
			}
			if err := answered(call); err != nil {
				return nil, err
			}
			return &work.Client{Close: func() {}, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
				return call(context.Background(), request)
			})}, nil
		},
	}
}
