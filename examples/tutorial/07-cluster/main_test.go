package main

import (
	"context"
	"io"
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func start(t *testing.T, id string, serve ...string) *sabir.Node {
	t.Helper()
	node := newNode(serve, "mem://"+t.Name(), sabir.NodeID(id), sabir.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

// A rolling restart: a new node comes, the old one stops, and calls go on meanwhile.
func TestNoCallFailsWhileANodeIsReplaced(t *testing.T) {
	old := start(t, "old", "users")
	caller := start(t, "caller")
	if err := caller.WaitFor(t.Context(), "users"); err != nil {
		t.Fatal(err)
	}
	done, calls := make(chan struct{}), 0
	failed := make(chan error, 1)
	go func() {
		defer close(failed)
		for {
			select {
			case <-done:
				return
			default:
			}
			if _, err := users.Get.Call(context.Background(), caller, users.GetUser{ID: "u-1"}); err != nil {
				failed <- err
				return
			}
			calls++
		}
	}()
	// doc: rolling
	renewed := start(t, "new", "users")
	if err := caller.WaitFor(t.Context(), "users"); err != nil {
		t.Fatal(err)
	}
	if err := old.Stop(t.Context()); err != nil { // what SIGTERM does to a program that called Run
		t.Fatal(err)
	}
	// end
	if _, err := users.Get.Call(t.Context(), caller, users.GetUser{ID: "u-1"}, sabir.ToNode(renewed.ID())); err != nil {
		t.Error(err)
	}
	close(done)
	if err := <-failed; err != nil || calls == 0 {
		t.Errorf("after %d calls: %v", calls, err)
	}
}
