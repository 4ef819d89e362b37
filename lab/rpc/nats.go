package main

import (
	"fmt"
	"net"
	"strconv"
	"time"

	"github.com/nats-io/nats-server/v2/server"
	"github.com/nats-io/nats.go"
	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
)

// natsPatience is how long a request may take. NATS has no request without a limit.
const natsPatience = 30 * time.Second

func natsContenders() []contender {
	return []contender{{
		name: "nats request-reply", codec: "google protobuf", network: "tcp", modes: []mode{callMode},
		settings: "broker in the server's process, responder connected in process, 1 client conn",
		serve:    serveNATS,
		dial: func(address string, callers int) (*client, error) {
			conn, err := nats.Connect("nats://" + address)
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
		},
	}}
}

func serveNATS(address string) (func(), error) {
	host, portText, err := net.SplitHostPort(address)
	if err != nil {
		return nil, err
	}
	port, err := strconv.Atoi(portText)
	if err != nil {
		return nil, fmt.Errorf("port of %s: %w", address, err)
	}
	broker, err := server.NewServer(&server.Options{Host: host, Port: port, NoSigs: true, NoLog: true})
	if err != nil {
		return nil, err
	}
	broker.Start()
	if !broker.ReadyForConnections(10 * time.Second) {
		broker.Shutdown()
		return nil, fmt.Errorf("the NATS server at %s was not ready within 10 s", address)
	}
	conn, err := nats.Connect("", nats.InProcessServer(broker))
	if err != nil {
		broker.Shutdown()
		return nil, err
	}
	_, err = conn.Subscribe("hello.say", func(m *nats.Msg) {
		var in message.Proto
		if proto.Unmarshal(m.Data, &in) != nil {
			return
		}
		in.Answer()
		if data, err := proto.Marshal(&in); err == nil {
			m.Respond(data)
		}
	})
	if err == nil {
		err = conn.Flush()
	}
	return func() { conn.Close(); broker.Shutdown() }, err
}
