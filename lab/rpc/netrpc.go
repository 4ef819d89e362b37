package main

import (
	"net"
	"net/rpc"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
	"github.com/sabir-go/sabir/lab/sockets"
)

func netrpcContenders() []work.Contender {
	return []work.Contender{netRPC("net/rpc", "tcp"), netRPC("net/rpc, unix", "unix")}
}

// netRPC is the standard library's, which has gob as its only codec of its own.
func netRPC(name, network string) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			server := rpc.NewServer()
			if err := server.RegisterName("Hello", netrpcHello{}); err != nil {
				return nil, err
			}
			return sockets.AcceptEach(network, address, func(conn net.Conn) { server.ServeConn(conn) })
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			c, err := rpc.Dial(network, address)
			if err != nil {
				return nil, err
			}
			return &work.Client{Close: func() { c.Close() },
				Say: func(caller int) work.RoundTrip {
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
				Echo: func(caller, size int) work.RoundTrip {
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
