package rpc_test

import (
	"context"
	"fmt"
	"maps"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/rpc"
)

// metadata takes what is answered beside a message.
type metadata struct {
	mu              sync.Mutex
	header, trailer map[string]string
}

func (m *metadata) SetStatus(int) error { return nil }

func (m *metadata) SetHeader(name, value string) error { return m.set(&m.header, name, value) }

func (m *metadata) SetTrailer(name, value string) error { return m.set(&m.trailer, name, value) }

func (m *metadata) set(at *map[string]string, name, value string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if *at == nil {
		*at = make(map[string]string)
	}
	(*at)[name] = value
	return nil
}

func (m *metadata) check(t *testing.T, header, trailer map[string]string) {
	t.Helper()
	m.mu.Lock()
	defer m.mu.Unlock()
	if !maps.Equal(m.header, header) || !maps.Equal(m.trailer, trailer) {
		t.Errorf("headers %v, trailers %v", m.header, m.trailer)
	}
}

func TestHeadersAndTrailersOfAForeignServerReachItsCaller(t *testing.T) {
	header, trailer := map[string]string{"x-answer": "header", "x-answer-bin": "AAH/"}, map[string]string{"x-behind": "trailer"}
	url, _ := serve(t, []sabir.Servable{calc()})
	files := describe(t, url)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		if f.URL = url; f.HTTP1 {
			f.Files = files // reflection is a stream
		}
		own, outer := &metadata{}, &metadata{}
		s := sabir.NewService("nested")
		sabir.Handle(s, "call", func(ctx context.Context, in text) (text, error) {
			return sabir.Call[text](gateway.WithAnswer(ctx, own), s, "calc.metadata", in)
		})
		node := startCaller(t, rpc.Dial(f), sabir.Serve(s))
		if _, err := sabir.Call[text](gateway.WithAnswer(t.Context(), outer), node, "calc.metadata", text{"x"}); err != nil {
			t.Fatal(err)
		}
		outer.check(t, header, trailer)
		outer = &metadata{}
		if _, err := sabir.Call[text](gateway.WithAnswer(t.Context(), outer), node, "nested.call", text{"x"}); err != nil {
			t.Fatal(err)
		}
		own.check(t, header, trailer)
		outer.check(t, nil, nil) // they are the nested call's
		if f.HTTP1 {
			return
		}
		streamed := &metadata{}
		for _, err := range sabir.CallStream[sumOut](gateway.WithAnswer(t.Context(), streamed), node, "calc.count", sumIn{A: 0, B: 2}) {
			if err != nil {
				t.Fatal(err)
			}
		}
		streamed.check(t, map[string]string{"x-answer": "header"}, trailer)
	})
}

func TestTrailersOfAFailureOfAForeignServerReachItsCaller(t *testing.T) {
	s := sabir.NewService("calc", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "fail", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		sabir.Answer(ctx).SetTrailer("x-behind", "trailer")
		return sabir.Empty{}, fmt.Errorf("it fails")
	})
	url, _ := serve(t, []sabir.Servable{s})
	files := describe(t, url)
	eachWay(t, func(t *testing.T, f rpc.Foreign) {
		if f.URL = url; f.HTTP1 {
			f.Files = files // reflection is a stream
		}
		taken := &metadata{}
		if _, err := sabir.Call[sabir.Empty](gateway.WithAnswer(t.Context(), taken), dial(t, f), "calc.fail", sabir.Empty{}); err == nil {
			t.Error("it does not fail")
		}
		if taken.trailer["x-behind"] != "trailer" {
			t.Errorf("the trailers are %v", taken.trailer)
		}
	})
}
