package sabir_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// BenchmarkHeapFloor makes calls of 677 bytes over TCP, by 100 callers to a node in the same process, with several floors. Compare the
// processor time of the process (go test -cpuprofile, or time -f %U), since a collection runs beside the calls.
func BenchmarkHeapFloor(b *testing.B) {
	type line struct {
		SKU, Name string
		Quantity  int
		Price     float64
	}
	type order struct {
		ID, Customer, Note string
		Lines              []line
		Tags               map[string]string
	}
	in := order{ID: "o-1", Customer: "ada", Note: strings.Repeat("x", 240), Tags: map[string]string{"a": "b", "c": "d"}}
	for i := range 10 {
		in.Lines = append(in.Lines, line{fmt.Sprint("sku-", i), "a thing of value", i, 1.5})
	}
	for _, floor := range []int64{-1, 16 << 20, 32 << 20, 64 << 20} {
		b.Run(fmt.Sprint(max(floor, 0)>>20, " MiB"), func(b *testing.B) {
			s := sabir.NewService("orders")
			sabir.Handle(s, "echo", func(_ context.Context, in order) (order, error) { return in, nil })
			server := sabir.NewNode(sabir.NodeID("server"), sabir.Serve(s), sabir.Join("tcp://127.0.0.1:0"), sabir.Logger(quiet), sabir.Limits{HeapFloor: floor})
			if err := server.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			defer server.Stop(context.Background())
			caller := sabir.NewNode(sabir.NodeID("caller"), sabir.Join(server.Info().Addr), sabir.Logger(quiet), sabir.Limits{HeapFloor: floor})
			if err := caller.Start(b.Context()); err != nil {
				b.Fatal(err)
			}
			defer caller.Stop(context.Background())
			if err := caller.WaitFor(b.Context(), "orders"); err != nil {
				b.Fatal(err)
			}
			echo := sabir.Bind[order, order](caller, "orders.echo")
			b.ReportAllocs()
			b.SetParallelism(50)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					if out, err := echo(context.Background(), in); err != nil || len(out.Lines) != 10 {
						b.Error(out, err)
					}
				}
			})
		})
	}
}
