package actor

import (
	"context"
	"errors"
	"net"
	"testing"
	"time"
	"unique"
)

// stuck is a connection to a peer that reads nothing.
type stuck struct {
	deaf
	closed chan struct{}
}

func (s stuck) Write([]byte) (int, error) {
	<-s.closed
	return 0, net.ErrClosed
}

func (s stuck) Close() error {
	close(s.closed)
	return s.deaf.Close()
}

// The first call of a type declares it to the peer, and the others wait for that.
func TestCallsOfATypeThatThePeerDoesNotKnowEndAtTheirDeadlineThoughTheLinkIsFull(t *testing.T) {
	near, far := net.Pipe()
	t.Cleanup(func() { far.Close() })
	r := newRigOver(t, stuck{deaf{near}, make(chan struct{})})
	if err := r.remote.receiveHello(r.link, helloPost()[1:]); err != nil {
		t.Fatal(err)
	}
	for r.link.TryPost(linkTopic, make([]byte, 60<<10)) {
	}
	there := PID{unique.Make(home{node: "b", instance: 99}), 1<<32 | 8}
	results := make(chan error, 3)
	for range cap(results) {
		go func() {
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
			defer cancel()
			_, err := Call[int](ctx, r.System, there, sample{})
			results <- err
		}()
	}
	for range cap(results) {
		select {
		case err := <-results:
			if !errors.Is(err, context.DeadlineExceeded) {
				t.Errorf("a call ended with %v", err)
			}
		case <-time.After(time.Minute):
			t.Fatal("a call did not end at its deadline")
		}
	}
}
