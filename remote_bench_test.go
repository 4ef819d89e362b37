package sabir_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// BenchmarkRemoteCall calls an action that three nodes of the cluster offer, with one caller and with many.
func BenchmarkRemoteCall(b *testing.B) {
	address := "mem://" + b.Name()
	begin := func(id string, options ...sabir.NodeOption) *sabir.Node {
		n := sabir.NewNode(append(options, sabir.NodeID(id), sabir.Join(address, cluster.Config{Seeds: []string{address}}), sabir.Logger(quiet))...)
		if err := n.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.Cleanup(func() { n.Stop(context.Background()) })
		return n
	}
	for i := range 3 {
		s := sabir.NewService("svc")
		sabir.Handle(s, "it", func(_ context.Context, in int) (int, error) { return in, nil }, sabir.Inline(), sabir.Idempotent())
		begin(fmt.Sprint("offers-", i), sabir.Serve(s))
	}
	caller := begin("caller")
	for changed := caller.Changed(); caller.Action("svc.it") == nil; changed = caller.Changed() {
		<-changed
	}
	for len(caller.Nodes()) < 4 {
	}
	it := sabir.Bind[int, int](caller, "svc.it")
	b.Run("one caller", func(b *testing.B) {
		b.ReportAllocs()
		for b.Loop() {
			if _, err := it(b.Context(), 1); err != nil {
				b.Fatal(err)
			}
		}
	})
	b.Run("many callers", func(b *testing.B) {
		b.ReportAllocs()
		b.SetParallelism(16)
		b.RunParallel(func(pb *testing.PB) {
			for pb.Next() {
				if _, err := it(context.Background(), 1); err != nil {
					b.Error(err)
				}
			}
		})
	})
}

// BenchmarkAddToTenThousandActions adds a service to a node that has 10,000 actions, until another node can call it, and takes it back.
func BenchmarkAddToTenThousandActions(b *testing.B) {
	address := "mem://" + b.Name()
	var services []sabir.Servable
	for i := range 100 {
		services = append(services, withActions(fmt.Sprint("s", i), 100))
	}
	offering := start(b, sabir.Serve(services...), sabir.NodeID("offers"), sabir.Join(address))
	caller := start(b, sabir.NodeID("caller"), sabir.Join(address))
	await := func(there bool) {
		for {
			changed := caller.Changed()
			if (caller.Action("more.a0") != nil) == there {
				return
			}
			<-changed
		}
	}
	await(false)
	for b.Loop() {
		more := withActions("more", 1)
		if err := offering.Add(b.Context(), more); err != nil {
			b.Fatal(err)
		}
		await(true)
		if err := offering.Remove(b.Context(), more); err != nil {
			b.Fatal(err)
		}
		await(false)
	}
}
