package transporttest

import (
	"errors"
	"net"
	"os"
	"testing"
	"time"
)

// boundedBytes is the most that a connection may swallow for a peer that does not read: the kernel's buffers of both
// sides grow to some megabytes each.
const boundedBytes = 64 << 20

func readDeadline(t *testing.T, s *streamTest) {
	dialled, accepted := s.pair(t)
	dialled.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
	_, err := dialled.Read(make([]byte, 1))
	timedOut(t, "the read", err)
	_, err = dialled.Read(make([]byte, 1))
	timedOut(t, "the next read", err)

	dialled.SetReadDeadline(time.Now().Add(waitLimit))
	send(t, accepted, "late")
	expect(t, dialled, "late")

	dialled.SetReadDeadline(time.Now().Add(-time.Second))
	_, err = dialled.Read(make([]byte, 1))
	timedOut(t, "a read with a deadline in the past", err)
	send(t, dialled, "writes have their own")
	expect(t, accepted, "writes have their own")

	dialled.SetReadDeadline(time.Time{})
	send(t, accepted, "none")
	expect(t, dialled, "none")
}

func timedOut(t *testing.T, what string, err error) {
	t.Helper()
	if !errors.Is(err, os.ErrDeadlineExceeded) {
		t.Fatalf("%s gave %v, want os.ErrDeadlineExceeded", what, err)
	}
	if timeout, ok := errors.AsType[net.Error](err); !ok || !timeout.Timeout() {
		t.Fatalf("%s gave %v, which is no net.Error with Timeout", what, err)
	}
}

func readDeadlineWhileWaiting(t *testing.T, s *streamTest) {
	dialled, _ := s.pair(t)
	waiting := read(dialled)
	dialled.SetReadDeadline(time.Now())
	timedOut(t, "the waiting read", Receive(t, waiting))
}

func backPressure(t *testing.T, s *streamTest) {
	dialled, _ := s.pair(t)
	waiting := fill(t, dialled) // fails where more than boundedBytes go in
	dialled.SetWriteDeadline(time.Now())
	timedOut(t, "the waiting write", Receive(t, waiting))
}
