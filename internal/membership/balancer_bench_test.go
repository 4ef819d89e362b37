package membership_test

import (
	"fmt"
	"testing"

	"github.com/sabir-go/sabir/internal/membership"
)

func BenchmarkPick(b *testing.B) {
	for _, n := range []int{3, 8, 100} {
		among := candidates(n)
		for name, factory := range balancers {
			b.Run(fmt.Sprintf("%s/%d", name, n), func(b *testing.B) { pick(b, factory(), among) })
		}
		b.Run(fmt.Sprintf("nearest round-robin/%d", n), func(b *testing.B) {
			pick(b, membership.Nearest(north, membership.RoundRobin()), among)
		})
	}
}

func pick(b *testing.B, balancer membership.Balancer, among []*membership.Candidate) {
	b.ReportAllocs()
	for b.Loop() {
		balancer.Pick(among, "a key of usual length")
	}
}

func BenchmarkPickByManyAtOnce(b *testing.B) {
	for name, factory := range balancers {
		b.Run(name, func(b *testing.B) {
			balancer, among := factory(), candidates(8)
			b.RunParallel(func(loop *testing.PB) {
				for loop.Next() {
					balancer.Pick(among, "a key of usual length")
				}
			})
		})
	}
}

func BenchmarkBeginAndEnd(b *testing.B) {
	for name, timed := range map[string]bool{"untimed": false, "timed": true} {
		b.Run(name, func(b *testing.B) {
			among := candidates(1)
			if timed {
				membership.PeakEWMA().Pick(among, "")
			}
			b.ReportAllocs()
			for b.Loop() {
				among[0].End(among[0].Begin(), false)
			}
		})
	}
}

func BenchmarkSetOfOneNodeAmongAHundred(b *testing.B) {
	var names []string
	for i := range 100 {
		names = append(names, fmt.Sprintf("users.action%d", i))
	}
	r := membership.NewRegistry()
	for i := range 100 {
		r.Set(catalogOf(fmt.Sprintf("n%d", i), 1, names...))
	}
	version := uint64(1)
	for b.Loop() {
		version++
		r.Set(catalogOf("n50", version, names...))
	}
}
