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
	"github.com/sabir-go/sabir/internal/brokers"
)

// A cluster grows from 3 nodes to 100 in one process, and each node calls each other at every size. On a machine that has
// little time for them, handshakes and pings of 4950 links come too late, and nodes lose each other; they must come together
// in the end. So what fails for the lack of a link is done again, up to forMeeting.
func TestNodesOfALargeClusterAllCallEachOther(t *testing.T) {
	brokers.Long(t)
	before := runtime.NumGoroutine()
	meet := memAddress(t)
	var nodes []*sabir.Node
	t.Cleanup(func() {
		var wg sync.WaitGroup
		for _, n := range nodes {
			wg.Go(func() {
				ctx, cancel := context.WithTimeout(context.Background(), forStopping/2)
				defer cancel()
				if err := n.Stop(ctx); err != nil {
					t.Errorf("%s: %v", n.ID(), err)
				}
			})
		}
		wg.Wait()
		// A probe of the membership library that is under way ends some probe intervals after its node's stop.
		ended := time.After(forStopping / 2)
		for runtime.NumGoroutine() > before {
			select {
			case <-time.After(10 * time.Millisecond):
			case <-ended:
				t.Errorf("%d goroutines are left of %d", runtime.NumGoroutine(), before)
				return
			}
		}
	})
	limit := time.Now().Add(forMeeting)
	if deadline, ok := t.Deadline(); ok && deadline.Before(limit.Add(forStopping)) {
		limit = deadline.Add(-forStopping)
	}
	ctx, cancel := context.WithDeadline(t.Context(), limit)
	defer cancel()
	for _, size := range sizes {
		begun := time.Now()
		for len(nodes) < size {
			id := len(nodes)
			s := sabir.NewService(fmt.Sprint("s", id))
			sabir.Handle(s, "it", func(context.Context, int) (int, error) { return id, nil })
			var n *sabir.Node
			again(t, ctx, fmt.Sprintf("n%d joins", id), func() error {
				n = sabir.NewNode(sabir.NodeID(fmt.Sprint("n", id)), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(s), sabir.Join(meet))
				return n.Start(ctx)
			})
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
				again(t, ctx, n.ID()+" calls "+all[i], func() error {
					out, err := sabir.Call[int](ctx, n, all[i]+".it", 1)
					if err == nil && out != i {
						t.Errorf("%s calls %s: %d", n.ID(), all[i], out)
					}
					return err
				})
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

const (
	// forMeeting is the time that everything but the end may take: some ten seconds on a machine that does nothing else.
	forMeeting = 8 * time.Minute
	// forStopping is the time that the nodes may take to stop and their goroutines to end.
	forStopping = 2 * time.Minute
)

// again does something until it no longer fails for the lack of a link.
func again(t *testing.T, ctx context.Context, what string, do func() error) {
	t.Helper()
	for {
		err := do()
		if err == nil {
			return
		}
		code := sabir.AsError(err).Code
		if code != sabir.CodeUnavailable && code != sabir.CodeNotFound || ctx.Err() != nil {
			t.Fatalf("%s: %v", what, err)
		}
		t.Logf("%s: once more, after %v", what, err)
		select {
		case <-ctx.Done():
		case <-time.After(100 * time.Millisecond):
		}
	}
}
