package gossip

import (
	"io"
	"log/slog"
	"testing"

	"github.com/hashicorp/memberlist"

	"github.com/sabir-go/sabir/internal/membership"
)

func TestAKnownNodeIsHeardOfAgainWithoutItsDescriptionBeingDecoded(t *testing.T) {
	log := slog.New(slog.NewTextHandler(io.Discard, nil))
	roster, rejoiner := membership.NewRoster(func(membership.Change) {}), newRejoiner("self", nil, log)
	defer roster.Stop()
	defer rejoiner.cancel()
	p := newGossipDelegate(membership.Member{ID: "self"}, nil, roster, rejoiner, log)
	meta, err := encodeMeta(membership.Member{ID: "other", Addr: "tcp://127.0.0.1:1", Instance: 7})
	if err != nil {
		t.Fatal(err)
	}
	node := &memberlist.Node{Name: "other", Meta: meta}
	if err := p.NotifyAlive(node); err != nil {
		t.Fatal(err)
	}
	p.NotifyJoin(node)
	again := &memberlist.Node{Name: "other", Meta: append([]byte{}, meta...)}
	if n := testing.AllocsPerRun(100, func() {
		if err := p.NotifyAlive(again); err != nil {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
	if err := p.NotifyAlive(&memberlist.Node{Name: "other", Meta: []byte(`{"addr":`)}); err == nil {
		t.Error("a known node's next description was taken although it cannot be read")
	}
}
