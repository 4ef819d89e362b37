package web

import (
	"context"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
)

// A start is short, so its garbage is still there when it ends: what is allocated counts as much as the time.
func BenchmarkStartOf5000Routes(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		s := sabir.NewService("users")
		for i := range 5000 {
			sabir.Handle(s, fmt.Sprint("update", i), func(_ context.Context, u listedUser) (listedUser, error) { return u, nil },
				sabir.Route("POST", fmt.Sprintf("/users%d/{id}/update", i)))
		}
		n := sabir.NewNode(sabir.Serve(s), sabir.HTTP("127.0.0.1:0"))
		if err := n.Start(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StopTimer()
		if err := n.Stop(b.Context()); err != nil {
			b.Fatal(err)
		}
		b.StartTimer()
	}
}
