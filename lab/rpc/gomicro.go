package main

import (
	"context"
	"fmt"
	"time"

	microbroker "github.com/micro/go-micro/broker/memory"
	microclient "github.com/micro/go-micro/client"
	microregistry "github.com/micro/go-micro/registry/memory"
	microserver "github.com/micro/go-micro/server"
	microtransport "github.com/micro/go-micro/transport"
	"github.com/micro/go-plugins/transport/rabbitmq"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/brokers"

	"github.com/sabir-go/sabir/lab/message"
)

// goMicroQueue is the server's address, which the transport takes as the name of a queue.
const goMicroQueue = "127.0.0.1:4711"

// goMicroPatience is how long a request may take; go-micro has none without a limit.
const goMicroPatience = 30 * time.Second

// goMicroCalls is go-micro v1.8.3 over its RabbitMQ transport. The client is given the address, so no registry is asked.
func goMicroCalls() contender {
	return contender{
		name: "go-micro v1.8.3", codec: "google protobuf", broker: brokers.RabbitMQ, modes: []mode{callMode},
		settings: "go-plugins v1.2.0 rabbitmq transport, no registry, one retry",
		serve: func(address string) (func(), error) {
			server := microserver.NewServer(microserver.Name("hello"), microserver.Address(goMicroQueue),
				microserver.Transport(rabbitmq.NewTransport(microtransport.Addrs(address))),
				microserver.Registry(microregistry.NewRegistry()), microserver.Broker(microbroker.NewBroker()))
			if err := server.Handle(server.NewHandler(new(GoMicroHello))); err != nil {
				return nil, err
			}
			if err := server.Start(); err != nil {
				return nil, err
			}
			stop := func() { server.Stop() }
			if err := awaitQueue(address, goMicroQueue); err != nil {
				stop()
				return nil, err
			}
			return stop, nil
		},
		dial: func(address string, callers int) (*client, error) {
			c := microclient.NewClient(microclient.Transport(rabbitmq.NewTransport(microtransport.Addrs(address))),
				microclient.Registry(microregistry.NewRegistry()), microclient.Broker(microbroker.NewBroker()),
				microclient.RequestTimeout(goMicroPatience))
			return &client{close: func() {}, say: protoSay(func(request *message.Proto) (*message.Proto, error) {
				reply := new(message.Proto)
				call := c.NewRequest("hello", "GoMicroHello.Say", request, microclient.WithContentType("application/protobuf"))
				return reply, c.Call(context.Background(), call, reply, microclient.WithAddress(goMicroQueue))
			})}, nil
		},
	}
}

// awaitQueue waits for the server's queue: Start returns before it is there, and what is sent until then is lost.
func awaitQueue(address, queue string) error {
	conn, err := amqp.Dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for begun := time.Now(); time.Since(begun) < goMicroPatience; <-again.C {
		channel, err := conn.Channel() // a new one: asking for a queue that is not there closes it
		if err != nil {
			return err
		}
		if made, err := channel.QueueDeclarePassive(queue, false, false, false, false, nil); err == nil && made.Consumers > 0 {
			return nil
		}
		channel.Close()
	}
	return fmt.Errorf("go-micro's server has made no queue %s within %v", queue, goMicroPatience)
}

// GoMicroHello is exported because go-micro finds only such handlers.
type GoMicroHello struct{}

// Say answers the message.
func (GoMicroHello) Say(_ context.Context, in, out *message.Proto) error {
	out.CopyFrom(in)
	out.Answer()
	return nil
}
