package sabir_test

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func TestTheMeetingAddressOutlivesTheNodeThatTookItFirst(t *testing.T) {
	const address = "mem://meeting-address-test"
	start := func(id string, options ...cluster.Option) *sabir.Node {
		t.Helper()
		n := sabir.NewNode(sabir.NodeID(id), sabir.Join(address, options...))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		return n
	}
	stop := func(n *sabir.Node) {
		t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Fatal(err)
		}
	}
	first, second := start("first"), start("second")
	defer stop(second)
	stop(first)

	deadline := time.Now().Add(time.Minute)
	for {
		observer := sabir.NewNode(sabir.NodeID("observer"), sabir.Join(address, cluster.Config{ClientOnly: true}))
		err := observer.Start(t.Context())
		if err == nil {
			defer stop(observer)
			break
		}
		if time.Now().After(deadline) {
			t.Fatalf("nobody listens at the meeting address: %v", err)
		}
	}
}
