package main

import (
	"errors"
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/micro"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
)

// natsPatience is how long a request may take. NATS has no request without a limit.
const natsPatience = 30 * time.Second

func natsContenders() []contender {
	return []contender{{
		name: "nats request-reply", codec: "google protobuf", network: "tcp", modes: []mode{callMode},
		settings: "broker in the server's process, responder connected in process, 1 client conn",
		serve:    natsServer(embedNATS, natsRespond),
		dial:     dialNATS,
	}}
}

// dialNATS is the client's side of request-reply and of the micro API, which differ in the server only.
func dialNATS(address string, callers int) (*client, error) {
	conn, err := nats.Connect(address)
	if err != nil {
		return nil, err
	}
	return &client{close: conn.Close, say: protoSay(func(request *message.Proto) (*message.Proto, error) {
		data, err := proto.Marshal(request)
		if err != nil {
			return nil, err
		}
		answer, err := conn.Request("hello.say", data, natsPatience)
		if err != nil {
			return nil, err
		}
		reply := new(message.Proto)
		return reply, proto.Unmarshal(answer.Data, reply)
	})}, nil
}

// natsServer connects the server's side and has it answer.
func natsServer(connect func(address string) (*nats.Conn, func(), error), respond func(*nats.Conn) error) func(string) (func(), error) {
	return func(address string) (func(), error) {
		conn, stop, err := connect(address)
		if err != nil {
			return nil, err
		}
		if err := errors.Join(respond(conn), conn.Flush()); err != nil {
			stop()
			return nil, err
		}
		return stop, nil
	}
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
func natsRespond(conn *nats.Conn) error {
	_, err := conn.Subscribe("hello.say", func(m *nats.Msg) {
		if data, err := answerProto(m.Data); err == nil {
			m.Respond(data)
		}
	})
	return err
}

// natsMicro is the same by the micro API.
func natsMicro(conn *nats.Conn) error {
	_, err := micro.AddService(conn, micro.Config{Name: "hello", Version: "1.0.0", Endpoint: &micro.EndpointConfig{
		Subject: "hello.say",
		Handler: micro.HandlerFunc(func(r micro.Request) {
			data, err := answerProto(r.Data())
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
