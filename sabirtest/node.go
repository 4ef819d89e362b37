package sabirtest

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/transport/mem"
)

const (
	// startTimeout bounds the start of the nodes of a test: one that depends on what no node offers waits for it.
	startTimeout = time.Minute
	// stopTimeout bounds the stop of a node at the end of its test.
	stopTimeout = 30 * time.Second
)

// Start makes a node, starts it, and stops it when the test has ended. A node that does not start within a minute ends the test. What the node logs goes
// to the output of the test, unless the options have a [sabir.Logger].
func Start(t testing.TB, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := newNode(t, options)
	start(t, node)
	return node
}

func newNode(t testing.TB, options []sabir.NodeOption) *sabir.Node {
	node := sabir.NewNode(options...)
	if node.Log() == slog.Default() {
		log := slog.New(slog.NewTextHandler(t.Output(), &slog.HandlerOptions{Level: slog.LevelInfo}))
		node = sabir.NewNode(append(slices.Clip(options), sabir.Logger(log))...)
	}
	return node
}

// start starts nodes at once, since one may wait for what another offers.
func start(t testing.TB, nodes ...*sabir.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), startTimeout)
	defer cancel()
	failures := make([]error, len(nodes))
	var starts sync.WaitGroup
	for i, node := range nodes {
		t.Cleanup(func() { stop(t, node) })
		starts.Go(func() { failures[i] = node.Start(ctx) })
	}
	starts.Wait()
	for i, err := range failures {
		if err != nil {
			t.Fatalf("node %s does not start: %v", nodes[i].ID(), err)
		}
	}
}

// stop stops a node that the test has not stopped.
func stop(t testing.TB, node *sabir.Node) {
	t.Helper()
	if node.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		t.Errorf("node %s: %v", node.ID(), err)
	}
}

// clusters counts the clusters of this process.
var clusters atomic.Int64

// Cluster starts a node for each list of options and joins them in this process, without a network. It returns when each node can
// call the services of all others; each may depend on what the others offer. The nodes are called node-1, node-2 and so on; a list must not have [sabir.NodeID] or [sabir.Join].
// Each call makes a cluster of its own, also in one test.
func Cluster(t testing.TB, options ...[]sabir.NodeOption) []*sabir.Node {
	t.Helper()
	t.Cleanup(awaitProbes) // after the nodes have stopped
	var nodes []*sabir.Node
	// A name of its own for each cluster: that of a subtest has a slash, which an address cannot have, and a test may start several.
	address := fmt.Sprintf("mem://sabirtest-%d", clusters.Add(1))
	for i, list := range options {
		own := append(slices.Clip(list), sabir.NodeID(fmt.Sprintf("node-%d", i+1)), sabir.Join(address))
		nodes = append(nodes, newNode(t, own))
	}
	start(t, nodes...)
	for _, node := range nodes {
		for _, other := range nodes {
			awaitServices(t, node, other)
		}
	}
	return nodes
}

// awaitProbes lets the membership's last probes of nodes that have stopped end by their time limits: a bubble of synctest must not end before
// its goroutines. Elsewhere they end by themselves, and nobody waits.
func awaitProbes() {
	if inBubble() {
		time.Sleep(time.Minute)
	}
}

func inBubble() (is bool) {
	defer func() { is = recover() == nil }()
	synctest.Wait() // panics outside of a bubble
	return
}

// awaitServices waits until node can call each service of other there.
func awaitServices(t testing.TB, node, other *sabir.Node) {
	t.Helper()
	await, cancel := context.WithTimeout(t.Context(), waitTimeout)
	defer cancel()
	for {
		changed := node.Changed() // before the comparison, so that no change after it is missed
		missing := servicesOf(other, other.ID())
		for _, known := range servicesOf(node, other.ID()) {
			missing = slices.DeleteFunc(missing, func(name string) bool { return name == known })
		}
		if len(missing) == 0 {
			return
		}
		select {
		case <-changed:
		case <-await.Done():
			t.Fatalf("%s does not know that %s offers %v", node.ID(), other.ID(), missing)
		}
	}
}

// servicesOf lists the services of the node id that node knows, without those that every node has.
func servicesOf(node *sabir.Node, id string) (names []string) {
	for _, s := range node.Services() {
		if s.Node == id && s.Name[0] != '$' {
			names = append(names, s.Name)
		}
	}
	return names
}
