package conformance_test

import (
	"context"
	"fmt"
	"log/slog"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// A cluster grows from 3 nodes to 100 in one process, and each node calls each other once at every size.
func TestNodesOfALargeClusterAllCallEachOther(t *testing.T) {
	before := runtime.NumGoroutine()
	meet := memAddress(t)
	var nodes []*sabir.Node
	t.Cleanup(func() {
		var wg sync.WaitGroup
		for _, n := range nodes {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), 30*time.Second)
				defer cancel()
				if err := n.Stop(ctx); err != nil {
					t.Errorf("%s: %v", n.ID(), err)
				}
			})
		}
		wg.Wait()
		// A probe of the membership library that is under way ends some probe intervals after its node's stop.
		ended := time.After(30 * time.Second)
		for runtime.NumGoroutine() > before {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ended:
				t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
				return
			}
		}
	})
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, size := range sizes {
		begun := time.Now()
		for len(nodes) < size {
			id := len(nodes)
			s := sabir.NewService(fmt.Sprint("s", id))
			sabir.Handle(s, "it", func(context.Context, int) (int, error) { return id, nil })
			n := sabir.NewNode(sabir.ID(fmt.Sprint("n", id)), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(s), sabir.Join(meet))
			if err := n.Start(ctx); err != nil {
				t.Fatal(err)
			}
			nodes = append(nodes, n)
		}
		started := time.Since(begun)
		var all []string
		for i := range size {
			all = append(all, fmt.Sprint("s", i))
		}
		for _, n := range nodes {
			if err := n.WaitFor(ctx, all...); err != nil {
				t.Fatalf("%s: %v", n.ID(), err)
			}
		}
		linked := time.Since(begun)
		for _, n := range nodes {
			for i := range size {
				if out, err := sabir.Call[int](context.Background(), n, all[i]+".it", 1); err != nil || out != i {
					t.Errorf("%s calls %s: %d, %v", n.ID(), all[i], out, err)
				}
			}
		}
		var memory runtime.MemStats
		runtime.GC()
		runtime.ReadMemStats(&memory)
		links := size * (size - 1)
		goroutines := runtime.NumGoroutine()
		t.Logf("%d nodes: started after %v, all linked after %v, %d calls after %v; %d goroutines, %d MB of heap",
			size, started.Round(time.Millisecond), linked.Round(time.Millisecond), size*size, time.Since(begun).Round(time.Millisecond),
			goroutines, memory.HeapAlloc>>20)
		if goroutines > 3*links+40*size+100 {
			t.Errorf("%d goroutines for %d ends of links", goroutines, links)
		}
	}
}
