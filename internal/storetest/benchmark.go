package storetest

import (
	"fmt"
	"sync/atomic"
	"testing"

	"github.com/sabir-go/sabir/actor/grain/store"
)

// Benchmark measures Load and Save of states of 128 bytes and 16 KiB, from one goroutine and from 64 per processor, each of
// which has its own grain.
func Benchmark(b *testing.B, address string) {
	st := open(b, address, quiet())
	for _, size := range []int{128, 16 << 10} {
		state := make([]byte, size)
		b.Run(fmt.Sprintf("Save/%d/alone", size), func(b *testing.B) { saving(b, st, state, 0) })
		b.Run(fmt.Sprintf("Save/%d/many", size), func(b *testing.B) { saving(b, st, state, 64) })
		b.Run(fmt.Sprintf("Load/%d/alone", size), func(b *testing.B) { loading(b, st, state, 0) })
		b.Run(fmt.Sprintf("Load/%d/many", size), func(b *testing.B) { loading(b, st, state, 64) })
	}
}

var grains atomic.Int64

// grain makes one that is used only here.
func grain(b *testing.B, st store.Store, state []byte) (key string, revision uint64) {
	key = fmt.Sprint("bench-", grains.Add(1))
	entry, err := st.Load(b.Context(), "suite.bench", key)
	if err == nil {
		revision, err = st.Save(b.Context(), "suite.bench", key, state, entry.Revision)
	}
	if err != nil {
		b.Error(err)
	}
	return key, revision
}

func saving(b *testing.B, st store.Store, state []byte, many int) {
	b.ReportAllocs()
	b.SetBytes(int64(len(state)))
	each(b, many, func(next func() bool) {
		key, revision := grain(b, st, state)
		for next() {
			var err error
			if revision, err = st.Save(b.Context(), "suite.bench", key, state, revision); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func loading(b *testing.B, st store.Store, state []byte, many int) {
	b.ReportAllocs()
	b.SetBytes(int64(len(state)))
	each(b, many, func(next func() bool) {
		key, _ := grain(b, st, state)
		for next() {
			if _, err := st.Load(b.Context(), "suite.bench", key); err != nil {
				b.Error(err)
				return
			}
		}
	})
}

func each(b *testing.B, many int, run func(next func() bool)) {
	if many == 0 {
		run(b.Loop)
		return
	}
	b.SetParallelism(many)
	b.RunParallel(func(pb *testing.PB) { run(pb.Next) })
}
