package integration

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// restTime is more than a link is kept on which nobody begins anything.
const restTime = time.Minute

// sparseCluster is a cluster in which links are made on demand. It lives in a bubble of testing/synctest.
type sparseCluster struct {
	t       *testing.T
	options []sabir.NodeOption // of each node
	nodes   []*sabir.Node
}

func startSparseCluster(t *testing.T, size int, options ...sabir.NodeOption) *sparseCluster {
	c := &sparseCluster{t: t, options: options}
	for i := range size {
		c.nodes = append(c.nodes, c.start(i, cluster.Links{FullMesh: 3}))
	}
	return c
}

// start makes the node i, which has a service of its own, and one that others have too.
func (c *sparseCluster) start(i int, options ...cluster.Option) *sabir.Node {
	c.t.Helper()
	own := sabir.NewService(fmt.Sprint("own", i))
	sabir.Handle(own, "add", func(_ context.Context, in int) (int, error) { return in + i, nil })
	shared := sabir.NewService("shared")
	sabir.Handle(shared, "add", func(_ context.Context, in int) (int, error) { return in + 1, nil }, sabir.Idempotent())
	if i > 0 {
		options = append(options, cluster.Config{Seeds: []string{c.address(0), c.address(1)}})
	}
	n := sabir.NewNode(append(c.options, sabir.NodeID(fmt.Sprint("n", i)), sabir.Serve(own, shared), sabir.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))),
		sabir.Join(c.address(i), options...))...)
	if err := n.Start(c.t.Context()); err != nil {
		c.t.Fatal(err)
	}
	return n
}

func (c *sparseCluster) address(i int) string { return fmt.Sprintf("mem://%s-%d", c.t.Name(), i) }

func (c *sparseCluster) stop() {
	for _, n := range c.nodes {
		if err := n.Stop(context.Background()); err != nil {
			c.t.Error(err)
		}
	}
	time.Sleep(restTime) // probes that were under way end
}

// links is the most links that a node has.
func (c *sparseCluster) links() (most int) {
	for _, n := range c.nodes {
		most = max(most, n.Info().Links)
	}
	return most
}

// calls has each node call each other.
func (c *sparseCluster) calls() {
	c.t.Helper()
	for i, n := range c.nodes {
		for j := range c.nodes {
			if got, err := sabir.Call[int](c.t.Context(), n, fmt.Sprintf("own%d.add", j), 1); err != nil || got != j+1 {
				c.t.Errorf("n%d calls n%d: %d, %v", i, j, got, err)
			}
		}
	}
}

func TestLinksAreMadeForCallsAndRestAfterwards(t *testing.T) {
	brokers.Long(t)
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 20)
		defer c.stop()
		time.Sleep(2 * restTime)
		if most := c.links(); most > 12 {
			t.Errorf("a node has %d links while nobody calls", most)
		}
		c.calls()
		if most := c.links(); most < 19 { // more where two nodes called each other at one moment
			t.Errorf("a node that has called all has %d links", most)
		}
		time.Sleep(2 * restTime)
		if most := c.links(); most > 12 {
			t.Errorf("a node has %d links when nobody calls any more", most)
		}
		c.calls()
	})
}

func TestANodeOfALargeClusterKnowsAllWhenItHasStarted(t *testing.T) {
	brokers.Long(t)
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 20)
		defer c.stop()
		time.Sleep(2 * restTime)
		late := c.start(20, cluster.Links{FullMesh: 3})
		c.nodes = append(c.nodes, late)
		for j := range 20 {
			if late.Action(fmt.Sprintf("own%d.add", j)) == nil {
				t.Errorf("it does not know n%d", j)
			}
		}
		if nodes := late.Nodes(); len(nodes) != 21 {
			t.Errorf("it lists %d nodes", len(nodes))
		}
		time.Sleep(time.Second)
		c.calls()
	})
}

// What a node does until it has stopped may need others. In a small cluster there are links to them.
func TestANodeThatStopsStillCallsNodesAtRest(t *testing.T) {
	brokers.Long(t)
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 20)
		defer c.stop()
		begun, handled := make(chan struct{}), make(chan error, 1)
		var node *sabir.Node
		calls := func(ctx context.Context) error {
			var failed []error
			for j := range 20 {
				_, err := sabir.Call[int](ctx, node, fmt.Sprintf("own%d.add", j), 1)
				failed = append(failed, err)
			}
			return errors.Join(failed...)
		}
		s := sabir.NewService("stopping", sabir.OnStop(calls))
		sabir.Handle(s, "run", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
			close(begun)
			time.Sleep(2 * time.Second)
			return sabir.Empty{}, calls(ctx)
		})
		node = sabir.NewNode(sabir.NodeID("stopping"), sabir.Serve(s), sabir.Logger(slog.New(slog.DiscardHandler)),
			sabir.Join(c.address(20), cluster.Links{FullMesh: 3}, cluster.Config{Seeds: []string{c.address(0)}}))
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		time.Sleep(2 * restTime)
		go func() {
			_, err := sabir.Call[sabir.Empty](context.Background(), c.nodes[1], "stopping.run", sabir.Empty{})
			handled <- err
		}()
		<-begun
		if err := node.Stop(t.Context()); err != nil {
			t.Error(err)
		}
		if err := <-handled; err != nil {
			t.Error(err)
		}
	})
}

