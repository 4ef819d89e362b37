package mesh

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/joining"
	"github.com/sabir-go/sabir/internal/wire"
)

// enter starts a node called g-2 at an address of its own, with a seed.
func enter(t *testing.T, ctx context.Context, address, seed string) (*Mesh, error) {
	t.Helper()
	m, err := New(&host{}, Config{Node: "g-2", Info: Info{Instance: instances.Add(1)}, Log: slog.Default(),
		Address: address, Config: joining.Config{Cluster: "default", Connections: 1, Seeds: []string{seed}}})
	if err == nil {
		err = m.Listen(ctx)
	}
	if err == nil {
		err = m.Enter(ctx)
	}
	return m, err
}

func TestANodeWhoseIDAnotherHasIsRefusedByAThird(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	third := start(t, ctx, "g-1")
	defer stop(t, third)
	first, err := enter(t, ctx, "mem://namesake-first", third.OwnAddress())
	if err != nil {
		t.Fatal(err)
	}
	defer stop(t, first)
	before := third.Peer("g-2").Links()
	_, err = enter(t, ctx, "mem://namesake-second", third.OwnAddress())
	refused, ok := errors.AsType[*wire.HandshakeError](err)
	if !ok || refused.Reason != wire.ReasonSameNode || !strings.Contains(err.Error(), "mem://namesake-first") ||
		!strings.Contains(err.Error(), "mem://namesake-second") || !strings.Contains(err.Error(), "give each an id of its own") {
		t.Errorf("the second one's error is %v", err)
	}
	for _, l := range before {
		if l.Err() != nil {
			t.Errorf("a link with the first one ended: %v", l.Err())
		}
	}
}

// Its former run is linked still, and answers nothing: it stands still, or its machine has lost its power.
func TestANodeThatIsStartedAnewGetsInWhereItsFormerRunIsLinkedStill(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, ends := range []bool{false, true} {
		third := start(t, ctx, "g-1")
		conn := formerRun(t, ctx, third)
		await(t, ctx, "the former run is linked", func() bool { return third.Peer("g-2") != nil })
		if ends {
			conn.Close() // whether that is noticed by now or not
		}
		anew, err := enter(t, ctx, "mem://namesake-anew", third.OwnAddress())
		if err != nil {
			t.Fatal(err)
		}
		await(t, ctx, "the new run is linked, and the former one no more", func() bool {
			third.mu.Lock()
			defer third.mu.Unlock()
			p, run := third.peers["g-2"], anew.info.Load().Instance
			former := func(l *wire.Link) bool { // there may be two of the new run: either side makes the first one
				info, err := parseInfo(l.Peer().NodeInfo)
				return err != nil || info.Instance != run
			}
			return p != nil && p.info.Instance == run && len(p.Links()) > 0 && !slices.ContainsFunc(p.Links(), former)
		})
		conn.Close()
		stop(t, anew)
		stop(t, third)
	}
}

// formerRun links a node called g-2 that never reads what comes over the link.
func formerRun(t *testing.T, ctx context.Context, to *Mesh) net.Conn {
	t.Helper()
	conn, err := to.dialConn(ctx, to.OwnAddress())
	if err != nil {
		t.Fatal(err)
	}
	config := to.wire
	config.Node, config.Admit = "g-2", nil
	config.NodeInfo = Info{Instance: instances.Add(1), Addr: "mem://namesake-former"}.encode()
	secured, _, err := wire.Handshake(ctx, conn, config, true, wire.ForLink)
	if err != nil {
		t.Fatal(err)
	}
	return secured
}
