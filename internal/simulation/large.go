package simulation

import (
	"context"
	"fmt"
	"log/slog"
	"math/rand/v2"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/processor"
	"github.com/sabir-go/sabir/policy"
)

// Large is a cluster that is measured in simulated time: nodes with services of their own, of which each calls some others.
type Large struct {
	Nodes   int
	Actions int // of each node
	Calls   int // services that each node calls

	// Progress, where not nil, is told what has been measured so far: a thousand nodes take hours.
	Progress func(format string, a ...any)
}

// Measured holds the costs of a node of a Large, as the mean over all nodes.
type Measured struct {
	Links, MostLinks int           // when each has called the others that it calls
	Goroutines       int           // then
	Memory           int           // bytes of heap and stacks
	Started          time.Duration // until all knew all, with a second in which all start
	Processor        float64       // part of a core while nobody calls
	Sent             float64       // bytes per second while nobody calls
	Known            time.Duration // until all know a new service
	Calls, Failed    int           // made while a tenth of the nodes was restarted
	Restart          time.Duration // of the tenth, one in a hundred at a time, until all knew all again
}

const (
	idleFor   = 20 * time.Second
	settle    = 40 * time.Second // in which links come to rest
	callEvery = 5 * time.Second
	// replicas is the number of nodes that offer each service that others call, as there are several of each in a cluster that is kept running
	// while its nodes are restarted.
	replicas = 5
)

// large is a Large that runs.
type large struct {
	Large
	mu    sync.Mutex // guards nodes
	nodes []*sabir.Node
}

// Measure starts the cluster inside a bubble of testing/synctest, and measures it.
func (l Large) Measure(ctx context.Context) (Measured, error) {
	running.Store(newNetwork(1))
	c := &large{Large: l, nodes: make([]*sabir.Node, l.Nodes)}
	defer c.stop()
	var m Measured
	begun := time.Now()
	if err := each(l.Nodes, func(i int) error {
		time.Sleep(time.Second * time.Duration(i) / time.Duration(l.Nodes))
		return c.start(ctx, i)
	}); err != nil {
		return m, err
	}
	if err := c.agree(c.knowAll); err != nil {
		return m, err
	}
	m.Started = time.Since(begun)
	c.progress("all know all after %v", m.Started)
	time.Sleep(settle) // links that were needed for the start come to rest
	if _, failed := c.call(ctx); failed > 0 {
		return m, fmt.Errorf("%d calls failed", failed)
	}
	for _, n := range c.nodes {
		links := n.Info().Links
		m.Links, m.MostLinks = m.Links+links, max(m.MostLinks, links)
	}
	m.Links /= l.Nodes
	m.Goroutines, m.Memory = runtime.NumGoroutine()/l.Nodes, memoryInUse()/l.Nodes
	c.progress("%d links each, at most %d; %d goroutines, %.1f MB", m.Links, m.MostLinks, m.Goroutines, float64(m.Memory)/1e6)
	time.Sleep(settle)
	used, sent := processor.Seconds(), running.Load().written.Load()
	time.Sleep(idleFor)
	m.Processor = (processor.Seconds() - used) / idleFor.Seconds() / float64(l.Nodes)
	m.Sent = float64(running.Load().written.Load()-sent) / idleFor.Seconds() / float64(l.Nodes)
	c.progress("idle, each takes %.2f %% of a core and sends %.1f kB/s", 100*m.Processor, m.Sent/1e3)
	return m, c.change(ctx, &m)
}

// progress reports a measurement, with the processor time used so far in front of it.
func (c *large) progress(format string, a ...any) {
	if c.Progress != nil {
		c.Progress("after %.0f s of processor: "+format, append([]any{processor.Seconds()}, a...)...)
	}
}

// change adds a service, and restarts a tenth of the nodes under load.
func (c *large) change(ctx context.Context, m *Measured) error {
	begun := time.Now()
	if err := c.nodes[0].Add(ctx, c.service("added")); err != nil {
		return err
	}
	if err := c.agree(func(n *sabir.Node) bool { return n.Action("added.action0") != nil }); err != nil {
		return err
	}
	m.Known = time.Since(begun)
	c.progress("all know of a new service after %v", m.Known)

	over, called := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(called)
		for {
			calls, failed := c.call(ctx)
			m.Calls, m.Failed = m.Calls+calls, m.Failed+failed
			c.progress("%d calls while nodes are restarted, %d failed", m.Calls, m.Failed)
			select {
			case <-over:
				return
			case <-time.After(callEvery):
			}
		}
	}()
	begun = time.Now()
	var err error
	for first := 0; first < c.Nodes/10 && err == nil; first += c.atOnce() {
		err = c.restart(ctx, first, min(first+c.atOnce(), c.Nodes/10))
		c.progress("%d nodes restarted", min(first+c.atOnce(), c.Nodes/10))
	}
	if err == nil {
		err = c.agree(c.knowAll)
	}
	m.Restart = time.Since(begun)
	close(over)
	<-called
	return err
}