func TestANodeAtRestThatHasEndedIsNotCalled(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 20, sabir.PreferLocal(false))
		defer c.stop()
		time.Sleep(2 * restTime)
		gone := c.nodes[19]
		c.nodes = c.nodes[:19]
		if err := gone.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, n := range c.nodes {
			for range 40 { // each goes to another of those that offer it
				if _, err := sabir.Call[int](t.Context(), n, "shared.add", 1); err != nil {
					t.Error(err)
				}
			}
		}
		time.Sleep(5 * time.Second)
		for _, n := range c.nodes {
			if n.Action("own19.add") != nil {
				t.Errorf("%s still knows what the node offered", n.ID())
			}
		}
	})
}

func TestARestartOfManyNodesFailsNoCall(t *testing.T) {
	brokers.Long(t)
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 20, sabir.PreferLocal(false), sabir.Use(policy.Retry{}))
		defer c.stop()
		time.Sleep(2 * restTime)
		over, called := make(chan struct{}), make(chan struct{})
		go func() {
			defer close(called)
			for k := 0; ; k++ {
				select {
				case <-over:
					return
				case <-time.After(5 * time.Millisecond):
				}
				if _, err := sabir.Call[int](t.Context(), c.nodes[k%10], "shared.add", 1); err != nil {
					t.Error(err)
				}
			}
		}()
		for i := 10; i < 20; i++ {
			if err := c.nodes[i].Stop(t.Context()); err != nil {
				t.Error(err)
			}
			c.nodes[i] = c.start(i, cluster.Links{FullMesh: 3})
		}
		close(over)
		<-called
		time.Sleep(3 * time.Second)
		c.calls()
	})
}

func TestAChangeIsKnownToAllOfALargeClusterSoon(t *testing.T) {
	brokers.Long(t)
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 20)
		defer c.stop()
		time.Sleep(2 * restTime)
		more := sabir.NewService("more")
		sabir.Handle(more, "add", func(_ context.Context, in int) (int, error) { return in, nil })
		if err := c.nodes[7].Add(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for _, n := range c.nodes {
			if _, err := sabir.Call[int](t.Context(), n, "more.add", 1); err != nil {
				t.Errorf("%s: %v", n.ID(), err)
			}
		}
		if err := c.nodes[7].Remove(t.Context(), more); err != nil {
			t.Fatal(err)
		}
		time.Sleep(time.Second)
		for _, n := range c.nodes {
			if n.Action("more.add") != nil {
				t.Errorf("%s still knows the service", n.ID())
			}
		}
	})
}

func TestEventsReachNodesAtRest(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		heard := make(chan int, 100)
		c := startSparseCluster(t, 12)
		defer c.stop()
		for i, n := range c.nodes {
			s := sabir.NewService(fmt.Sprint("listener", i))
			sabir.On(s, "thing.happened", func(context.Context, int) error {
				heard <- i
				return nil
			})
			if err := n.Add(t.Context(), s); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * restTime)
		if err := sabir.Emit(t.Context(), c.nodes[3], "thing.happened", 1); err != nil {
			t.Fatal(err)
		}
		by := map[int]bool{}
		for range 12 {
			by[<-heard] = true
		}
		if len(by) != 12 {
			t.Errorf("of 12 groups %d got it", len(by))
		}
	})
}

// A node that keeps links to all, whatever their number, does not tell others of itself by way of the neighbours, as one of an earlier version does not.
func TestANodeThatKeepsAllLinksIsOneOfALargeCluster(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 12)
		defer c.stop()
		c.nodes = append(c.nodes, c.start(12, cluster.Links{FullMesh: 1000}))
		time.Sleep(2 * restTime)
		c.calls()
		if links := c.nodes[12].Info().Links; links < 12 {
			t.Errorf("it has %d links", links)
		}
	})
}

func TestNodesWithProcessesKeepTheLinksBetweenThem(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := startSparseCluster(t, 8)
		defer c.stop()
		for i := 8; i < 12; i++ {
			c.options = []sabir.NodeOption{actor.NewSystem(actor.Config{}).Option()}
			c.nodes = append(c.nodes, c.start(i, cluster.Links{FullMesh: 3}))
		}
		time.Sleep(2 * restTime)
		for _, n := range c.nodes[8:] {
			linked := 0
			for _, other := range n.Nodes() {
				if strings.HasPrefix(other.ID, "n8") || strings.HasPrefix(other.ID, "n9") || len(other.ID) == 3 {
					linked += min(other.Links, 1)
				}
			}
			if linked < 3 {
				t.Errorf("%s has %d links to the three others with processes", n.ID(), linked)
			}
		}
		c.calls()
	})
}
