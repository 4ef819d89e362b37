package main

import (
	"net"
	"net/rpc"

	"github.com/sabir-go/sabir/lab/message"
)

func netrpcContenders() []contender {
	return []contender{netRPC("net/rpc", "tcp"), netRPC("net/rpc, unix", "unix")}
}

// netRPC is the standard library's, which has gob as its only codec of its own.
func netRPC(name, network string) contender {
	return contender{
		name: name, codec: "gob", settings: "1 conn", network: network, modes: []mode{callMode, echoMode},
		quick: network == "tcp",
		serve: func(address string) (func(), error) {
			server := rpc.NewServer()
			if err := server.RegisterName("Hello", netrpcHello{}); err != nil {
				return nil, err
			}
			return acceptEach(network, address, func(conn net.Conn) { server.ServeConn(conn) })
		},
		dial: func(address string, callers int) (*client, error) {
			c, err := rpc.Dial(network, address)
			if err != nil {
				return nil, err
			}
			return &client{close: func() { c.Close() },
				say: func(caller int) roundTrip {
					request, kept := message.New(), new(message.Keeper)
					return func(sequence int, full bool) error {
						request.Mark(caller, sequence)
						var reply message.Message
						if err := c.Call("Hello.Say", request, &reply); err != nil {
							return err
						}
						if err := request.CheckReply(&reply, full); err != nil || !full {
							return err
						}
						return kept.Message(request, &reply)
					}
				},
				echo: func(caller, size int) roundTrip {
					request := &message.Blob{Data: message.NewBytes(size)}
					return func(sequence int, full bool) error {
						message.MarkBytes(request.Data, caller, sequence)
						var reply message.Blob
						if err := c.Call("Hello.Echo", request, &reply); err != nil {
							return err
						}
						return message.CheckBytes(request.Data, reply.Data, full)
					}
				},
			}, nil
		},
	}
}

type netrpcHello struct{}

func (netrpcHello) Say(in *message.Message, out *message.Message) error {
	in.Answer()
	*out = *in
	return nil
}

func (netrpcHello) Echo(in *message.Blob, out *message.Blob) error {
	*out = *in
	return nil
}
