package grpc_test

import (
	"context"
	"errors"
	"net"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"

	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/transport"
)

// BenchmarkRawBatchedEcho is the reference for links over this carrier: gRPC alone, a message for each batch.
func BenchmarkRawBatchedEcho(b *testing.B) {
	listener, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		b.Fatal(err)
	}
	server := grpc.NewServer(grpc.ForceServerCodecV2(bytesCodec{}), grpc.StaticStreamWindowSize(1<<20), grpc.StaticConnWindowSize(1<<20),
		grpc.ReadBufferSize(64<<10), grpc.WriteBufferSize(64<<10))
	server.RegisterService(&grpc.ServiceDesc{
		ServiceName: "raw",
		HandlerType: (*any)(nil),
		Streams: []grpc.StreamDesc{{StreamName: "echo", ServerStreams: true, ClientStreams: true, Handler: func(_ any, s grpc.ServerStream) error {
			transporttest.AnswerBatches(messages{s.RecvMsg, s.SendMsg})
			return nil
		}}},
	}, nil)
	go server.Serve(listener)
	defer server.Stop()
	client, err := grpc.NewClient("passthrough:///"+listener.Addr().String(), grpc.WithTransportCredentials(insecure.NewCredentials()),
		grpc.WithStaticStreamWindowSize(1<<20), grpc.WithStaticConnWindowSize(1<<20), grpc.WithReadBufferSize(64<<10), grpc.WithWriteBufferSize(64<<10))
	if err != nil {
		b.Fatal(err)
	}
	defer client.Close()
	ctx, cancel := context.WithCancel(b.Context())
	defer cancel()
	s, err := client.NewStream(ctx, &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, "/raw/echo", grpc.ForceCodecV2(bytesCodec{}))
	if err != nil {
		b.Fatal(err)
	}
	transporttest.AskBatches(b, messages{s.RecvMsg, s.SendMsg})
}

type bytesCodec struct{}

func (bytesCodec) Name() string                           { return "bytes" }
func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) { return v.(mem.BufferSlice), nil }
func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	data.Ref()
	*v.(*mem.BufferSlice) = data
	return nil
}

// messages reads and writes whole messages.
type messages struct{ receive, send func(any) error }

// Write sends a copy, for gRPC keeps messages after it has returned.
func (m messages) Write(p []byte) (int, error) {
	return len(p), m.send(mem.BufferSlice{mem.Copy(p, mem.DefaultBufferPool())})
}

func (m messages) Read(p []byte) (int, error) {
	var data mem.BufferSlice
	if err := m.receive(&data); err != nil {
		return 0, err
	}
	defer data.Free()
	if data.Len() > len(p) {
		return 0, errors.New("a message of another size")
	}
	return data.CopyTo(p), nil
}

// BenchmarkBatchedEcho is the same over the transport's connections.
func BenchmarkBatchedEcho(b *testing.B) {
	transporttest.BenchmarkStream(b, "grpc://:0", transport.Config{})
}
