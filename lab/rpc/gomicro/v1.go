package main

import (
	"context"
	"fmt"
	"sync"
	"time"

	microbroker "github.com/micro/go-micro/broker/memory"
	microclient "github.com/micro/go-micro/client"
	clientgrpc "github.com/micro/go-micro/client/grpc"
	microregistry "github.com/micro/go-micro/registry/memory"
	microserver "github.com/micro/go-micro/server"
	servergrpc "github.com/micro/go-micro/server/grpc"
	microtransport "github.com/micro/go-micro/transport"
	transportgrpc "github.com/micro/go-micro/transport/grpc"
	transporthttp "github.com/micro/go-micro/transport/http"
	transportmemory "github.com/micro/go-micro/transport/memory"
	"github.com/micro/go-micro/util/log"
	"github.com/micro/go-plugins/transport/nats"
	"github.com/micro/go-plugins/transport/rabbitmq"
	"github.com/micro/go-plugins/transport/tcp"
	"github.com/micro/go-plugins/transport/utp"
	amqp "github.com/rabbitmq/amqp091-go"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// quieten turns off go-micro's log, which has a line for each connection that is lost.
var quieten = sync.OnceFunc(func() { log.SetLogger(quiet{}) })

type quiet struct{}

func (quiet) Log(...any)          {}
func (quiet) Logf(string, ...any) {}

type newTransport func(...microtransport.Option) microtransport.Transport

// v1Contenders are go-micro 1.8.3 with its transports and those of go-plugins. Without QUIC, whose library of that time ends
// the program at its start with today's Go.
func v1Contenders() []work.Contender {
	memory := transportmemory.NewTransport() // both sides share it
	return []work.Contender{
		v1{name: "go-micro 1, http", transport: transporthttp.NewTransport}.contender(),
		v1{name: "go-micro 1, tcp", transport: tcp.NewTransport}.contender(),
		v1{name: "go-micro 1, grpc", grpc: true}.contender(),
		v1{name: "go-micro 1, grpc+tcp", grpc: true, transport: tcp.NewTransport}.contender(),
		v1{name: "go-micro 1, transport/grpc", transport: transportgrpc.NewTransport}.contender(),
		v1{name: "go-micro 1, utp", transport: utp.NewTransport}.contender(),
		v1{name: "go-micro 1, nats", transport: nats.NewTransport, broker: true}.contender(),
		v1{name: "go-micro 1, rabbitmq", transport: rabbitmq.NewTransport, broker: true, await: awaitQueue}.contender(),
		v1{name: "go-micro 1, memory", broker: true,
			transport: func(...microtransport.Option) microtransport.Transport { return memory }}.contender(),
	}
}

// v1 holds the settings of a client and a server of go-micro 1.
type v1 struct {
	name      string
	grpc      bool         // go-micro's gRPC client and server in place of its own
	transport newTransport // nil is none
	broker    bool         // the address is not the server's
	await     func(address, queue string) error
}

func (v v1) contender() work.Contender {
	return work.Contender{Name: v.name, Serve: v.serve, Dial: v.dial}
}

// over are the transport and the server's address.
func (v v1) over(address string) (t microtransport.Transport, server string) {
	switch {
	case v.transport == nil:
		return nil, address
	case v.broker:
		return v.transport(microtransport.Addrs(address)), queue
	}
	return v.transport(), address
}

func (v v1) serve(address string) (func(), error) {
	quieten()
	t, at := v.over(address)
	options := []microserver.Option{microserver.Name("hello"), microserver.Address(at),
		microserver.Registry(microregistry.NewRegistry()), microserver.Broker(microbroker.NewBroker())}
	if t != nil {
		options = append(options, microserver.Transport(t))
	}
	server := microserver.NewServer
	if v.grpc {
		server = servergrpc.NewServer
	}
	s := server(options...)
	if err := s.Handle(s.NewHandler(new(GoMicroHello))); err != nil {
		return nil, err
	}
	if err := s.Start(); err != nil {
		return nil, err
	}
	stop := func() { s.Stop() }
	if v.await != nil {
		if err := v.await(address, at); err != nil {
			stop()
			return nil, err
		}
	}
	return stop, nil
}

// dial gives the client the address, so no registry is asked.
func (v v1) dial(address string, callers int) (*work.Client, error) {
	quieten()
	t, at := v.over(address)
	options := []microclient.Option{microclient.Registry(microregistry.NewRegistry()), microclient.Broker(microbroker.NewBroker()),
		microclient.RequestTimeout(requestTimeout), microclient.PoolSize(max(callers, microclient.DefaultPoolSize))}
	if t != nil {
		options = append(options, microclient.Transport(t))
	}
	made := microclient.NewClient
	if v.grpc {
		made = clientgrpc.NewClient
	}
	c := made(options...)
	call := func(ctx context.Context, request *message.Proto) (*message.Proto, error) {
		reply := new(message.Proto)
		asked := c.NewRequest("hello", "GoMicroHello.Say", request, microclient.WithContentType(v.contentType()))
		return reply, c.Call(ctx, asked, reply, microclient.WithAddress(at))
	}
	if err := answered(call); err != nil {
		return nil, err
	}
	return &work.Client{Close: func() {}, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
		return call(context.Background(), request)
	})}, nil
}

func (v v1) contentType() string {
	if v.grpc {
		return "application/grpc+proto"
	}
	return contentType
}

// awaitQueue waits for the server's queue: what is sent until it is there is lost, and its caller waits.
func awaitQueue(address, queue string) error {
	conn, err := amqp.Dial(address)
	if err != nil {
		return err
	}
	defer conn.Close()
	again := time.NewTicker(10 * time.Millisecond)
	defer again.Stop()
	for begun := time.Now(); time.Since(begun) < requestTimeout; <-again.C {
		channel, err := conn.Channel() // a new one: asking for a queue that is not there closes it
		if err != nil {
			return err
		}
		if made, err := channel.QueueDeclarePassive(queue, false, false, false, false, nil); err == nil && made.Consumers > 0 {
			return nil
		}
		channel.Close()
	}
	return fmt.Errorf("go-micro's server has made no queue %s within %v", queue, requestTimeout)
}
