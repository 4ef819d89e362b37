package route_test

import (
	"testing"

	"github.com/sabir-go/sabir/internal/route"
)

func BenchmarkNew(b *testing.B) {
	b.ReportAllocs()
	for b.Loop() {
		if _, err := route.New("PUT", "/users/{id}", in[user]()); err != nil {
			b.Fatal(err)
		}
	}
}
