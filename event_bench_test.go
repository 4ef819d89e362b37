package sabir_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
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
				if err := sabir.Emit(b.Context(), node, name, 1); err != nil {
					b.Fatal(err)
				}
			}
			if ran != b.N {
				b.Fatalf("%d of %d events were handled", ran, b.N)
			}
		})
	}
}
