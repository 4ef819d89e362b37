package sabir

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// slowToAnswer is TCP where the first dials fail for want of time.
type slowToAnswer struct {
	transport.Stream
	failing atomic.Int32
}

var slowTCP = sync.OnceValue(func() *slowToAnswer {
	tcp, _ := transports.Stream("tcp")
	s := &slowToAnswer{Stream: tcp}
	transport.Register("slow+tcp", s)
	return s
})

func (s *slowToAnswer) Listen(ctx context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	l, err := s.Stream.Listen(ctx, overTCP(at), config)
	if err != nil {
		return nil, err
	}
	return slowListener{l}, nil
}

func (s *slowToAnswer) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	left := s.failing.Add(-1)
	if left > 0 {
		return nil, fmt.Errorf("dialling %s: %w", to.Redacted(), context.DeadlineExceeded)
	}
	conn, err := s.Stream.Dial(ctx, overTCP(to), config)
	if left == 0 && err == nil {
		conn.Close() // as the other side does when its time for the handshake is over
	}
	return conn, err
}

func overTCP(u *url.URL) *url.URL {
	inner := *u
	inner.Scheme = "tcp"
	return &inner
}

type slowListener struct{ transport.Listener }

func (l slowListener) Addr() string { return "slow+" + l.Listener.Addr() }

func TestANodeDialsAgainWhereTheOneAtTheAddressOfBothIsSlow(t *testing.T) {
	slow := slowTCP()
	slow.failing.Store(0)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	address := "slow+tcp://127.0.0.1:0"
	begin := func(id string) (*Node, error) {
		n := NewNode(NodeID(id), Join(address))
		err := n.Start(ctx)
		if err == nil {
			t.Cleanup(func() {
				if err := n.Stop(context.Background()); err != nil {
					t.Error(err)
				}
			})
		}
		return n, err
	}
	first, err := begin("first")
	if err != nil {
		t.Fatal(err)
	}
	address = first.Info().Addr
	slow.failing.Store(2)
	second, err := begin("second")
	if err != nil {
		t.Fatal(err)
	}
	if meshOf(second).Peer("first") == nil {
		t.Error("it is not linked with the first")
	}
	slow.failing.Store(100)
	if _, err := begin("third"); err == nil {
		t.Error("a node started without the one at its address")
	}
}
