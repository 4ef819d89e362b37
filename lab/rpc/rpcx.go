package main

import (
	"context"
	"net"
	"sync"

	rpcx "github.com/smallnest/rpcx/client"
	rpcxlog "github.com/smallnest/rpcx/log"
	"github.com/smallnest/rpcx/protocol"
	rpcxserver "github.com/smallnest/rpcx/server"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

func rpcxContenders() []work.Contender {
	return []work.Contender{rpcxWith("rpcx", 1), rpcxWith("rpcx, 4 conns async", 4, rpcxserver.WithAsyncWrite())}
}

var quietRPCX = sync.OnceFunc(rpcxlog.SetDummyLogger)

func rpcxWith(name string, connections int, options ...rpcxserver.OptionFn) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			quietRPCX()
			listener, err := net.Listen("tcp", address)
			if err != nil {
				return nil, err
			}
			server := rpcxserver.NewServer(options...)
			if err := server.RegisterName("Hello", rpcxHello{}, ""); err != nil {
				return nil, err
			}
			go server.ServeListener("tcp", listener)
			return func() { server.Close() }, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			quietRPCX()
			option := rpcx.DefaultOption
			option.SerializeType = protocol.ProtoBuffer
			clients := make([]*rpcx.Client, connections)
			for i := range clients {
				clients[i] = rpcx.NewClient(option)
				if err := clients[i].Connect("tcp", address); err != nil {
					return nil, err
				}
			}
			return &work.Client{
				Close: func() {
					for _, c := range clients {
						c.Close()
					}
				},
				Say: func(caller int) work.RoundTrip {
					c := clients[caller%connections]
					return work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
						reply := new(message.Proto)
						return reply, c.Call(context.Background(), "Hello", "Say", request, reply)
					})(caller)
				},
				Echo: func(caller, size int) work.RoundTrip {
					c := clients[caller%connections]
					return work.ProtoEcho(func(request *message.ProtoBlob) (*message.ProtoBlob, error) {
						reply := new(message.ProtoBlob)
						return reply, c.Call(context.Background(), "Hello", "Echo", request, reply)
					})(caller, size)
				},
			}, nil
		},
	}
}

type rpcxHello struct{}

// Say fills the reply that rpcx hands it: a struct of protobuf must not be copied whole.
func (rpcxHello) Say(_ context.Context, in, out *message.Proto) error {
	in.Answer()
	out.CopyFrom(in)
	return nil
}

func (rpcxHello) Echo(_ context.Context, in, out *message.ProtoBlob) error {
	out.Data = in.Data
	return nil
}
