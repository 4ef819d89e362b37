package main

import (
	"go-micro.dev/v5/broker"
	natsbroker "go-micro.dev/v5/broker/nats"
	"go-micro.dev/v5/registry"
	"go-micro.dev/v5/registry/consul"
	"go-micro.dev/v5/registry/etcd"
	natsregistry "go-micro.dev/v5/registry/nats"
)

func init() {
	newRegistry = func(kind, address string) registry.Registry {
		at := registry.Addrs(address)
		switch kind {
		case "etcd":
			return etcd.NewEtcdRegistry(at)
		case "consul":
			return consul.NewConsulRegistry(at)
		}
		return natsregistry.NewNatsRegistry(at)
	}
	newBroker = func(_, address string) broker.Broker { return natsbroker.NewNatsBroker(broker.Addrs(address)) }
}