// atOnce is the number of nodes that are restarted together: one in a hundred, since a thousand that are restarted one by one take hours of
// simulation, and who restarts that many does not wait for each.
func (c *large) atOnce() int { return max(c.Nodes/100, 1) }

// restart restarts nodes together, the last of each ten, so that no two of them offer the same service.
func (c *large) restart(ctx context.Context, from, to int) error {
	return each(to-from, func(k int) error {
		i := 10*(from+k) + 9
		if err := c.nodes[i].Stop(ctx); err != nil {
			return err
		}
		return c.start(ctx, i)
	})
}

// start makes the node i.
func (c *large) start(ctx context.Context, i int) error {
	options := []cluster.Option{cluster.Links{FullMesh: 64}, cluster.Config{Seeds: []string{address("n0").String(), address("n1").String(), address("n2").String()}}}
	name := fmt.Sprint("n", i)
	n := sabir.NewNode(sabir.NodeID(name), sabir.Serve(c.service("own"+name), c.service(fmt.Sprint("shared", i/replicas))),
		sabir.Use(policy.Retry{}), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Join(address(name).String(), options...))
	if err := n.Start(ctx); err != nil {
		return err
	}
	c.mu.Lock()
	c.nodes[i] = n
	c.mu.Unlock()
	return nil
}

// service makes a service with half the actions of a node, since each has two.
func (c *large) service(name string) *sabir.Service {
	s := sabir.NewService(name)
	for i := range c.Actions / 2 {
		sabir.Handle(s, fmt.Sprint("action", i), func(_ context.Context, in int) (int, error) { return in + i, nil }, sabir.Idempotent())
	}
	return s
}

// call has each node that runs call those that it calls: others' shared services, always the same.
func (c *large) call(ctx context.Context) (calls, failed int) {
	var mu sync.Mutex
	_ = each(c.Nodes, func(i int) error {
		c.mu.Lock()
		n := c.nodes[i]
		c.mu.Unlock()
		r := rand.New(rand.NewPCG(uint64(i), 1))
		for range c.Calls {
			action := r.IntN(c.Actions / 2)
			got, err := sabir.Call[int](ctx, n, fmt.Sprintf("shared%d.action%d", r.IntN(c.Nodes)/replicas, action), 1)
			if n.State() != "running" {
				return nil
			}
			mu.Lock()
			if calls++; err != nil || got != 1+action {
				failed++
			}
			mu.Unlock()
		}
		return nil
	})
	return calls, failed
}

func (c *large) knowAll(n *sabir.Node) bool {
	return len(n.Services()) >= 2*c.Nodes
}

// agree waits until it holds for all nodes.
func (c *large) agree(holds func(*sabir.Node) bool) error {
	for begun := time.Now(); ; time.Sleep(50 * time.Millisecond) {
		late := slices.IndexFunc(c.nodes, func(n *sabir.Node) bool { return !holds(n) })
		if late < 0 {
			return nil
		}
		if time.Since(begun) > 2*time.Minute {
			return fmt.Errorf("n%d does not know all after two minutes: it knows %d nodes and %d services", late, len(c.nodes[late].Nodes()), len(c.nodes[late].Services()))
		}
	}
}

// each does something n times at once.
func each(n int, do func(i int) error) error {
	errs := make(chan error, n)
	for i := range n {
		go func() { errs <- do(i) }()
	}
	var failed error
	for range n {
		if err := <-errs; err != nil {
			failed = err
		}
	}
	return failed
}

func (c *large) stop() {
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	_ = each(c.Nodes, func(i int) error {
		if n := c.nodes[i]; n != nil {
			return n.Stop(ctx)
		}
		return nil
	})
	time.Sleep(10 * time.Second) // probes and dials that were under way end
}

func memoryInUse() int {
	runtime.GC()
	runtime.GC() // what the first has cleared of pools
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	return int(m.HeapAlloc + m.StackInuse)
}
