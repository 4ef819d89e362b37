package transporttest

import (
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/transport"
)

const (
	// handOver is the time that Close waits for the broker to take what was published.
	handOver = time.Second
	// leaveLimit is the time that Close may take: handOver, and what a busy machine adds to it.
	leaveLimit = 10 * time.Second
)

func closedBrokerErrors(t *testing.T, s *busTest) {
	m := s.connect(t)
	m.Messages(t, s.subject("x"))
	if err := m.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := m.Publish(s.subject("x"), []byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Publish gave %v, want net.ErrClosed", err)
	}
	if err := m.Probe(s.subject("x"), []byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Probe gave %v, want net.ErrClosed", err)
	}
	if err := m.Subscribe(t.Context(), s.subject("y"), func([]byte) {}); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Subscribe gave %v, want net.ErrClosed", err)
	}
	m.Close() // once more is harmless
	none(t, "the own close was reported as a loss", m.Lost)
}

func closeHandsOver(t *testing.T, s *busTest) {
	// A broker that is given no time to run within handOver gets less. That is no fault, and shows in how long Close takes.
	for round := range 20 {
		if closeHandedOver(t, s, s.subject(fmt.Sprint("last-", round))) {
			return
		}
	}
	t.Error("Close never had an answer from the broker in time")
}

// closeHandedOver is false where Close gave up on the broker.
func closeHandedOver(t *testing.T, s *busTest, subject string) bool {
	const count = 2000
	messages := s.connect(t).Messages(t, subject)
	publisher := s.connect(t)
	// What it has not read when it closes its socket would have the system cut the connection, and the broker lose what
	// it has not read.
	publisher.Messages(t, subject)
	body := strings.Repeat("x", 1000)
	for i := range count {
		publisher.publish(t, subject, fmt.Sprint(i, body))
	}
	begun := time.Now()
	publisher.Close()
	took := time.Since(begun)
	if took > leaveLimit {
		t.Errorf("Close took %v, want %v at most", took, leaveLimit)
	}
	if took >= handOver {
		return false
	}
	for i := range count {
		Await(t, messages, fmt.Sprint(i, body))
	}
	return true
}

func closeEndsCallbacks(t *testing.T, s *busTest) {
	var closed atomic.Bool
	check := func(what string) {
		if closed.Load() {
			t.Errorf("%s after Close had returned", what)
		}
	}
	broker := s.connectWith(t, transport.BusEvents{
		Lost:     func(error) { check("Lost") },
		Restored: func() { check("Restored") },
		Unheard:  func(string) { check("Unheard") },
	})
	begun := make(chan struct{}, 1)
	err := broker.Subscribe(t.Context(), s.subject("on"), func([]byte) {
		check("a delivery")
		select {
		case begun <- struct{}{}:
		default:
		}
		check("the rest of a delivery")
	})
	if err != nil {
		t.Fatal(err)
	}
	other := s.connect(t)
	var group sync.WaitGroup
	defer group.Wait()
	done := make(chan struct{})
	defer close(done)
	group.Go(func() { // which goes on after the close
		for {
			select {
			case <-done:
				return
			default:
				other.Publish(s.subject("on"), []byte("x"))
				broker.Probe(s.subject("nobody"), []byte("x"))
			}
		}
	})
	Receive(t, begun)
	quick(t, "Close", leaveLimit, func() { broker.Close() })
	closed.Store(true)
	// What would come now would come within the way of another message to and from the broker.
	messages := other.Messages(t, s.subject("after"))
	other.publish(t, s.subject("after"), "x")
	Await(t, messages, "x")
}

func closeByMany(t *testing.T, s *busTest) {
	m := s.connect(t)
	m.Messages(t, s.subject("x"))
	var group sync.WaitGroup
	for range 8 {
		group.Go(func() { m.Publish(s.subject("x"), []byte("x")) })
		group.Go(func() { m.Close() })
	}
	all := make(chan struct{})
	go func() {
		group.Wait()
		close(all)
	}()
	Receive(t, all)
}

func closeDuringOutage(t *testing.T, s *busTest) {
	m := s.connect(t)
	m.Messages(t, s.subject("x"))
	s.kill(t)
	Receive(t, m.Lost)
	m.Publish(s.subject("x"), []byte("x"))
	quick(t, "Close", leaveLimit, func() { m.Close() })
	if err := m.Publish(s.subject("x"), []byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("Publish gave %v, want net.ErrClosed", err)
	}
	s.restart(t)
	none(t, "a closed broker came back", m.Restored)
}

func brokerStandsStill(t *testing.T, s *busTest) {
	m := s.connect(t)
	s.suspend(t)
	ended := make(chan error, 1)
	moved := make(chan struct{}, 1)
	var published atomic.Int64
	go func() {
		block := make([]byte, 64<<10)
		for {
			if err := m.Publish(s.subject("still"), block); err != nil {
				ended <- err
				return
			}
			published.Add(int64(len(block)))
			select {
			case moved <- struct{}{}:
			default:
			}
		}
	}()
	for waiting := false; !waiting; {
		select {
		case <-moved:
			if published.Load() > boundedBytes && len(m.Lost) == 0 { // once it is lost they may be dropped
				t.Fatalf("%d bytes were published to a broker that stands still", published.Load())
			}
		case err := <-ended:
			t.Logf("Publish ended by itself: %v", err)
			ended <- err
			waiting = true
		case <-time.After(200 * time.Millisecond):
			waiting = true
		}
	}
	quick(t, "Close", leaveLimit, func() { m.Close() })
	if err := Receive(t, ended); err == nil {
		t.Error("the waiting Publish went well")
	}
}

func brokerGoesOn(t *testing.T, s *busTest) {
	publisher, subscriber := s.connect(t), s.connect(t)
	messages := subscriber.Messages(t, s.subject("on"))
	publisher.publish(t, s.subject("on"), "before")
	Await(t, messages, "before")
	s.suspend(t)
	publisher.publish(t, s.subject("on"), "meanwhile")
	s.resume(t)
	publisher.publish(t, s.subject("on"), "after")
	Await(t, messages, "meanwhile")
	Await(t, messages, "after")
	none(t, "the connection was lost", publisher.Lost)
}
