package actor

import (
	"context"
	"encoding/binary"
	"log/slog"
	"net"
	"slices"
	"testing"
	"time"
	"unique"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/wire"
)

// The links of two nodes deliver in no common order: what was under way on one that stood still for seconds comes when
// another session is up on the next link.
func TestAHelloThatComesLateEndsNoSession(t *testing.T) {
	s := NewSystem(Config{Logger: slog.New(slog.DiscardHandler)})
	s.home = unique.Make(home{node: "c", instance: 1})
	s.node, s.remote.system = sabir.NewNode(sabir.NodeID("c")), s
	link := func() *wire.Link {
		near, far := net.Pipe()
		peer := wire.Peer{Node: "b", Limits: wire.Limits{Message: 1 << 20, Calls: 10, Streams: 10, Window: 1 << 16, Routes: 10, Schemas: 10, Names: 10}}
		l := wire.New(deaf{near}, peer, wire.Config{Node: "c", SilenceLimit: time.Hour, PingInterval: time.Minute}, idleHandler{})
		t.Cleanup(func() {
			l.Close(nil)
			<-l.Done()
			s.remote.unlinked(l, wire.ErrClosed)
			far.Close()
		})
		s.remote.linked(l)
		return l
	}
	t.Cleanup(func() {
		if err := s.Stop(context.Background()); err != nil {
			t.Error(err)
		}
		s.remote.gone.Wait()
	})
	hello := func(l *wire.Link, instance, number uint64) {
		t.Helper()
		post := binary.AppendUvarint(appendID([]byte{byte(opHello), protocolVersion}, instance), number)
		if err := s.remote.receiveHello(l, post[1:]); err != nil {
			t.Error(err)
		}
	}
	old, next := link(), link()
	hello(next, 7, 2)
	hello(old, 7, 1)
	s.remote.unlinked(old, wire.ErrClosed)
	if got := s.Nodes(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the nodes that are up are %v", got)
	}
	third := link()
	hello(third, 8, 1) // the node was started again, and counts anew
	s.remote.unlinked(next, wire.ErrClosed)
	if got := s.Nodes(); !slices.Equal(got, []string{"b"}) {
		t.Errorf("the nodes that are up after a restart are %v", got)
	}
}
