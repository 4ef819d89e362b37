package sabir_test

import (
	"context"
	"errors"
	"strings"
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

// A stop with a negative time would cut off all calls in flight at once, which nobody means who writes one.
func TestANodeWithANegativeTimeDoesNotStart(t *testing.T) {
	for name, option := range map[string]sabir.NodeOption{
		"StopTimeout": sabir.StopTimeout(-time.Second), "StartTimeout": sabir.StartTimeout(-time.Second),
	} {
		err := sabir.NewNode(sabir.Logger(quiet), option).Start(t.Context())
		if !errors.Is(err, sabir.ErrBadOption) || !strings.Contains(err.Error(), name+" is -1s") {
			t.Errorf("%s: %v", name, err)
		}
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
		"a negative time":      {sabir.StopTimeout(-time.Second)},
	} {
		if err := node.SetLimits(options...); !errors.Is(err, sabir.ErrBadOption) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
