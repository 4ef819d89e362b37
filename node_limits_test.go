package sabir_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

func TestANodeThatRunsTakesAnotherTimeToStop(t *testing.T) {
	s := sabir.NewService("stuck", sabir.OnStop(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s), sabir.StopTimeout(time.Hour))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()
	if err := node.WaitFor(ctx, "stuck"); err != nil {
		t.Fatal(err)
	}
	if err := node.SetLimits(sabir.StopTimeout(5 * time.Millisecond)); err != nil {
		t.Fatal(err)
	}
	end()
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestTwoNodesOfAProcessThatWereGivenNoNamesHaveDifferentOnes(t *testing.T) {
	first, second := sabir.NewNode(), sabir.NewNode()
	if first.ID() == "" || first.ID() == second.ID() {
		t.Errorf("%q and %q", first.ID(), second.ID())
	}
}

func TestLimitsAreAllThatANodeThatRunsTakes(t *testing.T) {
	node := sabir.NewNode()
	for name, options := range map[string][]sabir.NodeOption{
		"an option of NewNode": {sabir.MaxDepth(3), sabir.NodeID("other")},
		"a limit twice":        {sabir.MaxDepth(3), sabir.MaxDepth(4)},
	} {
		if err := node.SetLimits(options...); !errors.Is(err, sabir.ErrBadOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
