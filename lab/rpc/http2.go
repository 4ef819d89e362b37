package main

import (
	"errors"
	"io"
	"net/http"
)

// http2Bodies are the two bodies of one request that stays open; windows are those of Sabir's carrier.
var http2Bodies = streams{
	serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
		return serveHTTP(address, nil, onlyHTTP2(), wideWindows(), http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
			control := http.NewResponseController(w)
			if control.Flush() == nil {
				handle(flushing{r.Body, w, control})
			}
		}))
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
