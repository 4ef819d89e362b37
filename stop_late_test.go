package sabir_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
)

// The calls took all the time that the stop had. The operator reads whose they were, and the other nodes hear a goodbye all the same: else they would take
// this one for lost.
func TestAStopThatCutsCallsOffSaysWhoseTheyWereAndTellsTheOthers(t *testing.T) {
	inside, release := make(chan struct{}), make(chan struct{})
	defer close(release)
	s := sabir.NewService("slow")
	sabir.Handle(s, "call", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		close(inside)
		<-release
		return sabir.Empty{}, nil
	})
	address := sabir.Join("mem://" + t.Name())
	node := sabir.NewNode(sabir.NodeID("stopping"), sabir.Logger(quiet), sabir.Serve(s), address)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	caller := start(t, sabir.NodeID("caller"), address)
	if err := caller.WaitFor(t.Context(), "slow"); err != nil {
		t.Fatal(err)
	}
	answer := make(chan error)
	go func() {
		_, err := sabir.Call[sabir.Empty](t.Context(), caller, "slow.call", sabir.Empty{})
		answer <- err
	}()
	<-inside
	over, cancel := context.WithCancel(t.Context())
	cancel()
	err := node.Stop(over)
	if !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "1 calls and streams of node caller were still running, and are cut off") {
		t.Errorf("the stop ended with %v", err)
	}
	if err != nil && strings.Contains(err.Error(), "leaves") {
		t.Errorf("the others were not told: %v", err)
	}
	if err := <-answer; !errors.Is(err, sabir.ErrLinkLost) {
		t.Errorf("the call ended with %v", err)
	}
}
