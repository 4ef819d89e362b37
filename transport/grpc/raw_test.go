package grpc_test

import (
	"context"
	"errors"
	"io"
	"net"
	"sync"
	"testing"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/mem"

	"github.com/sabir-go/sabir/transport"
)

const (
	batch        = 25
	requestBatch = batch * 677
	replyBatch   = batch * 611
	inFlight     = 4 // batches, as 100 callers make them
)

// BenchmarkRawBatchedEcho is what links over this carrier are compared with: gRPC alone, a message for each batch.
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
			serveBatches(&messages{receive: s.RecvMsg}, sender(s.SendMsg))
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
	callBatches(b, &messages{receive: s.RecvMsg}, sender(s.SendMsg))
}

type bytesCodec struct{}

func (bytesCodec) Name() string                           { return "bytes" }
func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) { return v.(mem.BufferSlice), nil }
func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	data.Ref()
	*v.(*mem.BufferSlice) = data
	return nil
}

// sender sends copies, for gRPC keeps messages after it has returned.
func sender(send func(any) error) func([]byte) error {
	return func(p []byte) error { return send(mem.BufferSlice{mem.Copy(p, mem.DefaultBufferPool())}) }
}

// messages reads whole messages.
type messages struct{ receive func(any) error }

func (m *messages) Read(p []byte) (int, error) {
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
	l, err := transport.Listen(b.Context(), "grpc://:0", transport.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer l.Close()
	go func() {
		conn, err := l.Accept()
		if err != nil {
			return
		}
		defer conn.Close()
		serveBatches(conn, func(reply []byte) error {
			_, err := conn.Write(reply)
			return err
		})
	}()
	conn, err := transport.Dial(b.Context(), l.Addr(), transport.Config{})
	if err != nil {
		b.Fatal(err)
	}
	defer conn.Close()
	callBatches(b, conn, func(request []byte) error {
		_, err := conn.Write(request)
		return err
	})
}

// serveBatches answers each batch of requests with one of replies.
func serveBatches(in io.Reader, write func([]byte) error) {
	request, reply := make([]byte, requestBatch), make([]byte, replyBatch)
	for {
		if _, err := io.ReadFull(in, request); err != nil {
			return
		}
		if err := write(reply); err != nil {
			return
		}
	}
}

// callBatches keeps some batches in flight, and reports the calls in them.
func callBatches(b *testing.B, in io.Reader, write func([]byte) error) {
	turns := make(chan struct{}, inFlight)
	for range inFlight {
		turns <- struct{}{}
	}
	var reader sync.WaitGroup
	b.ResetTimer()
	reader.Go(func() {
		reply := make([]byte, replyBatch)
		for range b.N {
			if _, err := io.ReadFull(in, reply); err != nil {
				b.Error(err)
				return
			}
			turns <- struct{}{}
		}
	})
	request := make([]byte, requestBatch)
	for range b.N {
		<-turns
		if err := write(request); err != nil {
			b.Fatal(err)
		}
	}
	reader.Wait()
	b.ReportMetric(float64(b.N)*batch/b.Elapsed().Seconds(), "calls/s")
}
