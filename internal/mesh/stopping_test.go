package mesh

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/wire"
)

// The node begins to stop between its admission of a peer and the end of the handshake. The peer may already call over the
// link then, so the node sends GoAway and finishes what came: a closed connection would fail these calls with LinkLost.
func TestALinkThatIsMadeWhileItsNodeStopsEndsInPeace(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	rounds := 20
	if testing.Short() {
		rounds = 3
	}
	for range rounds {
		stopping, caller := start(t, ctx, "stopping"), start(t, ctx, "caller")
		conn, err := caller.dialConn(ctx, stopping.OwnAddress())
		if err != nil {
			t.Fatal(err)
		}
		stopped := make(chan struct{})
		config := caller.wire
		config.Admit = func(wire.Peer) error { // it runs when the other node has admitted the caller
			go func() {
				stop(t, stopping)
				close(stopped)
			}()
			await(t, ctx, "the node stops", func() bool {
				stopping.mu.Lock()
				defer stopping.mu.Unlock()
				return stopping.draining
			})
			return nil
		}
		secured, p, err := wire.Handshake(ctx, conn, config, true, wire.ForLink)
		if err != nil {
			t.Fatal(err)
		}
		peer := &goAwayRecorder{}
		link := wire.New(secured, p, config, peer)
		<-stopped
		<-link.Done()
		if !peer.sent {
			t.Errorf("the link ended without GoAway: %v", link.Err())
		}
		stop(t, caller)
	}
}

// goAwayRecorder is the owner of a link over which only GoAway is expected.
type goAwayRecorder struct{ sent bool }

func (g *goAwayRecorder) Opened(*wire.Link)                         {}
func (g *goAwayRecorder) Route(*wire.Link, *wire.Route) wire.Target { return nil }
func (g *goAwayRecorder) Post(*wire.Link, uint8, []byte)            {}
func (g *goAwayRecorder) GoAway(*wire.Link)                         { g.sent = true }
func (g *goAwayRecorder) Closed(*wire.Link, error)                  {}
