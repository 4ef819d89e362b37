package channel_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/secret"
)

const clusterKey = "0123456789abcdef0123456789abcdef"

// member is a node with the broker of the test, in a cluster of its own with the key, or in none where that is empty. Only the broker connects
// them.
func member(t *testing.T, key string, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	options := []sabir.NodeOption{sabir.NodeID(fmt.Sprintf("n%d", nodeNumber.Add(1))), channel.Broker("mem://" + t.Name()), sabir.Serve(services...)}
	if key != "" {
		options = append(options, sabir.Join("mem://"+t.Name()+key, cluster.Config{Key: secret.New(key)}))
	}
	return startNode(t, options...)
}

// principalOf returns the principal that a handler works for, as other nodes are sent it.
func principalOf(ctx context.Context) string {
	return sabir.InfoFromContext(ctx).Metadata[identity.PrincipalKey]
}

func TestAPrincipalOfAMessageIsTakenFromNodesWithTheClusterKeyOnly(t *testing.T) {
	c, got := parcels(t), make(chan string, 1)
	s := sabir.NewService("billing")
	c.Consume(s, func(ctx context.Context, _ article) error {
		if sabir.InfoFromContext(ctx).Metadata["sabir.voucher"] != "" {
			t.Error("the handler sees the proof")
		}
		got <- principalOf(ctx)
		return nil
	})
	member(t, clusterKey, s)
	ctx := sabir.WithMetadata(t.Context(), identity.PrincipalKey, `{"sub":"ada"}`)
	for key, want := range map[string]string{clusterKey: `{"sub":"ada"}`, "": "", "fedcba9876543210fedcba9876543210": ""} {
		if _, err := c.Publish(ctx, member(t, key), article{}); err != nil {
			t.Fatal(err)
		}
		if who := next(t, got); who != want {
			t.Errorf("published with the key %q: the handler works for %q, want %q", key, who, want)
		}
	}
}

// The node that gives a message up publishes it under another id and on another channel, and so does the one that replays it.
func TestADeadLetterThatIsReplayedHasItsPrincipal(t *testing.T) {
	c, got := parcels(t), make(chan string, 2)
	s := sabir.NewService("billing")
	tries := 0
	c.ConsumeWith(s, channel.Consumer{Attempts: 1}, func(ctx context.Context, _ article) error {
		got <- principalOf(ctx)
		if tries++; tries == 1 {
			return errors.New("not now")
		}
		return nil
	})
	n := member(t, clusterKey, s)
	dead := make(chan string, 1)
	watcher := sabir.NewService("watcher")
	channel.New[article](c.Name()+".dead").Consume(watcher, func(ctx context.Context, _ article) error { dead <- principalOf(ctx); return nil })
	ctx := sabir.WithMetadata(t.Context(), identity.PrincipalKey, `{"sub":"ada"}`)
	if _, err := c.Publish(ctx, n, article{}); err != nil {
		t.Fatal(err)
	}
	if who := next(t, got); who != `{"sub":"ada"}` {
		t.Errorf("first %q", who)
	}
	other := member(t, clusterKey, watcher)
	if who := next(t, dead); who != `{"sub":"ada"}` {
		t.Errorf("as a dead letter %q", who)
	}
	list, err := channel.DeadLetters(t.Context(), other, c.Name()+".dead", 10)
	if err != nil || len(list) != 1 {
		t.Fatalf("%v, %v", list, err)
	}
	if _, err := channel.Replay(t.Context(), n, c.Name()+".dead", list[0].Key); err != nil {
		t.Fatal(err)
	}
	if who := next(t, got); who != `{"sub":"ada"}` {
		t.Errorf("replayed for %q", who)
	}
}
