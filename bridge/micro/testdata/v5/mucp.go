package main

import (
	"go-micro.dev/v5/broker"
	"go-micro.dev/v5/client"
	"go-micro.dev/v5/registry"
	"go-micro.dev/v5/server"
)

// useGRPC takes go-micro's gRPC, where the build has it.
var useGRPC = func() { panic("this build has no gRPC") }

var newServer, newClient = server.NewServer, client.NewClient

// newRegistry and newBroker make those that only some builds have.
var (
	newRegistry func(kind, address string) registry.Registry
	newBroker   func(kind, address string) broker.Broker
)
