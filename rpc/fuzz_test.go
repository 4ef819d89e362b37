package rpc

import (
	"bytes"
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

type fuzzed struct {
	Number int64             `json:"number"`
	Bytes  []byte            `json:"bytes"`
	At     time.Time         `json:"at"`
	Took   time.Duration     `json:"took"`
	Tags   map[string]uint64 `json:"tags"`
	Any    any               `json:"any"`
	Inner  *fuzzed           `json:"inner"`
}

// FuzzRequest sends any body in each form to an action and a stream. It is answered, and without a panic.
func FuzzRequest(f *testing.F) {
	s := sabir.NewService("fuzz")
	sabir.Handle(s, "call", func(_ context.Context, in fuzzed) (fuzzed, error) { return in, nil })
	sabir.HandleStream(s, "stream", func(_ context.Context, stream *sabir.Stream[fuzzed, fuzzed]) error {
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			if err := stream.Send(in); err != nil {
				return err
			}
		}
		return nil
	})
	node := sabir.NewNode(sabir.Serve(s))
	if err := node.Start(f.Context()); err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() { node.Stop(context.Background()) })
	handler, err := web.Handler(node, Serve())
	if err != nil {
		f.Fatal(err)
	}
	kinds := []string{"application/json", "application/proto", "application/grpc", "application/grpc+json", "application/grpc-web+proto", "application/connect+proto", "application/connect+json"}
	f.Add(uint8(2), false, "gzip", "1S", []byte{0, 0, 0, 0, 2, 8, 1})
	f.Add(uint8(5), true, "", "", []byte{0, 0, 0, 0, 2, 8, 1, 2, 0, 0, 0, 2, '{', '}'})
	f.Add(uint8(0), false, "", "9", []byte(`{"number":"1"}`))
	f.Fuzz(func(t *testing.T, kind uint8, stream bool, encoding, timeout string, body []byte) {
		path := "/fuzz.Fuzz/Call"
		if stream {
			path = "/fuzz.Fuzz/Stream"
		}
		r := httptest.NewRequestWithContext(t.Context(), "POST", path, bytes.NewReader(body))
		r.ProtoMajor, r.ProtoMinor, r.Host = 2, 0, "localhost"
		r.Header = http.Header{"Content-Type": {kinds[int(kind)%len(kinds)]}, "Grpc-Timeout": {timeout}, "Connect-Timeout-Ms": {timeout},
			"Grpc-Encoding": {encoding}, "Content-Encoding": {encoding}, "Connect-Content-Encoding": {encoding}}
		if timeout == "" {
			r.Header.Del("Grpc-Timeout")
			r.Header.Del("Connect-Timeout-Ms")
		}
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, r)
		if w.Code == 0 || w.Header().Get("Content-Type") == "application/problem+json" {
			t.Fatalf("%d %v %q", w.Code, w.Header(), w.Body)
		}
	})
}
