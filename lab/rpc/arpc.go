package main

import (
	"crypto/tls"
	"net"
	"sync"

	"github.com/lesismal/arpc"
	"github.com/lesismal/arpc/codec"
	arpclog "github.com/lesismal/arpc/log"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

func arpcContenders() []work.Contender {
	return []work.Contender{
		arpcWith("arpc", 1, work.GoogleProto{}, false, false),
		arpcWith("arpc, 10 conns", 10, work.GoogleProto{}, false, false),
		arpcWith("arpc, 10 conns, vtprotobuf", 10, vtprotobuf{}, false, false),
		arpcWith("arpc, async", 1, work.GoogleProto{}, true, false),
		arpcWith("arpc, TLS", 1, work.GoogleProto{}, false, true),
		arpcWith("arpc, TLS, 10 conns", 10, work.GoogleProto{}, false, true),
	}
}

var quietARPC = sync.OnceFunc(func() { arpclog.SetLevel(arpclog.LevelNone) })

// arpcWith spreads the callers over connections. The message pool is on, as in arpc's own benchmark.
func arpcWith(name string, connections int, in codec.Codec, async, secure bool) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			quietARPC()
			listener, err := net.Listen("tcp", address)
			if err != nil {
				return nil, err
			}
			if secure {
				listener = tls.NewListener(listener, bothEnds())
			}
			server := arpc.NewServer()
			server.Codec = in
			server.Handler.EnablePool(true)
			server.Handler.Handle("say", func(c *arpc.Context) {
				var in message.Proto
				if err := c.Bind(&in); err != nil {
					c.Error(err)
					return
				}
				in.Answer()
				c.Write(&in)
			}, async)
			server.Handler.Handle("echo", func(c *arpc.Context) {
				var in message.ProtoBlob
				if err := c.Bind(&in); err != nil {
					c.Error(err)
					return
				}
				c.Write(&in)
			}, async)
			go server.Serve(listener)
			return func() { server.Stop() }, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			quietARPC()
			clients := make([]*arpc.Client, connections)
			for i := range clients {
				handler := arpc.DefaultHandler.Clone()
				handler.EnablePool(true)
				c, err := arpc.NewClient(func() (net.Conn, error) {
					if secure {
						return tls.Dial("tcp", address, bothEnds())
					}
					return net.Dial("tcp", address)
				}, handler)
				if err != nil {
					return nil, err
				}
				c.Codec = in
				clients[i] = c
			}
			return &work.Client{
				Close: func() {
					for _, c := range clients {
						c.Stop()
					}
				},
				Say: func(caller int) work.RoundTrip {
					c := clients[caller%connections]
					return work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
						reply := new(message.Proto)
						return reply, c.Call("say", request, reply, arpc.TimeForever)
					})(caller)
				},
				Echo: func(caller, size int) work.RoundTrip {
					c := clients[caller%connections]
					return work.ProtoEcho(func(request *message.ProtoBlob) (*message.ProtoBlob, error) {
						reply := new(message.ProtoBlob)
						return reply, c.Call("echo", request, reply, arpc.TimeForever)
					})(caller, size)
				},
			}, nil
		},
	}
}
