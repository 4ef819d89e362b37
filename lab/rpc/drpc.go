package main

import (
	"context"
	"net"

	"storj.io/drpc/drpcconn"
	"storj.io/drpc/drpcmux"
	"storj.io/drpc/drpcserver"

	"github.com/sabir-go/sabir/lab/message"
)

func drpcContenders() []contender {
	return []contender{{
		name: "drpc", codec: "google protobuf", settings: "1 conn per caller (one call at a time each)", network: "tcp",
		modes: []mode{callMode},
		serve: func(address string) (func(), error) {
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
		dial: func(address string, callers int) (*client, error) {
			conns, err := dialEach("tcp", address, callers)
			if err != nil {
				return nil, err
			}
			stubs := make([]message.DRPCHelloClient, callers)
			for i, conn := range conns {
				stubs[i] = message.NewDRPCHelloClient(drpcconn.New(conn))
			}
			return &client{close: closeAll(conns), say: func(caller int) roundTrip {
				return protoSay(func(request *message.Proto) (*message.Proto, error) {
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
