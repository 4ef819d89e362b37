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

// A node that is cut off in the middle of a call may have done it. The call goes to no other node by itself, and its error asks nobody to try again.
func TestACallWhoseNodeIsCutOffIsMadeOnceUnlessItsActionIsIdempotent(t *testing.T) {
	runs, release := make(chan string, 10), make(chan struct{})
	address := sabir.Join("mem://" + t.Name())
	nodes := map[string]*sabir.Node{}
	for _, id := range []string{"a", "b"} {
		s := sabir.NewService("pay")
		sabir.Handle(s, "once", func(context.Context, sabir.Empty) (sabir.Empty, error) {
			runs <- id
			<-release
			return sabir.Empty{}, nil
		})
		nodes[id] = sabir.NewNode(sabir.NodeID(id), sabir.Logger(quiet), sabir.Serve(s), address)
		if err := nodes[id].Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer nodes[id].Stop(context.Background())
	}
	defer close(release)
	caller := start(t, sabir.NodeID("caller"), address)
	for changed := caller.Changed(); caller.Action("pay.once") == nil || len(caller.Action("pay.once").Nodes()) < 2; changed = caller.Changed() {
		<-changed
	}
	answer := make(chan error)
	go func() {
		_, err := sabir.Call[sabir.Empty](t.Context(), caller, "pay.once", sabir.Empty{})
		answer <- err
	}()
	over, cancel := context.WithCancel(t.Context())
	cancel()
	_ = nodes[<-runs].Stop(over)
	select {
	case err := <-answer:
		if !errors.Is(err, sabir.ErrLinkLost) || sabir.AsError(err).Retryable {
			t.Errorf("the call ended with %v, retryable %v", err, sabir.AsError(err).Retryable)
		}
	case id := <-runs:
		t.Errorf("the call was made again, on node %s", id)
	}
}
