package main

import (
	"context"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials"
	"google.golang.org/grpc/credentials/insecure"
	"google.golang.org/grpc/test/bufconn"

	"github.com/sabir-go/sabir/lab/message"
	"github.com/sabir-go/sabir/lab/rpc/work"
)

// grpcLimit is the largest message either side takes: the default of 4 MiB would do for 1 MiB, not for larger ones.
const grpcLimit = 64 << 20

func grpcContenders() []work.Contender {
	network := func(name string) func(string) (net.Listener, error) {
		return func(address string) (net.Listener, error) { return net.Listen(name, address) }
	}
	var memory *bufconn.Listener // of the one process that has both sides
	return []work.Contender{
		grpcUnary("grpc-go", insecure.NewCredentials(), network("tcp"), func(address string) string { return address }),
		grpcUnary("grpc-go, unix", insecure.NewCredentials(), network("unix"), func(address string) string { return "unix://" + address }),
		grpcUnary("grpc-go, TLS", credentials.NewTLS(bothEnds()), network("tcp"), func(address string) string { return address }),
		grpcUnary("grpc-go, bufconn", insecure.NewCredentials(), func(string) (net.Listener, error) {
			memory = bufconn.Listen(grpcMemory)
			return memory, nil
		}, func(string) string { return "passthrough:///memory" },
			grpc.WithContextDialer(func(ctx context.Context, _ string) (net.Conn, error) { return memory.DialContext(ctx) })),
		grpcKept("grpc-go bidi, 4 conns", 4, grpcProto), grpcKept("grpc-go bidi, 4 conns, vtprotobuf", 4, grpcVT{}), grpcKept("grpc-go bidi, 1 conn", 1, grpcProto),
	}
}

// grpcMemory is the buffer of a connection in memory, as large as a socket's.
const grpcMemory = 256 << 10

// grpcUnary has one connection and a call for each message.
func grpcUnary(name string, secure credentials.TransportCredentials, listen func(address string) (net.Listener, error), target func(address string) string, options ...grpc.DialOption) work.Contender {
	return work.Contender{
		Name: name,
		Serve: func(address string) (func(), error) {
			listener, err := listen(address)
			if err != nil {
				return nil, err
			}
			server := grpc.NewServer(grpc.MaxRecvMsgSize(grpcLimit), grpc.Creds(secure))
			message.RegisterHelloServer(server, grpcHello{})
			go server.Serve(listener)
			return server.Stop, nil
		},
		Dial: func(address string, callers int) (*work.Client, error) {
			conn, err := grpc.NewClient(target(address), append(options, grpc.WithTransportCredentials(secure),
				grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(grpcLimit)))...)
			if err != nil {
				return nil, err
			}
			return grpcClient(conn), nil
		},
	}
}

func grpcClient(conn *grpc.ClientConn) *work.Client {
	stub := message.NewHelloClient(conn)
	return &work.Client{
		Close: func() { conn.Close() },
		Say: work.ProtoSay(func(request *message.Proto) (*message.Proto, error) {
			return stub.Say(context.Background(), request)
		}),
		Echo: work.ProtoEcho(func(request *message.ProtoBlob) (*message.ProtoBlob, error) {
			return stub.Echo(context.Background(), request)
		}),
		Push: func(caller, size int) (*work.Pushing, error) {
			stream, err := stub.Push(context.Background())
			if err != nil {
				return nil, err
			}
			return work.ProtoPush(size, stream.Send, stream.CloseAndRecv), nil
		},
	}
}

type grpcHello struct {
	message.UnimplementedHelloServer
}

func (grpcHello) Say(_ context.Context, in *message.Proto) (*message.Proto, error) {
	in.Answer()
	return in, nil
}

func (grpcHello) Echo(_ context.Context, in *message.ProtoBlob) (*message.ProtoBlob, error) {
	return in, nil
}

func (grpcHello) Push(stream grpc.ClientStreamingServer[message.ProtoBlob, message.ProtoReceived]) error {
	var counted message.ProtoReceived
	for {
		blob, err := stream.Recv()
		if err == io.EOF {
			return stream.SendAndClose(&counted)
		}
		if err != nil {
			return err
		}
		counted.Messages++
		counted.Bytes += int64(len(blob.Data))
	}
}
