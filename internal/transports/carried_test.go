package transports_test

import (
	"bytes"
	"errors"
	"io"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/transports"
)

// pipes is a Carrier over two pipes in memory: a Send waits until the other side has read.
type pipes struct {
	in       *io.PipeReader
	out      *io.PipeWriter
	below    *ground
	readDone chan struct{}
}

// ground is the connection below, which only ends.
type ground struct {
	net.Conn
	once sync.Once
	end  func()
}

func (g *ground) Close() error         { g.once.Do(g.end); return nil }
func (g *ground) LocalAddr() net.Addr  { return &net.UnixAddr{Name: "here", Net: "test"} }
func (g *ground) RemoteAddr() net.Addr { return &net.UnixAddr{Name: "there", Net: "test"} }

func (p *pipes) Read(b []byte) (int, error) {
	n, err := p.in.Read(b)
	if err != nil {
		close(p.readDone)
	}
	return n, err
}

func (p *pipes) Send(parts [][]byte) error {
	_, err := p.out.Write(bytes.Join(parts, nil))
	return err
}

func (p *pipes) Finish() {
	p.out.Close()
	<-p.readDone
}

// carriers is two sides. Either's ground ends both.
func carriers() (a, b *pipes) {
	fromA, toB := io.Pipe()
	fromB, toA := io.Pipe()
	broken := errors.New("the ground is gone")
	end := func() {
		for _, r := range []*io.PipeReader{fromA, fromB} {
			r.CloseWithError(broken)
		}
		for _, w := range []*io.PipeWriter{toA, toB} {
			w.CloseWithError(broken)
		}
	}
	side := func(in *io.PipeReader, out *io.PipeWriter) *pipes {
		return &pipes{in: in, out: out, below: &ground{end: end}, readDone: make(chan struct{})}
	}
	return side(fromB, toB), side(fromA, toA)
}

func carried() (a, b *transports.Carried) {
	x, y := carriers()
	return transports.Carry(x, x.below), transports.Carry(y, y.below)
}

func TestAWriteAndItsEndCross(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		a, b := carried()
		buffers := net.Buffers{[]byte("one "), nil, []byte("two")}
		if n, err := a.WriteBuffers(&buffers); n != 7 || err != nil || len(buffers) != 0 {
			t.Errorf("wrote %d, %v, left %d", n, err, len(buffers))
		}
		start := time.Now()
		a.Close()
		if took := time.Since(start); took != 0 {
			t.Errorf("close waited %v for a peer that had taken everything", took)
		}
		if got, err := io.ReadAll(b); string(got) != "one two" || err != nil {
			t.Errorf("read %q, %v", got, err)
		}
		if _, err := b.Write([]byte("x")); !errors.Is(err, syscall.EPIPE) {
			t.Errorf("a write to a peer that closed: %v", err)
		}
		b.Close()
	})
}

func TestCloseGivesThePeerASecond(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		x, y := carriers()
		a := transports.Carry(x, x.below) // and no peer at y
		start := time.Now()
		a.Close()
		if took := time.Since(start); took != time.Second {
			t.Errorf("close took %v", took)
		}
		if _, err := y.out.Write([]byte("x")); err == nil {
			t.Error("what is below is open")
		}
	})
}

func TestCloseEndsAWriteThatWaitsAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		x, _ := carriers()
		a := transports.Carry(x, x.below)
		ended := make(chan error)
		go func() {
			_, err := a.Write([]byte("x"))
			ended <- err
		}()
		bubbletest.Wait()
		start := time.Now()
		go a.Close()
		if err := <-ended; !errors.Is(err, net.ErrClosed) || time.Since(start) != 0 {
			t.Errorf("the write ended after %v with %v", time.Since(start), err)
		}
	})
}

func TestAWriteDeadlineBreaksTheConnection(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		x, _ := carriers()
		a := transports.Carry(x, x.below)
		a.SetWriteDeadline(time.Now().Add(time.Second))
		ended := make(chan error)
		start := time.Now()
		go func() {
			_, err := a.Write([]byte("x"))
			ended <- err
		}()
		bubbletest.Wait()
		a.SetWriteDeadline(start.Add(time.Minute)) // moved while it waits
		if err := <-ended; !errors.Is(err, os.ErrDeadlineExceeded) || time.Since(start) != time.Minute {
			t.Errorf("the write ended after %v with %v", time.Since(start), err)
		}
		a.SetWriteDeadline(time.Time{})
		if _, err := a.Write([]byte("x")); err == nil {
			t.Error("a write went into a connection of which nobody knows what arrived")
		}
		a.Close()
	})
}

func TestAWriteDeadlineThatHasPassedLeavesTheConnectionWhole(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		a, b := carried()
		a.SetWriteDeadline(time.Now().Add(-time.Second))
		if _, err := a.Write([]byte("x")); !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the write gave %v", err)
		}
		a.SetWriteDeadline(time.Time{})
		if _, err := a.Write([]byte("y")); err != nil {
			t.Error(err)
		}
		got := make([]byte, 1)
		if _, err := io.ReadFull(b, got); err != nil || got[0] != 'y' {
			t.Errorf("read %q, %v", got, err)
		}
		a.Close()
		b.Close()
	})
}

func TestWhatIsReadAheadIsBounded(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		a, b := carried()
		var sent atomic.Int64
		ended := make(chan struct{})
		go func() {
			defer close(ended)
			block := make([]byte, 1000)
			for {
				if _, err := a.Write(block); err != nil {
					return
				}
				sent.Add(int64(len(block)))
			}
		}()
		bubbletest.Wait() // until it waits
		if total := sent.Load(); total > 128<<10 || total < 64<<10 {
			t.Errorf("%d bytes went to a side that does not read", total)
		}
		b.Close()
		<-ended
		a.Close()
	})
}

func TestBytesStayInOrderWhateverTheSizes(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		a, b := carried()
		go func() {
			defer a.Close()
			next := byte(0)
			for size := range 700 {
				block := make([]byte, size)
				for i := range block {
					block[i], next = next, next+1
				}
				a.Write(block)
			}
		}()
		want, total := byte(0), 0
		buf := make([]byte, 50_000)
		for i := 0; ; i++ {
			n, err := b.Read(buf[:1+i*977%len(buf)])
			for _, got := range buf[:n] {
				if got != want {
					t.Fatalf("byte %d is %d, want %d", total, got, want)
				}
				want, total = want+1, total+1
			}
			if err == io.EOF {
				break
			}
		}
		if total != 700*699/2 {
			t.Errorf("%d bytes arrived", total)
		}
		b.Close()
	})
}
