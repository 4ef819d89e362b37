package policy_test

import (
	"context"
	"log/slog"
	"slices"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// start runs a node for the length of a test or benchmark.
func start(tb testing.TB, options ...sabir.NodeOption) *sabir.Node {
	tb.Helper()
	node := sabir.NewNode(options...)
	if err := node.Start(context.Background()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { stop(tb, node) })
	return node
}

func stop(tb testing.TB, node *sabir.Node) {
	tb.Helper()
	if node.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := node.Stop(ctx); err != nil {
		tb.Error(err)
	}
}

// rig is a node with one action, "test.run", behind policies, and the signals they send.
type rig struct {
	node    *sabir.Node
	mu      sync.Mutex
	signals []string
}

// newRig serves fn behind the options.
func newRig[In, Out any](tb testing.TB, fn func(context.Context, In) (Out, error), options ...sabir.ActionOption) *rig {
	tb.Helper()
	r := &rig{}
	s := sabir.NewService("test")
	sabir.Handle(s, "run", fn, options...)
	r.node = start(tb, sabir.Serve(s), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Use(r.listener()))
	return r
}

// listener notes signals.
func (r *rig) listener() sabir.Middleware {
	return sabir.Middleware{Signal: func(kind, _, _ string) {
		r.mu.Lock()
		defer r.mu.Unlock()
		r.signals = append(r.signals, kind)
	}}
}

// received returns the number of signals of a kind so far.
func (r *rig) received(kind string) (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, s := range r.signals {
		if s == kind {
			n++
		}
	}
	return n
}

func (r *rig) all() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return slices.Clone(r.signals)
}

type none = struct{}

// call calls the action of the rig without input.
func (r *rig) call(ctx context.Context, options ...sabir.CallOption) (int, error) {
	return sabir.Call[int](ctx, r.node, "test.run", none{}, options...)
}

// inBubble runs a test with a clock of its own, which moves only while all goroutines wait.
func inBubble(t *testing.T, test func(t *testing.T)) {
	t.Helper()
	bubbletest.Run(t, test)
}

// refused starts a node with an action behind the policy, which must fail, and returns why.
func refused(t *testing.T, policy sabir.Wrapper) string {
	t.Helper()
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(context.Context, helloRequest) (helloReply, error) { return helloReply{}, nil }, sabir.Use(policy))
	node := sabir.NewNode(sabir.Serve(s))
	err := node.Start(t.Context())
	if err == nil {
		stop(t, node)
		t.Fatal("the node started")
	}
	return err.Error()
}

func codeOf(err error) sabir.Code {
	if err == nil {
		return sabir.CodeOK
	}
	return sabir.AsError(err).Code
}
