package channel_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	_ "github.com/sabir-go/sabir/transport/mem"
)

type article struct {
	ID   int    `json:"id"`
	Name string `json:"name,omitempty"`
}

// parcels is a channel with a name of its own for each test.
func parcels(t *testing.T, config ...channel.Config) *channel.Channel[article] {
	words := strings.FieldsFunc(t.Name(), func(r rune) bool { return r == '/' || r == '#' })
	return channel.New[article](strings.Join(words, "."), config...)
}

// channelNode is a running node with channels in memory, of a name that nodes of one test share.
func channelNode(t *testing.T, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	return startNode(t, sabir.NodeID(fmt.Sprintf("n%d", nodeNumber.Add(1))), channel.Broker("mem://"+strings.ReplaceAll(t.Name(), "/", "-")), sabir.Serve(services...))
}

var nodeNumber atomic.Int64

var quiet = slog.New(slog.DiscardHandler)

func startNode(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	n := sabir.NewNode(append([]sabir.NodeOption{sabir.Logger(quiet)}, options...)...)
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if n.State() == "running" {
			stopNode(t, n)
		}
	})
	return n
}

func stopNode(t *testing.T, n *sabir.Node) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := n.Stop(ctx); err != nil {
		t.Error(err)
	}
}

// next waits for a value.
func next[T any](t *testing.T, from <-chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(time.Minute):
		t.Fatal("nothing came in a minute")
		panic("unreachable")
	}
}

func publish(t *testing.T, c *channel.Channel[article], n sabir.Caller, ids ...int) {
	t.Helper()
	for _, id := range ids {
		if _, err := c.Publish(t.Context(), n, article{ID: id}); err != nil {
			t.Fatal(err)
		}
	}
}
