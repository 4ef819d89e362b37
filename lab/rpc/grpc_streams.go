package main

import (
	"bytes"
	"context"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/encoding"
	_ "google.golang.org/grpc/encoding/proto" // registers its codec
	"google.golang.org/grpc/mem"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// grpcBidi is the method of both: its descriptor has any messages.
const grpcBidi = "/lab/bidi"

func grpcDesc(handle func(grpc.ServerStream) error) *grpc.ServiceDesc {
	return &grpc.ServiceDesc{ServiceName: "lab", HandlerType: (*any)(nil), Streams: []grpc.StreamDesc{{
		StreamName: "bidi", ServerStreams: true, ClientStreams: true,
		Handler: func(_ any, s grpc.ServerStream) error { return handle(s) },
	}}}
}

func serveGRPCStreams(address string, handle func(grpc.ServerStream) error, options ...grpc.ServerOption) (func(), error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	server := grpc.NewServer(options...)
	server.RegisterService(grpcDesc(handle), nil)
	go server.Serve(listener)
	return server.Stop, nil
}

func openGRPCStream(conn *grpc.ClientConn, options ...grpc.CallOption) (grpc.ClientStream, error) {
	return conn.NewStream(context.Background(), &grpc.StreamDesc{ServerStreams: true, ClientStreams: true}, grpcBidi, options...)
}

// grpcProto is grpc-go's own codec.
var grpcProto = encoding.GetCodecV2("proto")

// grpcKept keeps a bidirectional stream open for each caller.
func grpcKept(name string, conns int, in encoding.CodecV2) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			return serveGRPCStreams(address, func(s grpc.ServerStream) error {
				for {
					request := new(message.Proto)
					if err := s.RecvMsg(request); err != nil {
						return nil
					}
					request.Answer()
					if err := s.SendMsg(request); err != nil {
						return err
					}
				}
			}, grpc.ForceServerCodecV2(in))
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			open := make([]*grpc.ClientConn, 0, conns)
			stop := func() {
				for _, conn := range open {
					conn.Close()
				}
			}
			for range conns {
				conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()))
				if err != nil {
					stop()
					return nil, err
				}
				open = append(open, conn)
			}
			kept := make([]grpc.ClientStream, callers)
			for i := range kept {
				var err error
				if kept[i], err = openGRPCStream(open[i%conns], grpc.ForceCodecV2(in)); err != nil {
					stop()
					return nil, err
				}
			}
			return &work.Client{Close: stop, Say: func(caller int) work.RoundTrip {
				stream := kept[caller]
				return work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
					if err := stream.SendMsg(request); err != nil {
						return nil, err
					}
					reply := new(message.Proto)
					return reply, stream.RecvMsg(reply)
				})(caller)
			}}, nil
		},
	}
}

// grpcBytes has a message for each write; windows and buffers are those of Sabir's carrier.
var grpcBytes = streams{
	serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
		return serveGRPCStreams(address, func(s grpc.ServerStream) error {
			handle(&grpcConn{stream: s})
			return nil
		}, grpc.ForceServerCodecV2(bytesCodec{}), grpc.StaticStreamWindowSize(1<<20), grpc.StaticConnWindowSize(1<<20),
			grpc.ReadBufferSize(64<<10), grpc.WriteBufferSize(64<<10))
	},
	dial: func(address string, n int) ([]io.ReadWriter, func(), error) {
		conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()), grpc.WithStaticStreamWindowSize(1<<20),
			grpc.WithStaticConnWindowSize(1<<20), grpc.WithReadBufferSize(64<<10), grpc.WithWriteBufferSize(64<<10))
		if err != nil {
			return nil, nil, err
		}
		var all []io.ReadWriter
		for range n {
			stream, err := openGRPCStream(conn, grpc.ForceCodecV2(bytesCodec{}))
			if err != nil {
				conn.Close()
				return nil, nil, err
			}
			all = append(all, &grpcConn{stream: stream})
		}
		return all, func() { conn.Close() }, nil
	},
}

// bytesCodec has messages that are bytes already.
type bytesCodec struct{}

func (bytesCodec) Name() string                           { return "bytes" }
func (bytesCodec) Marshal(v any) (mem.BufferSlice, error) { return v.(mem.BufferSlice), nil }
func (bytesCodec) Unmarshal(data mem.BufferSlice, v any) error {
	data.Ref()
	*v.(*mem.BufferSlice) = data
	return nil
}

// grpcConn is a stream's messages as bytes. One goroutine may read while another writes.
type grpcConn struct {
	stream interface {
		SendMsg(any) error
		RecvMsg(any) error
	}
	buffer []byte
	unread bytes.Reader
}

func (c *grpcConn) Read(p []byte) (int, error) {
	for c.unread.Len() == 0 {
		var data mem.BufferSlice
		if err := c.stream.RecvMsg(&data); err != nil {
			return 0, err
		}
		if data.Len() <= len(p) {
			n := data.CopyTo(p)
			data.Free()
			return n, nil
		}
		if cap(c.buffer) < data.Len() {
			c.buffer = make([]byte, data.Len())
		}
		c.buffer = c.buffer[:data.Len()]
		data.CopyTo(c.buffer)
		data.Free()
		c.unread.Reset(c.buffer)
	}
	return c.unread.Read(p)
}

// Write sends a copy, for gRPC keeps a message after it has returned.
func (c *grpcConn) Write(p []byte) (int, error) {
	if err := c.stream.SendMsg(mem.BufferSlice{mem.Copy(p, mem.DefaultBufferPool())}); err != nil {
		return 0, err
	}
	return len(p), nil
}
