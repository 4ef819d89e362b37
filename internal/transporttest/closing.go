package transporttest

import (
	"errors"
	"io"
	"net"
	"os"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/transports"
)

func halfClose(t *testing.T, s *streamTest) {
	dialled, accepted := s.pair(t)
	for _, side := range []struct {
		name     string
		from, to net.Conn
	}{{"dialled", dialled, accepted}, {"accepted", accepted, dialled}} {
		half, ok := side.from.(transports.HalfCloser)
		if !ok {
			t.Logf("the transport has no half close (%T)", side.from)
			return
		}
		send(t, side.from, "last words")
		if err := half.CloseWrite(); err != nil {
			t.Fatalf("%s: CloseWrite: %v", side.name, err)
		}
		if got, err := io.ReadAll(side.to); err != nil || string(got) != "last words" {
			t.Fatalf("%s: the peer read %q, %v", side.name, got, err)
		}
		if _, err := side.from.Write([]byte("more")); err == nil {
			t.Errorf("%s: a write after CloseWrite went through", side.name)
		}
		if side.from == dialled {
			send(t, accepted, "the other way is open")
			expect(t, dialled, "the other way is open")
		}
	}
}

// read reads once in the background.
func read(c net.Conn) <-chan error {
	ended := make(chan error, 1)
	go func() {
		_, err := c.Read(make([]byte, 1))
		ended <- err
	}()
	return ended
}

func closeEndsPeersRead(t *testing.T, s *streamTest) {
	l := s.listen(t)
	dialled, accepted := s.connect(t, l)
	send(t, dialled, "last words")
	dialled.Close()
	expect(t, accepted, "last words")
	if err := Receive(t, read(accepted)); !errors.Is(err, io.EOF) {
		t.Errorf("the read ended with %v, want EOF", err)
	}

	dialled, accepted = s.connect(t, l)
	waiting := read(dialled)
	accepted.Close()
	if err := Receive(t, waiting); !errors.Is(err, io.EOF) {
		t.Errorf("the waiting read ended with %v, want EOF", err)
	}
}

func closeEndsOwnRead(t *testing.T, s *streamTest) {
	dialled, _ := s.pair(t)
	waiting := read(dialled)
	dialled.Close()
	if err := Receive(t, waiting); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the read ended with %v, want net.ErrClosed", err)
	}
}

// fill writes until nothing moves any more, and returns the channel that reports the writer's end.
func fill(t *testing.T, c net.Conn) <-chan error {
	t.Helper()
	ended := make(chan error, 1)
	var wrote atomic.Int64
	moved := make(chan struct{}, 1)
	go func() {
		block := make([]byte, 64<<10)
		for {
			if _, err := c.Write(block); err != nil {
				ended <- err
				return
			}
			wrote.Add(int64(len(block)))
			select {
			case moved <- struct{}{}:
			default:
			}
		}
	}()
	for {
		select {
		case <-moved:
			if wrote.Load() > boundedBytes {
				t.Fatalf("%d bytes written to a peer that does not read", wrote.Load())
			}
		case <-time.After(200 * time.Millisecond): // no write ended for so long: it waits
			return ended
		case err := <-ended:
			t.Fatalf("the write ended: %v", err)
		}
	}
}

func closeEndsOwnWrite(t *testing.T, s *streamTest) {
	dialled, _ := s.pair(t)
	waiting := fill(t, dialled)
	dialled.Close()
	if err := Receive(t, waiting); !errors.Is(err, net.ErrClosed) {
		t.Errorf("the write ended with %v, want net.ErrClosed", err)
	}
}

func closeEndsPeersWrite(t *testing.T, s *streamTest) {
	dialled, accepted := s.pair(t)
	waiting := fill(t, dialled)
	accepted.Close()
	if err := Receive(t, waiting); err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
		t.Errorf("the write ended with %v, want an error that tells of the peer", err)
	}
}

func closedConnectionErrors(t *testing.T, s *streamTest) {
	dialled, _ := s.pair(t)
	if err := dialled.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if _, err := dialled.Write([]byte("x")); !errors.Is(err, net.ErrClosed) {
		t.Errorf("write gave %v, want net.ErrClosed", err)
	}
	if _, err := dialled.Read(make([]byte, 1)); !errors.Is(err, net.ErrClosed) {
		t.Errorf("read gave %v, want net.ErrClosed", err)
	}
	dialled.Close() // once more is harmless
}

func closeEndsAccept(t *testing.T, s *streamTest) {
	l := s.listen(t)
	ended := make(chan error, 1)
	go func() {
		_, err := l.Accept()
		ended <- err
	}()
	if err := l.Close(); err != nil {
		t.Errorf("close: %v", err)
	}
	if err := Receive(t, ended); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept ended with %v, want net.ErrClosed", err)
	}
	if _, err := l.Accept(); !errors.Is(err, net.ErrClosed) {
		t.Errorf("accept after close gave %v, want net.ErrClosed", err)
	}
}

func connectionsOutliveListener(t *testing.T, s *streamTest) {
	l := s.listen(t)
	dialled, accepted := s.connect(t, l)
	l.Close()
	send(t, dialled, "still here")
	expect(t, accepted, "still here")
}
