package main

import (
	"bytes"
	"crypto/tls"
	"fmt"
	"io"
	"net"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// onlyHTTP1 is HTTP/1.1 without TLS.
func onlyHTTP1() *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(true)
	return p
}

// onlyHTTP2 is HTTP/2 without TLS and without an upgrade.
func onlyHTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

// manyStreams lets as many calls be under way on a connection as there may be callers.
func manyStreams() *http.HTTP2Config { return &http.HTTP2Config{MaxConcurrentStreams: 20_000} }

// overTLS is HTTP/1.1 or HTTP/2 over TLS.
func overTLS(version int) *http.Protocols {
	p := new(http.Protocols)
	p.SetHTTP1(version == 1)
	p.SetHTTP2(version == 2)
	return p
}

// serveHTTP serves over TLS where there is a configuration of it.
func serveHTTP(address string, secure *tls.Config, protocols *http.Protocols, settings *http.HTTP2Config, handler http.Handler) (func(), error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler, Protocols: protocols, HTTP2: settings, TLSConfig: secure.Clone()}
	if secure != nil {
		go server.ServeTLS(listener, "", "")
	} else {
		go server.Serve(listener)
	}
	return func() { server.Close() }, nil
}

// httpContenders make a POST for each call.
func httpContenders() []work.Contender {
	return []work.Contender{
		httpCall("net/http, HTTP/1.1", "http", nil, onlyHTTP1()), httpCall("net/http, h2c", "http", nil, onlyHTTP2()), fastHTTP("fasthttp", work.GoogleProto{}), fastHTTP("fasthttp, vtprotobuf", vtprotobuf{}),
		httpCall("net/http, HTTP/1.1 and TLS", "https", bothEnds(), overTLS(1)), httpCall("net/http, HTTP/2 and TLS", "https", bothEnds(), overTLS(2)),
	}
}

func httpCall(name, scheme string, secure *tls.Config, protocols *http.Protocols) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			return serveHTTP(address, secure, protocols, manyStreams(), http.HandlerFunc(answerPost))
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			requester := &http.Transport{Protocols: protocols, MaxIdleConnsPerHost: callers, TLSClientConfig: secure.Clone()}
			return &work.Client{Close: requester.CloseIdleConnections, Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
				return httpPost(requester, scheme+"://"+address, request)
			})}, nil
		},
	}
}

func answerPost(w http.ResponseWriter, r *http.Request) {
	request, err := io.ReadAll(r.Body)
	if err != nil {
		return
	}
	reply, err := work.AnswerProto(request)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	w.Write(reply)
}

func httpPost(requester *http.Transport, url string, request *message.Proto) (*message.Proto, error) {
	data, err := proto.Marshal(request)
	if err != nil {
		return nil, err
	}
	post, err := http.NewRequest(http.MethodPost, url, bytes.NewReader(data))
	if err != nil {
		return nil, err
	}
	response, err := requester.RoundTrip(post)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	if response.StatusCode != http.StatusOK {
		return nil, fmt.Errorf("status %s", response.Status)
	}
	if data, err = io.ReadAll(response.Body); err != nil {
		return nil, err
	}
	reply := new(message.Proto)
	return reply, proto.Unmarshal(data, reply)
}
