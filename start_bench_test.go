package sabir_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
)

// BenchmarkStart measures the start of a node with 5,000 actions, each with a REST form, in few and in many services.
func BenchmarkStart(b *testing.B) {
	for _, services := range []int{1, 100} {
		b.Run(fmt.Sprintf("%d services", services), func(b *testing.B) {
			for b.Loop() {
				var all []sabir.Servable
				for i := range services {
					s := sabir.NewService(fmt.Sprintf("s%d", i))
					for j := range 5000 / services {
						sabir.Handle(s, fmt.Sprintf("a%d", j), func(_ context.Context, in doubleIn) (int, error) { return in.N, nil },
							sabir.Route("GET", fmt.Sprintf("/%d/%d/{n}", i, j)))
					}
					all = append(all, s)
				}
				node := sabir.NewNode(sabir.Serve(all...))
				if err := node.Start(b.Context()); err != nil {
					b.Fatal(err)
				}
				b.StopTimer()
				node.Stop(context.Background())
				b.StartTimer()
			}
		})
	}
}
