package sabir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

func TestOtherNodesDialTheAdvertisedHost(t *testing.T) {
	n := startNode(t, sabir.Join("tcp://127.0.0.1:0", cluster.Config{Advertise: "localhost"}))
	if addr := n.Info().Addr; !strings.HasPrefix(addr, "tcp://localhost:") {
		t.Errorf("the node tells others that it is at %q", addr)
	}
}

func TestRunGivesWhatStopsNoMoreTimeThanStopTimeout(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	s := sabir.NewService("slow", sabir.OnStop(func(ctx context.Context) error {
		<-ctx.Done()
		return ctx.Err()
	}))
	n := sabir.NewNode(sabir.Logger(quiet), sabir.Serve(s), sabir.Limits{StopTimeout: 50 * time.Millisecond})
	ended := make(chan error)
	go func() { ended <- n.Run(ctx) }()
	if err := n.WaitFor(ctx, "slow"); err != nil {
		t.Fatal(err)
	}
	cancel()
	select {
	case err := <-ended:
		if !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("got %v", err)
		}
	case <-time.After(8 * time.Second): // it would be 10 without the option
		t.Error("the service was given more time")
	}
}

func TestAnIDThatNoNodeMayHaveIsAnErrorOfTheStart(t *testing.T) {
	for _, id := range []string{"", "*", "orders-*", "a\nb", strings.Repeat("n", 201)} {
		err := sabir.NewNode(sabir.NodeID(id), sabir.Logger(quiet)).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "options_test.go") {
			t.Errorf("a node with the id %q starts with %v", id, err)
		}
	}
}
