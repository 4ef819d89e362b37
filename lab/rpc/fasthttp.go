package main

import (
	"fmt"
	"net"
	"net/http"

	"github.com/lesismal/arpc/codec"
	"github.com/valyala/fasthttp"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// fastHTTP posts the message, with a connection for each caller.
func fastHTTP(name string, in codec.Codec) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			listener, err := net.Listen("tcp", address)
			if err != nil {
				return nil, err
			}
			server := &fasthttp.Server{Handler: func(r *fasthttp.RequestCtx) {
				reply, err := work.AnswerProtoIn(in, r.PostBody())
				if err != nil {
					r.Error(err.Error(), http.StatusBadRequest)
					return
				}
				r.Response.SetBodyRaw(reply)
			}}
			go server.Serve(listener)
			return func() { server.Shutdown() }, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			c := &fasthttp.Client{MaxConnsPerHost: callers}
			return &work.Client{Close: c.CloseIdleConnections, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
				return fastPost(c, in, "http://"+address, request)
			})}, nil
		},
	}
}

func fastPost(c *fasthttp.Client, in codec.Codec, url string, request *message.Proto) (*message.Proto, error) {
	data, err := in.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, answer := fasthttp.AcquireRequest(), fasthttp.AcquireResponse()
	defer fasthttp.ReleaseRequest(post)
	defer fasthttp.ReleaseResponse(answer)
	post.SetRequestURI(url)
	post.Header.SetMethod(http.MethodPost)
	post.SetBodyRaw(data)
	if err := c.Do(post, answer); err != nil {
		return nil, err
	}
	if answer.StatusCode() != http.StatusOK {
		return nil, fmt.Errorf("status %d", answer.StatusCode())
	}
	reply := new(message.Proto)
	return reply, in.Unmarshal(answer.Body(), reply)
}
