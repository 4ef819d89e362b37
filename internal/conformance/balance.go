package conformance

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
)

var balanceBehaviours = []behaviour{
	{"round robin gives each node the same share", roundRobin},
	{"random gives each node a like share", randomly},
	{"the fewest in flight gives each node a like share, and a stuck one none", leastInFlight},
	{"the quickest gives each node a share, and a slow one less than the others", quickest},
	{"calls with the same key stay with a node, and keys are spread", byKey},
	{"few keys move when a node joins", byKeyMoves},
	{"calls with PreferLocal(false) are shared with the caller's own node", spreadLocal},
	{"the fewest in flight counts the caller's own node too", spreadLeast},
	{"without PreferLocal(false) a node that offers the action calls itself", localFirst},
	{"nodes of the caller's zone go first, and others when there are none", zones},
	{"nodes that share more labels go first", labels},
	{"a balancer that does not exist keeps the node from starting", unknownBalancer},
}

// fleet is a caller and three nodes that offer svc.it, which returns the node.
type fleet struct {
	*testCluster
	caller *sabir.Node
}

func (s *suite) fleet(t *testing.T, it func(context.Context, int) (string, error), options ...sabir.NodeOption) *fleet {
	f := &fleet{testCluster: s.cluster(t)}
	for _, id := range []string{"x", "y", "z"} {
		f.start(id, sabir.Serve(telling(it)))
	}
	f.caller = f.start("caller", options...)
	for _, id := range []string{"x", "y", "z"} {
		eventually(t, "the caller knows that "+id+" offers it", func() bool { return offers(f.caller, "svc", id) })
	}
	return f
}

func telling(it func(context.Context, int) (string, error)) *sabir.Service {
	s := sabir.NewService("svc")
	if it == nil {
		it = func(ctx context.Context, _ int) (string, error) { return sabir.NodeFromContext(ctx).ID(), nil }
	}
	sabir.Handle(s, "it", it)
	return s
}

// share makes calls and counts the nodes that answered.
func share(t *testing.T, from *sabir.Node, callers, calls int) map[string]int {
	t.Helper()
	var mu sync.Mutex
	shares := make(map[string]int)
	var wg sync.WaitGroup
	for range callers {
		wg.Go(func() {
			for range calls / callers {
				node, err := sabir.Call[string](context.Background(), from, "svc.it", 1)
				if err != nil {
					t.Error(err)
					return
				}
				mu.Lock()
				shares[node]++
				mu.Unlock()
			}
		})
	}
	wg.Wait()
	return shares
}

// uneven returns what is wrong with the shares of the nodes; "" for nothing.
func uneven(shares map[string]int, least, most int, nodes []string) string {
	for _, node := range nodes {
		if n := shares[node]; n < least || n > most {
			return fmt.Sprintf("%s got %d calls, want %d to %d: %v", node, n, least, most, shares)
		}
	}
	return ""
}

// settles runs a check of where calls go until it finds nothing wrong, five times at most. Calls pass over a node that is silent for longer
// than usual, as on a machine with much else to do, and what is checked holds only while all nodes answer.
func settles(t *testing.T, check func() (wrong string)) {
	t.Helper()
	const tries = 5
	for try := 1; ; try++ {
		wrong := check()
		if wrong == "" {
			return
		}
		if try == tries {
			t.Fatalf("%d times, the last: %s", tries, wrong)
		}
	}
}

// shared checks that each of the nodes gets its share of calls.
func shared(t *testing.T, from *sabir.Node, callers, calls, least, most int, nodes ...string) {
	t.Helper()
	settles(t, func() string { return uneven(share(t, from, callers, calls), least, most, nodes) })
}

func roundRobin(t *testing.T, s *suite) {
	f := s.fleet(t, nil)
	shared(t, f.caller, 1, 90, 30, 30, "x", "y", "z")
	shared(t, f.caller, 10, 90, 30, 30, "x", "y", "z")
}

func randomly(t *testing.T, s *suite) {
	f := s.fleet(t, nil, sabir.Balance(cluster.Random))
	shared(t, f.caller, 1, 300, 51, 149, "x", "y", "z") // six standard deviations
}

func leastInFlight(t *testing.T, s *suite) {
	free := make(chan struct{})
	stuck := make(chan string, 100)
	var once sync.Once
	var is string
	f := s.fleet(t, func(ctx context.Context, in int) (string, error) {
		id := sabir.NodeFromContext(ctx).ID()
		if in == 2 {
			once.Do(func() { is = id })
			stuck <- id
			<-free
		}
		return id, nil
	}, sabir.Balance(cluster.LeastInFlight))
	shared(t, f.caller, 1, 300, 50, 150, "x", "y", "z")

	// Ten calls that hang on one node count against it.
	var wg sync.WaitGroup
	for range 10 {
		wg.Go(func() { _, _ = sabir.Call[string](context.Background(), f.caller, "svc.it", 2, sabir.ToNode("x")) })
	}
	for range 10 {
		get(t, "a call that hangs", stuck)
	}
	if is != "x" {
		t.Fatalf("the calls hang on %s", is)
	}
	shared(t, f.caller, 1, 100, 0, 0, "x")
	close(free)
	wg.Wait()
}

func quickest(t *testing.T, s *suite) {
	f := s.fleet(t, func(ctx context.Context, _ int) (string, error) {
		id := sabir.NodeFromContext(ctx).ID()
		if id == "x" {
			<-time.After(500 * time.Millisecond) // longer than the way there and back on a busy machine
		}
		return id, nil
	}, sabir.Balance(cluster.EWMA))
	shares := share(t, f.caller, 8, 400)
	if shares["x"] >= (shares["y"]+shares["z"])/2 || shares["y"] == 0 || shares["z"] == 0 {
		t.Errorf("the slow node is x: %v", shares)
	}
}

