package main

import (
	clientgrpc "go-micro.dev/v5/client/grpc"
	servergrpc "go-micro.dev/v5/server/grpc"
)

func init() {
	useGRPC = func() { newServer, newClient = servergrpc.NewServer, clientgrpc.NewClient }
}
