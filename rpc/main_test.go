package rpc_test

import (
	"context"
	"errors"
	"log/slog"
	"net/http"
	"strings"
	"testing"
	"time"

	"connectrpc.com/connect"
	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/protobuf"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/rpc"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

type sumIn struct {
	A int64 `json:"a"`
	B int64 `json:"b"`
}

type sumOut struct {
	Sum int64 `json:"sum"`
}

type text struct {
	Text string `json:"text"`
}

type signUp struct {
	Email string `json:"email" validate:"required,email"`
	Age   int    `json:"age" validate:"gte=18"`
}

type kinds struct {
	Big      int64             `json:"big"`
	Small    int32             `json:"small"`
	Bytes    []byte            `json:"bytes"`
	At       time.Time         `json:"at"`
	Took     time.Duration     `json:"took"`
	UserName string            `json:"user_name"`
	OrderID  string            `json:"orderID"`
	Tags     map[string]uint64 `json:"tags"`
	Any      any               `json:"any"`
}

var errOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "nicht genug da: é ✓ %")

// calc is a service with an action for each way that a call can go.
func calc() *sabir.Service {
	s := sabir.NewService("calc", sabir.Use(rpc.Package("test.v1")))
	sabir.Handle(s, "add", func(_ context.Context, in sumIn) (sumOut, error) { return sumOut{in.A + in.B}, nil }, sabir.Route("GET", "/sum"))
	sabir.Handle(s, "set", func(_ context.Context, in sumIn) (sumOut, error) { return sumOut{in.A}, nil })
	sabir.Handle(s, "peek", func(_ context.Context, in sumIn) (sumOut, error) { return sumOut{in.A}, nil }, sabir.Use(rpc.NoSideEffects()))
	sabir.Handle(s, "kinds", func(_ context.Context, in kinds) (kinds, error) { return in, nil })
	sabir.Handle(s, "sign-up", func(context.Context, signUp) (sabir.Empty, error) { return sabir.Empty{}, nil })
	sabir.Handle(s, "buy", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, errOutOfStock.WithData(map[string]any{"left": 3})
	})
	sabir.Handle(s, "plain", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, errors.New("pq: password hunter2 refused")
	})
	sabir.Handle(s, "panic", func(context.Context, sabir.Empty) (sabir.Empty, error) { panic("hunter2") })
	sabir.Handle(s, "busy", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.NewError(sabir.CodeUnavailable, "Busy", "come back later").AsRetryable()
	})
	sabir.Handle(s, "echo", func(_ context.Context, in text) (text, error) { return in, nil })
	sabir.Handle(s, "repeat", func(_ context.Context, in sumIn) (text, error) { return text{strings.Repeat("x", int(in.A))}, nil })
	sabir.Handle(s, "metadata", func(ctx context.Context, in text) (text, error) {
		if err := sabir.Answer(ctx).SetHeader("x-answer", "header"); err != nil {
			return text{}, err
		}
		sabir.Answer(ctx).SetTrailer("x-behind", "trailer")
		sabir.Answer(ctx).SetHeader("x-answer-bin", "AAH/")
		return text{sabir.InfoFromContext(ctx).Metadata[in.Text]}, nil
	})
	sabir.Handle(s, "refuse", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		sabir.Answer(ctx).SetHeader("x-answer", "header")
		sabir.Answer(ctx).SetTrailer("x-behind", "trailer")
		return sabir.Empty{}, errOutOfStock
	})
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		<-ctx.Done()
		return sabir.Empty{}, ctx.Err()
	})
	sabir.HandleStream(s, "count", func(ctx context.Context, stream *sabir.Stream[sumIn, sumOut]) error {
		sabir.Answer(ctx).SetHeader("x-answer", "header")
		defer sabir.Answer(ctx).SetTrailer("x-behind", "trailer")
		in, err := stream.Recv()
		if err != nil {
			return err
		}
		for i := in.A; i < in.B; i++ {
			if err := stream.Send(sumOut{i}); err != nil {
				return err
			}
		}
		if in.A > in.B {
			return errOutOfStock
		}
		return nil
	})
	sabir.HandleStream(s, "total", func(_ context.Context, stream *sabir.Stream[sumIn, sumOut]) error {
		var total sumOut
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			total.Sum += in.A + in.B
		}
		return stream.Send(total)
	})
	sabir.HandleStream(s, "chat", func(_ context.Context, stream *sabir.Stream[text, text]) error {
		for in, err := range stream.All() {
			if err != nil {
				return err
			}
			if err := stream.Send(text{"you said " + in.Text}); err != nil {
				return err
			}
		}
		return nil
	})
	return s
}

// serve starts a node with the services and returns the URL of its HTTP side.
func serve(t *testing.T, services []sabir.Servable, options ...gateway.HTTPOption) (string, *sabir.Node) {
	t.Helper()
	node := sabir.NewNode(sabir.Serve(services...), sabir.HTTP("127.0.0.1:0", append(options, rpc.Serve())...), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
		defer cancel()
		if err := node.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return "http://" + node.HTTPAddr(), node
}

// client is an HTTP client that speaks HTTP/2 without TLS, or HTTP/1.1.
func client(t *testing.T, http1 bool) *http.Client {
	transport := &http.Transport{Protocols: new(http.Protocols)}
	transport.Protocols.SetUnencryptedHTTP2(!http1)
	transport.Protocols.SetHTTP1(http1)
	t.Cleanup(transport.CloseIdleConnections)
	return &http.Client{Transport: transport}
}

// structs is the codec of plain structs for connect's client.
type structs struct{}

func (structs) Name() string                       { return "proto" }
func (structs) Marshal(v any) ([]byte, error)      { return protobuf.Codec.Append(nil, v) }
func (structs) Unmarshal(data []byte, v any) error { return protobuf.Codec.Decode(data, v) }

// dialect is a protocol over a version of HTTP.
type dialect struct {
	name    string
	http1   bool
	options []connect.ClientOption
}

var dialects = []dialect{
	{"Connect over HTTP/2", false, nil},
	{"Connect over HTTP/1.1", true, nil},
	{"gRPC", false, []connect.ClientOption{connect.WithGRPC()}},
	{"gRPC-Web over HTTP/2", false, []connect.ClientOption{connect.WithGRPCWeb()}},
	{"gRPC-Web over HTTP/1.1", true, []connect.ClientOption{connect.WithGRPCWeb()}},
}

// caller makes a client of one method.
func caller[In, Out any](t *testing.T, d dialect, url, method string, options ...connect.ClientOption) *connect.Client[In, Out] {
	all := append([]connect.ClientOption{connect.WithCodec(structs{})}, append(d.options, options...)...)
	return connect.NewClient[In, Out](client(t, d.http1), url+"/test.v1.Calc/"+method, all...)
}

// each runs a test over each protocol.
func each(t *testing.T, test func(t *testing.T, d dialect)) {
	for _, d := range dialects {
		t.Run(d.name, func(t *testing.T) { test(t, d) })
	}
}
