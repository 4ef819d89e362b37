package gossip

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
)

// A node that leaves dials nobody any more. That is no news of its seeds: they were said to be out of reach, by each node that stopped while calls were
// in flight.
func TestANodeThatLeavesDoesNotSayThatItsSeedsCannotBeReached(t *testing.T) {
	var out bytes.Buffer
	s := newRejoiner("tcp://self:1", nil, slog.New(slog.NewTextHandler(&out, nil)))
	defer s.stop()
	for _, reached := range []bool{true, false} {
		p := &rejoinTarget{seed: true, joining: true, reached: reached, delay: minUnreachedDelay}
		s.scheduleNext(p, fmt.Errorf("join: %w", membership.ErrLeaving), 1, time.Now())
		if out.Len() > 0 || p.reached != reached || p.joining || p.due.IsZero() {
			t.Errorf("%s: %+v", &out, p)
		}
	}
	s.scheduleNext(&rejoinTarget{seed: true, reached: true}, fmt.Errorf("no route"), 1, time.Now())
	if !bytes.Contains(out.Bytes(), []byte("a seed cannot be reached")) {
		t.Errorf("a seed that cannot be reached is not said to be: %s", &out)
	}
}

// Each visit exchanges the list of all members, so that of a large cluster is visited less often from the start on.
func TestDelaysBetweenVisitsGrowFasterInALargeCluster(t *testing.T) {
	unreachable := errors.New("no route")
	for _, test := range []struct {
		about string
		seed  bool
		err   error
		size  int
		want  time.Duration
	}{
		{"a seed of a small cluster", true, nil, largeCluster - 1, 2 * time.Second},
		{"a seed of a large one", true, nil, largeCluster, 4 * time.Second},
		{"a seed of a large one that does not answer", true, unreachable, largeCluster, 2 * time.Second},
		{"a lost member of a large one", false, nil, largeCluster, 2 * time.Second},
	} {
		s := newRejoiner("tcp://self:1", nil, slog.New(slog.DiscardHandler))
		p := &rejoinTarget{seed: test.seed, reached: test.err == nil, delay: time.Second}
		s.scheduleNext(p, test.err, test.size, time.Now())
		s.stop()
		if p.delay != test.want {
			t.Errorf("%s: %v, want %v", test.about, p.delay, test.want)
		}
	}
}

// memberlist holds its lock while it tells of a failed node, and takes the same lock for the size of its list. The rejoiner asked for the size with its
// own lock held, so that both waited for ever: the node answered no probe and learned of no other.
func TestAMemberIsLostWhileASeedIsVisited(t *testing.T) {
	var list sync.Mutex // stands for memberlist's
	s := newRejoiner("tcp://self:1", func(context.Context, string) []string { return []string{"tcp://seed:1"} }, slog.New(slog.DiscardHandler))
	met := make(chan struct{})
	lose := func() { // as a failure detector does at that very moment
		list.Lock()
		defer list.Unlock()
		met <- struct{}{}
		s.addLost(membership.Member{ID: "lost", Addr: "tcp://lost:1"})
	}
	locked := func() {
		go lose()
		<-met
		list.Lock()
		list.Unlock() //nolint:staticcheck // only the wait counts
	}
	s.join, s.size = func([]string) (int, error) { locked(); return 1, nil }, func() int { locked(); return 1 }
	s.setSeeds([]string{"tcp://seed:1"})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		for range 2 { // the first that reaches it, and one that follows
			s.attempt(s.targets[0])
		}
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the visit of a seed did not end")
	}
	s.stop()
}

// A name may still have the addresses of nodes that have gone, at each of which a visit takes seconds.
func TestAddressesOfASeedDoNotWaitForOneThatIsDead(t *testing.T) {
	addresses := []string{"tcp://dead:1", "tcp://dead:2", "tcp://live:1"}
	s := newRejoiner("tcp://self:1", func(context.Context, string) []string { return addresses }, slog.New(slog.DiscardHandler))
	live := make(chan struct{})
	s.size = func() int { return 1 }
	s.join = func(at []string) (int, error) {
		_, port, err := net.SplitHostPort(at[0])
		if err != nil {
			return 0, err
		}
		number, err := strconv.Atoi(port)
		if err != nil {
			return 0, err
		}
		if s.member(number).Addr == "tcp://live:1" {
			close(live)
			return 1, nil
		}
		<-live
		return 0, errors.New("no answer")
	}
	s.setSeeds([]string{"tcp://seed:1"})
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		s.attempt(s.targets[0])
	}()
	select {
	case <-ended:
	case <-time.After(10 * time.Second):
		t.Fatal("the visit of the live address waits for the dead ones")
	}
	if !s.targets[0].reached {
		t.Error("the seed counts as one that is not reached")
	}
	s.stop()
}
