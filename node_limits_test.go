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
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s), sabir.Limits{StopTimeout: time.Hour})
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()
	if err := node.WaitFor(ctx, "stuck"); err != nil {
		t.Fatal(err)
	}
	if err := node.SetLimits(sabir.Limits{StopTimeout: 5 * time.Millisecond}); err != nil {
		t.Fatal(err)
	}
	end()
	if err := <-ended; !errors.Is(err, context.DeadlineExceeded) {
		t.Error(err)
	}
}

func TestANodeWithALimitBelowZeroDoesNotStart(t *testing.T) {
	for want, limits := range map[string]sabir.Limits{
		"StartTimeout of Limits is -1s": {StartTimeout: -time.Second}, "WaitForNode of Limits is -1s": {WaitForNode: -time.Second},
		"MaxDepth of Limits is -1": {MaxDepth: -1}, "NodeBuffers of Limits is -1": {NodeBuffers: -1}, "ConnectionBuffers of Limits is -1": {ConnectionBuffers: -1},
	} {
		err := sabir.NewNode(sabir.Logger(quiet), limits).Start(t.Context())
		if !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), "node_limits_test.go:") {
			t.Errorf("%s: %v", want, err)
		}
	}
}

func TestANegativeStopTimeoutCutsOffAtOnce(t *testing.T) {
	stopping := make(chan error, 1)
	s := sabir.NewService("stuck", sabir.OnStop(func(ctx context.Context) error {
		stopping <- ctx.Err()
		return nil
	}))
	node := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s), sabir.Limits{StopTimeout: -1})
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error)
	go func() { ended <- node.Run(ctx) }()
	if err := node.WaitFor(ctx, "stuck"); err != nil {
		t.Fatal(err)
	}
	end()
	<-ended
	if err := <-stopping; !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the stop had time: %v", err)
	}
}

func TestTwoNodesOfAProcessThatWereGivenNoNamesHaveDifferentOnes(t *testing.T) {
	first, second := sabir.NewNode(), sabir.NewNode()
	if first.ID() == "" || first.ID() == second.ID() {
		t.Errorf("%q and %q", first.ID(), second.ID())
	}
}

func TestANodeThatRunsTakesThreeLimits(t *testing.T) {
	node := sabir.NewNode()
	for name, limits := range map[string]sabir.Limits{
		"a limit of NewNode": {MaxDepth: 3, HeapFloor: 1 << 20},
		"a negative time":    {StartTimeout: -time.Second},
	} {
		if err := node.SetLimits(limits); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadOption", "")) {
			t.Errorf("%s: %v", name, err)
		}
	}
}
