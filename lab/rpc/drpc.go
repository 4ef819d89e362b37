package main

import (
	"context"
	"net"

	"storj.io/drpc/drpcconn"
	"storj.io/drpc/drpcmux"
	"storj.io/drpc/drpcserver"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
	"github.com/sabir-go/sabir/lab/sockets"
)

func drpcContenders() []work.Contender {
	return []work.Contender{{
		Name: "drpc",
		Serve: func(address string) (func(), error) {
			listener, err := net.Listen("tcp", address)
			if err != nil {
				return nil, err
			}
			mux := drpcmux.New()
			if err := message.DRPCRegisterHello(mux, &drpcHello{}); err != nil {
				return nil, err
			}
			ctx, cancel := context.WithCancel(context.Background())
			ended := make(chan struct{})
			go func() {
				defer close(ended)
				drpcserver.New(mux).Serve(ctx, listener)
			}()
			return func() { cancel(); <-ended }, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			conns, err := sockets.DialEach("tcp", address, callers)
			if err != nil {
				return nil, err
			}
			stubs := make([]message.DRPCHelloClient, callers)
			for i, conn := range conns {
				stubs[i] = message.NewDRPCHelloClient(drpcconn.New(conn))
			}
			return &work.Client{Close: sockets.CloseAll(conns), Say: func(caller int) work.RoundTrip {
				return work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
					return stubs[caller].Say(context.Background(), request)
				})(caller)
			}}, nil
		},
	}}
}

type drpcHello struct {
	message.DRPCHelloUnimplementedServer
}

func (drpcHello) Say(_ context.Context, in *message.Proto) (*message.Proto, error) {
	in.Answer()
	return in, nil
}
