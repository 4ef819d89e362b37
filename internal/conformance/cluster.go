package conformance

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/secret"
)

// waitLimit is the time that a behaviour waits for what must come; it only passes when something is broken.
const waitLimit = time.Minute

// atOnce bounds what must not wait for any timeout of the runtime: less than the shortest of them, and long enough for a
// busy machine.
const atOnce = 2 * time.Second

// noticed is the time after which a killed process is out of use: at once where its connections break, over a broker when
// that has reported for a while that nothing listens there, and else when it has been silent for long enough.
func (s *suite) noticed() time.Duration {
	switch {
	case s.Silent:
		return silence
	case s.Broker:
		return 2 * atOnce
	}
	return atOnce
}

// cutOff is noticed for nodes whose connections a test broke.
func (s *suite) cutOff() time.Duration {
	if s.Broker {
		return 2 * atOnce
	}
	return atOnce
}

// silence is the time that it takes at most until a link counts as lost to a peer from which nothing is received.
const silence = 10 * time.Second

var quiet = slog.New(slog.DiscardHandler)

// testCluster is the nodes of one behaviour.
type testCluster struct {
	t      testing.TB
	suite  *suite
	meet   string // where nodes find each other
	name   string
	key    string // of the nodes that start from now on
	logged *journal
	mu     sync.Mutex
	nodes  []*sabir.Node
}

var clusters atomic.Int64

// cluster makes a cluster without nodes. Its nodes are stopped when the test ends, all at the same moment.
func (s *suite) cluster(t testing.TB) *testCluster {
	return s.clusterAt(t, s.Address(t))
}

func (s *suite) clusterAt(t testing.TB, address string) *testCluster {
	c := &testCluster{t: t, suite: s, meet: address, key: s.Key, name: fmt.Sprintf("cluster-%d", clusters.Add(1)), logged: new(journal)}
	t.Cleanup(func() {
		if t.Failed() {
			t.Log(c.logged)
		}
		c.mu.Lock()
		nodes := c.nodes
		c.mu.Unlock()
		s.stopping.Add(len(nodes))
		for _, n := range nodes {
			go func() { // leaving takes a while, and nothing waits for it but the end of the suite
				defer s.stopping.Done()
				stop(s.parent, n)
			}()
		}
	})
	return c
}

// called is a cluster of another name at the same address, for nodes that are refused.
func (c *testCluster) called(name string) *testCluster {
	return &testCluster{t: c.t, suite: c.suite, meet: c.meet, key: c.key, name: name, logged: c.logged}
}

// options are the options of a node of the cluster.
func (c *testCluster) options(id string, joins []cluster.Option, more ...sabir.NodeOption) []sabir.NodeOption {
	all := append([]cluster.Option{cluster.Config{Name: c.name, Key: secret.New(c.key)}}, c.suite.Options...)
	return append([]sabir.NodeOption{sabir.NodeID(id), sabir.Logger(c.logged.logger()), sabir.Join(c.meet, append(all, joins...)...)}, more...)
}

// start starts a node and gives it to the cluster.
func (c *testCluster) start(id string, more ...sabir.NodeOption) *sabir.Node {
	c.t.Helper()
	return c.join(id, nil, more...)
}

// join is start with options of Join.
func (c *testCluster) join(id string, joins []cluster.Option, more ...sabir.NodeOption) *sabir.Node {
	c.t.Helper()
	n := sabir.NewNode(c.options(id, joins, more...)...)
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := n.Start(ctx); err != nil {
		c.t.Fatalf("node %s does not start: %v", id, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.nodes = append(c.nodes, n)
	if at := n.Info().Addr; len(c.nodes) == 1 && at != "" && !c.suite.Broker {
		c.meet = at
	}
	return n
}

// shown is the address where nodes find each other, as errors show it: without a password.
func (c *testCluster) shown() string {
	at, err := schemes.Parse(c.meet)
	if err != nil {
		return c.meet
	}
	return at.Redacted()
}

// stop stops a node as a program would. A node that was stopped before is left alone.
func stop(t testing.TB, n *sabir.Node) {
	if n.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Errorf("node %s does not stop cleanly: %v", n.ID(), err)
	}
}

// eventually waits until a condition holds that nothing signals.
func eventually(t testing.TB, what string, holds func() bool) {
	t.Helper()
	within(t, waitLimit, what, holds)
}

// within is eventually with a bound that is part of the behaviour.
func within(t testing.TB, bound time.Duration, what string, holds func() bool) {
	t.Helper()
	deadline := time.NewTimer(bound)
	defer deadline.Stop()
	again := time.NewTicker(2 * time.Millisecond)
	defer again.Stop()
	for !holds() {
		select {
		case <-again.C:
		case <-deadline.C:
			if !holds() {
				t.Fatalf("after %v it is still not so that %s", bound, what)
			}
			return
		}
	}
}

// get takes a value from a channel.
func get[T any](t testing.TB, what string, from <-chan T) (value T) {
	t.Helper()
	select {
	case value = <-from:
	case <-time.After(waitLimit):
		t.Fatalf("%s did not come in %v", what, waitLimit)
	}
	return value
}

// must fails the test for an error.
func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// brief is a context that ends after waitLimit, for calls that must not hang the suite.
func brief(t testing.TB) context.Context {
	ctx, cancel := context.WithTimeout(t.Context(), waitLimit)
	t.Cleanup(cancel)
	return ctx
}

// offers reports whether a node knows that another offers a service.
func offers(asked *sabir.Node, service, on string) bool {
	for _, info := range asked.Services() {
		if info.Name == service && info.Node == on {
			return true
		}
	}
	return false
}

// sees reports whether a node lists another that runs.
func sees(asked *sabir.Node, id string) bool {
	for _, info := range asked.Nodes() {
		if info.ID == id {
			return true
		}
	}
	return false
}

// contains reports whether the text holds all of the words.
func contains(text string, words ...string) bool {
	for _, word := range words {
		if !strings.Contains(text, word) {
			return false
		}
	}
	return true
}