func byKey(t *testing.T, s *suite) {
	f := s.fleet(t, nil, sabir.Balance(cluster.Hash))
	settles(t, func() string {
		shares := make(map[string]int)
		for key := range 60 {
			first := ""
			for range 3 {
				node, err := sabir.Call[string](brief(t), f.caller, "svc.it", 1, sabir.ByKey(fmt.Sprint("key-", key)))
				must(t, err)
				if first == "" {
					first = node
				}
				if node != first {
					return fmt.Sprintf("key %d went to %s and then to %s", key, first, node)
				}
			}
			shares[first]++
		}
		return uneven(shares, 5, 45, []string{"x", "y", "z"})
	})
}

func byKeyMoves(t *testing.T, s *suite) {
	f := s.fleet(t, nil, sabir.Balance(cluster.Hash))
	where := func(key int) string {
		node, err := sabir.Call[string](brief(t), f.caller, "svc.it", 1, sabir.ByKey(fmt.Sprint("key-", key)))
		must(t, err)
		return node
	}
	const keys = 60
	now := func() (list []string) {
		for key := range keys {
			list = append(list, where(key))
		}
		return list
	}
	var before []string
	settles(t, func() string {
		if before = now(); !slices.Equal(before, now()) {
			return "keys moved before there was a new node"
		}
		return ""
	})
	f.start("new", sabir.Serve(telling(nil)))
	eventually(t, "the caller knows of the new node", func() bool { return offers(f.caller, "svc", "new") })
	settles(t, func() string {
		moved := 0
		for key, node := range now() {
			if node == before[key] {
				continue
			}
			if moved++; node != "new" {
				return fmt.Sprintf("key %d moved from %s to %s, which is not the new node", key, before[key], node)
			}
		}
		if moved == 0 || moved > keys/2 {
			return fmt.Sprintf("%d of %d keys moved to the fourth node", moved, keys)
		}
		return ""
	})
}

func spreadLocal(t *testing.T, s *suite) {
	f := s.fleet(t, nil, sabir.PreferLocal(false), sabir.Serve(telling(nil)))
	shared(t, f.caller, 1, 100, 25, 25, "x", "y", "z", "caller")
}

func spreadLeast(t *testing.T, s *suite) {
	for _, balancer := range []cluster.Balancer{cluster.LeastInFlight, cluster.EWMA} {
		free := make(chan struct{})
		began := make(chan string, 100)
		f := s.fleet(t, func(ctx context.Context, in int) (string, error) {
			began <- ""
			<-free
			return sabir.NodeFromContext(ctx).ID(), nil
		}, sabir.PreferLocal(false), sabir.Balance(balancer), sabir.Serve(telling(func(ctx context.Context, in int) (string, error) {
			began <- "caller"
			<-free
			return "caller", nil
		})))
		// 40 calls that all hang: the node with fewer gets the next, so each node has about ten in the end.
		const calls = 40
		answered := make(chan error, calls)
		own := 0
		for range calls {
			go func() {
				_, err := sabir.Call[string](context.Background(), f.caller, "svc.it", 1)
				answered <- err
			}()
			if get(t, "the call at its handler", began) == "caller" {
				own++
			}
		}
		close(free)
		for range calls {
			must(t, get(t, "an answer", answered))
		}
		if own < 5 || own > 15 {
			t.Errorf("%s: the caller's own node got %d of 40 calls that hang, with three others", balancer, own)
		}
	}
}

func localFirst(t *testing.T, s *suite) {
	f := s.fleet(t, nil, sabir.Serve(telling(nil)))
	shared(t, f.caller, 1, 50, 50, 50, "caller")
}

func zones(t *testing.T, s *suite) {
	c := s.cluster(t)
	east := []cluster.Option{cluster.Config{Zone: "east"}}
	near := c.join("near", east, sabir.Serve(telling(nil)))
	c.join("far", []cluster.Option{cluster.Config{Zone: "west"}}, sabir.Serve(telling(nil)))
	caller := c.join("caller", east)
	for _, id := range []string{"near", "far"} {
		eventually(t, "the caller knows that "+id+" offers it", func() bool { return offers(caller, "svc", id) })
	}
	shared(t, caller, 1, 50, 50, 50, "near")
	stop(t, near)
	shared(t, caller, 1, 50, 50, 50, "far")
}

func labels(t *testing.T, s *suite) {
	c := s.cluster(t)
	with := func(pairs ...string) []cluster.Option {
		all := make(map[string]string)
		for _, pair := range pairs {
			key, value, _ := strings.Cut(pair, "=")
			all[key] = value
		}
		return []cluster.Option{cluster.Config{Labels: all}}
	}
	c.join("both", with("rack=1", "disk=ssd"), sabir.Serve(telling(nil)))
	c.join("one", with("rack=1", "disk=hdd"), sabir.Serve(telling(nil)))
	c.join("none", with("rack=2", "disk=hdd"), sabir.Serve(telling(nil)))
	caller := c.join("caller", with("rack=1", "disk=ssd"))
	for _, id := range []string{"both", "one", "none"} {
		eventually(t, "the caller knows that "+id+" offers it", func() bool { return offers(caller, "svc", id) })
	}
	shared(t, caller, 1, 50, 50, 50, "both")
}

func unknownBalancer(t *testing.T, s *suite) {
	c := s.cluster(t)
	err := sabir.NewNode(c.options("a", nil, sabir.Balance(cluster.Balancer(99)))...).Start(brief(t))
	if err == nil || !contains(err.Error(), "Balance", "Balancer(99)") {
		t.Errorf("got %v", err)
	}
}
