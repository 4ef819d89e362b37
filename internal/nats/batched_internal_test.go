package nats

import (
	"errors"
	"net"
	"runtime"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
)

// gated is a connection that tells of each write, and makes it when it may.
type gated struct {
	net.Conn
	writes  chan string
	release chan error // what the write returns
}

func (g *gated) Write(data []byte) (int, error) {
	g.writes <- string(data)
	if err := <-g.release; err != nil {
		return 0, err
	}
	return len(data), nil
}

func newGated(t *testing.T) (*gated, *batchedConn) {
	near, far := net.Pipe()
	g := &gated{Conn: near, writes: make(chan string, 1000), release: make(chan error, 1000)}
	b := newBatchedConn(g)
	t.Cleanup(func() { b.Close(); far.Close() })
	return g, b
}

func write(t *testing.T, b *batchedConn, text string) {
	t.Helper()
	if n, err := b.Write([]byte(text)); n != len(text) || err != nil {
		t.Errorf("%d of %d bytes were taken: %v", n, len(text), err)
	}
}

func TestWhatIsReadyToBePublishedGoesInOneWrite(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1)) // all are ready when the first runs
	g, b := newGated(t)
	const messages = 100
	for range messages {
		g.release <- nil
	}
	var publishing sync.WaitGroup
	for range messages {
		publishing.Go(func() { write(t, b, "x") })
	}
	publishing.Wait()
	b.Close()
	if n := len(g.writes); n > messages/10 {
		t.Errorf("%d messages took %d writes", messages, n)
	}
}

func TestWhatIsPublishedDuringAWriteGoesInTheNextOneInItsOrder(t *testing.T) {
	g, b := newGated(t)
	write(t, b, "a")
	first := <-g.writes
	write(t, b, "b")
	write(t, b, "c")
	g.release <- nil
	second := <-g.writes
	g.release <- nil
	if got := []string{first, second}; !slices.Equal(got, []string{"a", "bc"}) {
		t.Errorf("written: %q", got)
	}
}

func TestABatchIsWrittenWithoutAHandOver(t *testing.T) {
	g, b := newGated(t)
	g.release <- nil
	write(t, b, string(make([]byte, worthWriting)))
	if len(g.writes) != 1 {
		t.Error("it is not written when Write returns")
	}
}

func TestAServerThatTakesNothingHoldsWritersUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b := newGated(t)
		write(t, b, "a")
		synctest.Wait()
		<-g.writes
		write(t, b, string(make([]byte, writeBuffer)))
		var taken bool
		go func() {
			write(t, b, "c")
			taken = true
		}()
		synctest.Wait()
		if taken {
			t.Error("more was taken than may wait")
		}
		for range 3 {
			g.release <- nil
		}
		synctest.Wait()
		if !taken {
			t.Error("what waited was not taken afterwards")
		}
	})
}

func TestWhatWasPublishedIsWrittenBeforeTheConnectionIsClosed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b := newGated(t)
		write(t, b, "a")
		synctest.Wait()
		write(t, b, "b")
		go b.Close()
		synctest.Wait()
		g.release <- nil
		g.release <- nil
		synctest.Wait()
		if got := []string{<-g.writes, <-g.writes}; !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("written: %q", got)
		}
		if _, err := b.Write([]byte("c")); !errors.Is(err, net.ErrClosed) {
			t.Errorf("after Close: %v", err)
		}
	})
}

func TestAWriteThatFailsEndsTheConnection(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		g, b := newGated(t)
		broken := errors.New("broken")
		g.release <- broken
		write(t, b, "a")
		synctest.Wait()
		if _, err := b.Write([]byte("b")); err != broken {
			t.Errorf("the next write: %v", err)
		}
		if _, err := b.Read(make([]byte, 1)); err == nil {
			t.Error("reading goes on")
		}
	})
}
