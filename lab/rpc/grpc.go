package main

import (
	"context"
	"io"
	"net"

	"google.golang.org/grpc"
	"google.golang.org/grpc/credentials/insecure"

	"github.com/sabir-go/sabir/lab/message"
)

// grpcLimit is the largest message either side takes: the default of 4 MiB would do for 1 MiB, not for larger ones.
const grpcLimit = 64 << 20

func grpcContenders() []contender {
	return []contender{{
		name: "grpc-go", codec: "google protobuf", settings: "1 conn", network: "tcp",
		modes: []mode{callMode, echoMode, streamMode}, quick: true,
		serve: func(address string) (func(), error) {
			listener, err := net.Listen("tcp", address)
			if err != nil {
				return nil, err
			}
			server := grpc.NewServer(grpc.MaxRecvMsgSize(grpcLimit))
			message.RegisterHelloServer(server, grpcHello{})
			go server.Serve(listener)
			return server.Stop, nil
		},
		dial: func(address string, callers int) (*client, error) {
			conn, err := grpc.NewClient(address, grpc.WithTransportCredentials(insecure.NewCredentials()),
				grpc.WithDefaultCallOptions(grpc.MaxCallRecvMsgSize(grpcLimit)))
			if err != nil {
				return nil, err
			}
			stub := message.NewHelloClient(conn)
			return &client{
				close: func() { conn.Close() },
				say: protoSay(func(request *message.Proto) (*message.Proto, error) {
					return stub.Say(context.Background(), request)
				}),
				echo: protoEcho(func(request *message.ProtoBlob) (*message.ProtoBlob, error) {
					return stub.Echo(context.Background(), request)
				}),
				push: func(caller, size int) (*pushing, error) {
					stream, err := stub.Push(context.Background())
					if err != nil {
						return nil, err
					}
					return protoPush(size, stream.Send, stream.CloseAndRecv), nil
				},
			}, nil
		},
	}}
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
