package sabir_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
)

// BenchmarkEmitOfNamesNeverSeen emits each name once, on a node with that many patterns of which one takes the name.
func BenchmarkEmitOfNamesNeverSeen(b *testing.B) {
	for _, patterns := range []int{10, 1000, 10_000} {
		b.Run(fmt.Sprint("patterns=", patterns), func(b *testing.B) {
			s := sabir.NewService("listener")
			ran := 0
			for i := range patterns {
				sabir.On(s, fmt.Sprintf("room-%d.*", i), func(context.Context, int) error {
					ran++
					return nil
				})
			}
			node := start(b, sabir.Serve(s))
			names := make([]string, b.N)
			for i := range names {
				names[i] = fmt.Sprintf("room-%d.user-%d", i%patterns, i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for _, name := range names {
				if err := sabir.Emit(context.Background(), node, name, 1); err != nil {
					b.Fatal(err)
				}
			}
			if ran != b.N {
				b.Fatalf("%d of %d events were handled", ran, b.N)
			}
		})
	}
}

// BenchmarkEmitToAnotherNode emits events that a handler of another node takes, to one of its group and to all.
func BenchmarkEmitToAnotherNode(b *testing.B) {
	address := "mem://" + b.Name()
	s := sabir.NewService("mail")
	sabir.On(s, "user.created", func(context.Context, helloRequest) error { return nil })
	start(b, sabir.NodeID("handles"), sabir.Serve(s), sabir.Join(address))
	emitter := start(b, sabir.NodeID("emits"), sabir.Join(address, cluster.Config{Seeds: []string{address}}))
	for len(emitter.Services()) == 0 || len(emitter.Nodes()) < 2 {
		<-emitter.Changed()
	}
	for name, emit := range map[string]func() error{
		"emit": func() error {
			return sabir.Emit(context.Background(), emitter, "user.created", helloRequest{"Ada", 36})
		},
		"broadcast": func() error {
			return sabir.Broadcast(context.Background(), emitter, "user.created", helloRequest{"Ada", 36})
		},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if err := emit(); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
