package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/bus"
	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// natsTimeout limits a request, since NATS has no request without a limit.
const natsTimeout = 30 * time.Second

func natsContenders() []work.Contender {
	return []work.Contender{
		natsCalls("nats.go request-reply", joinNATS, natsRespond),
		natsCalls("nats.go micro API", joinNATS, natsMicro),
		natsCalls("nats.go request-reply, embedded", embedNATS, natsRespond),
		natsCalls("nats.go micro API, embedded", embedNATS, natsMicro),
		batched("raw batched echo, nats", bus.NATS),
		embeddedBatches(),
	}
}

// natsCalls is request-reply or the micro API, which differ in the server only. Each has a subject of its own, so that
// several can share a broker.
func natsCalls(name string, connect func(address string) (*nats.Conn, func(), error), respond func(*nats.Conn, string) error) work.Contender {
	subject := "lab." + strings.NewReplacer(" ", "-", ",", "", ".", "").Replace(name)
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			conn, stop, err := connect(address)
			if err != nil {
				return nil, err
			}
			if err := errors.Join(respond(conn, subject), conn.Flush()); err != nil {
				stop()
				return nil, err
			}
			return stop, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			conn, err := nats.Connect(address)
			if err != nil {
				return nil, err
			}
			return &work.Client{Close: conn.Close, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
				return natsRequest(conn, subject, request)
			})}, nil
		},
	}
}

func natsRequest(conn *nats.Conn, subject string, request *message.Proto) (*message.Proto, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	answer, err := conn.Request(subject, data, natsTimeout)
	if err != nil {
		return nil, err
	}
	reply := new(message.Proto)
	return reply, proto.Unmarshal(answer.Data, reply)
}

// joinNATS connects to a broker that runs elsewhere.
func joinNATS(address string) (*nats.Conn, func(), error) {
	conn, err := nats.Connect(address)
	if err != nil {
		return nil, nil, err
	}
	return conn, conn.Close, nil
}

// natsRespond answers on the subscription's goroutine, as nats.go does.
func natsRespond(conn *nats.Conn, subject string) error {
	_, err := conn.Subscribe(subject, func(m *nats.Msg) {
		if data, err := work.AnswerProto(m.Data); err == nil {
			m.Respond(data)
		}
	})
	return err
}

// natsMicro is the same by the micro API.
func natsMicro(conn *nats.Conn, subject string) error {
	_, err := micro.AddService(conn, micro.Config{Name: "hello", Version: "1.0.0", Endpoint: &micro.EndpointConfig{
		Subject: subject,
		Handler: micro.HandlerFunc(func(r micro.Request) {
			data, err := work.AnswerProto(r.Data())
			if err != nil {
				r.Error("400", err.Error(), nil)
				return
			}
			r.Respond(data)
		}),
	}})
	return err
}

// embedNATS runs the broker in this process.
func embedNATS(address string) (*nats.Conn, func(), error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, nil, fmt.Errorf("port of %s: %w", address, err)
	}
	broker, err := server.NewServer(&server.Options{Host: host, Port: port, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, nil, err
	}
	broker.Start()
	if !broker.ReadyForConnections(10 * time.Second) {
		broker.Shutdown()
		return nil, nil, fmt.Errorf("the NATS server at %s was not ready within 10 s", address)
	}
	conn, err := nats.Connect("", nats.InProcessServer(broker))
	if err != nil {
		broker.Shutdown()
		return nil, nil, err
	}
	return conn, func() { conn.Close(); broker.Shutdown() }, nil
}
