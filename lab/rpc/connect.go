package main

import (
	"context"
	"net/http"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// connectContenders are connect-go over net/http, by Connect's own protocol. It would compress replies of any size, which is
// switched off, for no other contender does.
func connectContenders() []work.Contender {
	return []work.Contender{
		connectBy("connect-go, HTTP/1.1", onlyHTTP1()),
		connectBy("connect-go, h2c", onlyHTTP2()),
	}
}

func connectBy(name string, protocols *http.Protocols) work.Contender {
	const procedure = "/message.Hello/Say"
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			handler := connect.NewUnaryHandler(procedure, func(_ context.Context, r *connect.Request[message.Proto]) (*connect.Response[message.Proto], error) {
				r.Msg.Answer()
				return connect.NewResponse(r.Msg), nil
			}, connect.WithCompression("gzip", nil, nil))
			mux := http.NewServeMux()
			mux.Handle(procedure, handler)
			return serveHTTP(address, nil, protocols, manyStreams(), mux)
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			requester := &http.Transport{Protocols: protocols, MaxIdleConnsPerHost: callers}
			c := connect.NewClient[message.Proto, message.Proto](&http.Client{Transport: requester}, "http://"+address+procedure,
				connect.WithAcceptCompression("gzip", nil, nil))
			return &work.Client{Close: requester.CloseIdleConnections, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
				reply, err := c.CallUnary(context.Background(), connect.NewRequest(request))
				if err != nil {
					return nil, err
				}
				return reply.Msg, nil
			})}, nil
		},
	}
}
