package busypoll

import (
	"errors"
	"io"
	"net"
	"os"
	"testing"
	"time"
)

// pair returns the two ends of a connection.
func pair(tb testing.TB, network, address string) (here, there net.Conn) {
	tb.Helper()
	listener, err := net.Listen(network, address)
	if err != nil {
		tb.Fatal(err)
	}
	defer listener.Close()
	if here, err = net.Dial(network, listener.Addr().String()); err != nil {
		tb.Fatal(err)
	}
	if there, err = listener.Accept(); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		here.Close()
		there.Close()
	})
	return here, there
}

func networks(t *testing.T, test func(t *testing.T, here, there net.Conn)) {
	t.Run("TCP", func(t *testing.T) {
		here, there := pair(t, "tcp", "127.0.0.1:0")
		test(t, here, there)
	})
	t.Run("Unix socket", func(t *testing.T) {
		here, there := pair(t, "unix", t.TempDir()+"/socket")
		test(t, here, there)
	})
	t.Run("a pipe in memory", func(t *testing.T) {
		here, there := net.Pipe()
		defer here.Close()
		test(t, here, there)
	})
}

func TestAReaderReadsWhatTheConnectionHas(t *testing.T) {
	networks(t, func(t *testing.T, here, there net.Conn) {
		const size = 1 << 20
		go func() {
			defer there.Close()
			text := make([]byte, size)
			for i := range text {
				text[i] = byte(i)
			}
			_, _ = there.Write(text)
		}()
		text, err := io.ReadAll(NewReader(here))
		if err != nil || len(text) != size {
			t.Fatalf("read %d of %d bytes: %v", len(text), size, err)
		}
		for i, c := range text {
			if c != byte(i) {
				t.Fatalf("byte %d is %d", i, c)
			}
		}
	})
}

func TestADeadlineEndsARead(t *testing.T) {
	networks(t, func(t *testing.T, here, _ net.Conn) {
		r := NewReader(here)
		for range 3 { // polling, and not
			_ = here.SetReadDeadline(time.Now().Add(time.Millisecond))
			if _, err := r.Read(make([]byte, 8)); !errors.Is(err, os.ErrDeadlineExceeded) {
				t.Errorf("the error is %v", err)
			}
		}
	})
}

func TestCloseEndsARead(t *testing.T) {
	networks(t, func(t *testing.T, here, _ net.Conn) {
		r := NewReader(here)
		ended := make(chan error)
		go func() {
			_, err := r.Read(make([]byte, 8))
			ended <- err
		}()
		here.Close()
		if err := <-ended; err == nil {
			t.Error("a read of a closed connection has no error")
		}
	})
}

func TestAConnectionThatThePeerResetIsAnErrorOfTheNetwork(t *testing.T) {
	here, there := pair(t, "tcp", "127.0.0.1:0")
	_ = there.(*net.TCPConn).SetLinger(0)
	there.Close()
	_, err := NewReader(here).Read(make([]byte, 8))
	var failed *net.OpError
	if !errors.As(err, &failed) || failed.Op != "read" {
		t.Errorf("the error is %v", err)
	}
}

func TestPollingInVainIsDoneEverMoreSeldom(t *testing.T) {
	var p pace
	polled := 0
	for range 10_000 {
		if p.polls() {
			polled++
			p.miss()
		}
	}
	if polled > 60 {
		t.Errorf("%d of 10000 reads polled", polled)
	}
	for !p.polls() {
	}
	p.hit()
	p.miss()
	if p.polls() || !p.polls() {
		t.Error("after polling that was not in vain, one in vain has not exactly one read not poll")
	}
}

func TestAReadAllocatesNothing(t *testing.T) {
	here, there := pair(t, "tcp", "127.0.0.1:0")
	r, buf := NewReader(here), make([]byte, 8)
	allocated := testing.AllocsPerRun(1000, func() {
		if _, err := there.Write(buf); err != nil {
			t.Fatal(err)
		}
		if _, err := r.Read(buf); err != nil {
			t.Fatal(err)
		}
	})
	if allocated > 0 {
		t.Errorf("a read allocates %v times", allocated)
	}
}

// BenchmarkEcho sends eight bytes there and back, where both ends poll, and where neither does.
func BenchmarkEcho(b *testing.B) {
	for name, reader := range map[string]func(net.Conn) io.Reader{
		"as ever": func(c net.Conn) io.Reader { return c },
		"polling": func(c net.Conn) io.Reader { return NewReader(c) },
	} {
		b.Run(name, func(b *testing.B) {
			here, there := pair(b, "tcp", "127.0.0.1:0")
			go func() {
				in, buf := reader(there), make([]byte, 8)
				for {
					if _, err := io.ReadFull(in, buf); err != nil {
						return
					}
					if _, err := there.Write(buf); err != nil {
						return
					}
				}
			}()
			in, buf := reader(here), make([]byte, 8)
			for b.Loop() {
				if _, err := here.Write(buf); err != nil {
					b.Fatal(err)
				}
				if _, err := io.ReadFull(in, buf); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
