package main

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"

	"google.golang.org/protobuf/proto"

	"github.com/sabir-go/sabir/lab/message"
)

// onlyHTTP2 is HTTP/2 without TLS and without an upgrade.
func onlyHTTP2() *http.Protocols {
	p := new(http.Protocols)
	p.SetUnencryptedHTTP2(true)
	return p
}

func serveHTTP2(address string, settings *http.HTTP2Config, handler http.HandlerFunc) (func(), error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := &http.Server{Handler: handler, Protocols: onlyHTTP2(), HTTP2: settings}
	go server.Serve(listener)
	return func() { server.Close() }, nil
}

// http2Call makes a request for each call, with net/http's defaults but for the number of streams.
func http2Call() contender {
	many := &http.HTTP2Config{MaxConcurrentStreams: 20_000}
	return contender{
		name: "net/http, h2c", codec: "google protobuf", settings: "1 conn, a POST for each call", network: "tcp", modes: []mode{callMode},
		serve: func(address string) (func(), error) {
			return serveHTTP2(address, many, func(w http.ResponseWriter, r *http.Request) {
				request, err := io.ReadAll(r.Body)
				if err != nil {
					return
				}
				reply, err := answerProto(request)
				if err != nil {
					http.Error(w, err.Error(), http.StatusBadRequest)
					return
				}
				w.Write(reply)
			})
		},
		dial: func(address string, callers int) (*client, error) {
			requester := &http.Transport{Protocols: onlyHTTP2()}
			return &client{close: requester.CloseIdleConnections, say: protoSay(func(request *message.Proto) (*message.Proto, error) {
				return http2Post(requester, "http://"+address, request)
			})}, nil
		},
	}
}

func http2Post(requester *http.Transport, url string, request *message.Proto) (*message.Proto, error) {
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

// http2Bodies are the two bodies of one request that stays open; windows are those of Sabir's carrier.
var http2Bodies = streams{
	network: "tcp",
	serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
		return serveHTTP2(address, wideWindows(), func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			if control.Flush() == nil {
				handle(flushing{r.Body, w, control})
			}
		})
	},
	dial: func(address string, n int) ([]io.ReadWriter, func(), error) {
		requester := &http.Transport{Protocols: onlyHTTP2(), HTTP2: wideWindows()}
		all, stop, err := dialAll(n, func() (piped, error) { return openBodies(requester, "http://"+address) })
		if err != nil {
			return nil, nil, err
		}
		return all, func() { stop(); requester.CloseIdleConnections() }, nil
	},
}

func wideWindows() *http.HTTP2Config {
	return &http.HTTP2Config{MaxReadFrameSize: 256 << 10, MaxReceiveBufferPerConnection: 1 << 20, MaxReceiveBufferPerStream: 1 << 20}
}

// flushing is the server's side: each write goes out.
type flushing struct {
	io.Reader
	io.Writer
	control *http.ResponseController
}

func (f flushing) Write(p []byte) (int, error) {
	n, err := f.Writer.Write(p)
	return n, errors.Join(err, f.control.Flush())
}

// piped is the client's side.
type piped struct {
	io.ReadCloser
	*io.PipeWriter
}

func openBodies(requester *http.Transport, url string) (piped, error) {
	body, out := io.Pipe()
	post, err := http.NewRequest(http.MethodPost, url, body)
	if err != nil {
		return piped{}, err
	}
	response, err := requester.RoundTrip(post)
	if err != nil {
		return piped{}, err
	}
	return piped{response.Body, out}, nil
}

func (p piped) Close() error { return errors.Join(p.PipeWriter.Close(), p.ReadCloser.Close()) }
