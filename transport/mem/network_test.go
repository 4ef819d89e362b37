package mem_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"net/url"
	"os"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
	"github.com/sabir-go/sabir/transport/mem"
)

func at(name string) *url.URL { return &url.URL{Scheme: "mem", Host: name} }

func listen(t *testing.T, n *mem.Network, name string) transport.Listener {
	t.Helper()
	l, err := n.Listen(t.Context(), at(name), transport.Config{})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l
}

// link connects a to b, where l listens.
func link(t *testing.T, n *mem.Network, a, b string, l transport.Listener) (dialled, accepted net.Conn) {
	t.Helper()
	dialled, err := n.Dial(t.Context(), at(b), transport.Config{Name: a})
	if err != nil {
		t.Fatal(err)
	}
	if accepted, err = l.Accept(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { dialled.Close(); accepted.Close() })
	return dialled, accepted
}

// start runs f and returns where its error comes.
func start(f func() error) <-chan error {
	ended := make(chan error, 1)
	go func() { ended <- f() }()
	return ended
}

func readOne(c net.Conn) func() error {
	return func() error {
		_, err := c.Read(make([]byte, 1))
		return err
	}
}

// waits fails the test unless the goroutine behind ended is blocked.
func waits(t *testing.T, ended <-chan error) {
	t.Helper()
	bubbletest.Wait()
	select {
	case err := <-ended:
		t.Fatalf("it ended: %v", err)
	default:
	}
}

func TestCutBreaksWhatIsConnectedAndRefusesWhatIsNew(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		l := listen(t, n, "b")
		dialled, accepted := link(t, n, "a", "b", l)
		other, _ := link(t, n, "c", "b", l)
		reading, peersReading := start(readOne(dialled)), start(readOne(accepted))
		waits(t, reading)

		n.Cut("b", "a") // in whichever order
		for _, err := range []error{<-reading, <-peersReading} {
			if !errors.Is(err, syscall.ECONNRESET) {
				t.Errorf("a waiting read ended with %v, want ECONNRESET", err)
			}
		}
		if _, err := dialled.Write([]byte("x")); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("a write gave %v, want ECONNRESET", err)
		}
		if _, err := n.Dial(t.Context(), at("b"), transport.Config{Name: "a"}); !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("dialling gave %v, want EHOSTUNREACH", err)
		}
		if _, err := other.Write([]byte("x")); err != nil {
			t.Errorf("the path of others is cut too: %v", err)
		}

		n.Heal("a", "b")
		link(t, n, "a", "b", l)
		if _, err := dialled.Write([]byte("x")); err == nil {
			t.Error("a cut connection came back to life")
		}
	})
}

func TestCutHoldsWhicheverSideDialled(t *testing.T) {
	n := mem.New()
	la, lb := listen(t, n, "a"), listen(t, n, "b")
	ab, _ := link(t, n, "a", "b", lb)
	ba, _ := link(t, n, "b", "a", la)
	n.Cut("a", "b")
	for _, c := range []net.Conn{ab, ba} {
		if err := readOne(c)(); !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("read gave %v, want ECONNRESET", err)
		}
	}
}

func TestStallHoldsEverythingBackAndLosesNothing(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		l := listen(t, n, "b")
		dialled, accepted := link(t, n, "a", "b", l)
		n.Stall("a", "b")

		sent := bytes.Repeat([]byte("0123456789"), 100_000) // more than the buffer holds
		writing := start(func() error {
			_, err := dialled.Write(sent)
			dialled.Close()
			return err
		})
		var got []byte
		reading := start(func() (err error) {
			got, err = io.ReadAll(accepted)
			return err
		})
		dialling := start(func() error {
			c, err := n.Dial(t.Context(), at("b"), transport.Config{Name: "a"})
			if err == nil {
				c.Close()
			}
			return err
		})
		time.Sleep(time.Second) // of the bubble's clock: less than a dial may take
		waits(t, writing)
		waits(t, reading)
		waits(t, dialling)

		n.Heal("a", "b")
		for what, ended := range map[string]<-chan error{"write": writing, "read": reading, "dial": dialling} {
			if err := <-ended; err != nil {
				t.Errorf("%s: %v", what, err)
			}
		}
		if !bytes.Equal(got, sent) {
			t.Errorf("%d of %d bytes arrived", len(got), len(sent))
		}
	})
}

func TestAStalledPeersCloseIsNotNoticed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		dialled, accepted := link(t, n, "a", "b", listen(t, n, "b"))
		n.Stall("a", "b")
		reading := start(readOne(dialled))
		accepted.Close()
		waits(t, reading)
		if _, err := dialled.Write([]byte("into the dark")); err != nil {
			t.Errorf("the write noticed: %v", err)
		}
		n.Heal("a", "b")
		if err := <-reading; err != io.EOF {
			t.Errorf("after Heal the read ended with %v, want EOF", err)
		}
	})
}

func TestStallCanBecomeACut(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		dialled, _ := link(t, n, "a", "b", listen(t, n, "b"))
		n.Stall("a", "b")
		reading := start(readOne(dialled))
		dialling := start(func() error {
			_, err := n.Dial(t.Context(), at("b"), transport.Config{Name: "a"})
			return err
		})
		waits(t, dialling)
		n.Cut("a", "b")
		if err := <-reading; !errors.Is(err, syscall.ECONNRESET) {
			t.Errorf("the read ended with %v, want ECONNRESET", err)
		}
		if err := <-dialling; !errors.Is(err, syscall.EHOSTUNREACH) {
			t.Errorf("the dial ended with %v, want EHOSTUNREACH", err)
		}
	})
}

func TestDialToAStalledNameEndsWithItsTimeOrContext(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		listen(t, n, "b")
		n.Stall("a", "b")
		began := time.Now()
		_, err := n.Dial(t.Context(), at("b"), transport.Config{Name: "a", DialTimeout: 3 * time.Second})
		if took := time.Since(began); took != 3*time.Second || !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("after %v: %v", took, err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		dialling := start(func() error {
			_, err := n.Dial(ctx, at("b"), transport.Config{Name: "a"})
			return err
		})
		waits(t, dialling)
		cancel()
		if err := <-dialling; !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled: %v", err)
		}
	})
}

func TestDeadlinesPassAtTheirMoment(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		dialled, accepted := link(t, n, "a", "b", listen(t, n, "b"))
		began := time.Now()
		dialled.SetDeadline(began.Add(time.Minute))
		reading := start(readOne(dialled))
		_, err := dialled.Write(make([]byte, 1<<20))
		if took := time.Since(began); took != time.Minute || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the write ended after %v with %v", took, err)
		}
		if err := <-reading; !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the read ended with %v", err)
		}

		// A later deadline counts from when it is set, and an earlier timer does not end it.
		dialled.SetReadDeadline(time.Now().Add(time.Hour))
		reading = start(readOne(dialled))
		bubbletest.Wait()
		dialled.SetReadDeadline(time.Now().Add(2 * time.Hour))
		time.Sleep(90 * time.Minute)
		waits(t, reading)
		accepted.Write([]byte("x"))
		if err := <-reading; err != nil {
			t.Errorf("the read ended with %v", err)
		}
		began = time.Now()
		dialled.SetReadDeadline(began.Add(time.Minute))
		err = readOne(dialled)()
		if took := time.Since(began); took != time.Minute || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("the third read ended after %v with %v", took, err)
		}
	})
}

func TestTheBufferHoldsWhatConfigSays(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		l := listen(t, n, "b")
		dialled, err := n.Dial(t.Context(), at("b"), transport.Config{Name: "a", WriteBuffer: 1000})
		if err != nil {
			t.Fatal(err)
		}
		defer dialled.Close()
		accepted, err := l.Accept()
		if err != nil {
			t.Fatal(err)
		}
		defer accepted.Close()
		if wrote, err := dialled.Write(make([]byte, 1000)); wrote != 1000 || err != nil {
			t.Fatalf("%d bytes, %v", wrote, err)
		}
		writing := start(func() error { _, err := dialled.Write([]byte("x")); return err })
		waits(t, writing)
		readOne(accepted)()
		if err := <-writing; err != nil {
			t.Error(err)
		}
	})
}

func TestAnIncompleteWriteOfBuffersTellsWhatIsLeft(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		listen(t, n, "b")
		c, err := n.Dial(t.Context(), at("b"), transport.Config{WriteBuffer: 10})
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		c.SetWriteDeadline(time.Now().Add(time.Second))
		buffers := net.Buffers{[]byte("abcd"), {}, []byte("efgh"), []byte("ijkl"), []byte("mnop")}
		wrote, err := transports.WriteBuffers(c, &buffers)
		if wrote != 10 || !errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%d bytes, %v", wrote, err)
		}
		if len(buffers) != 2 || string(buffers[0]) != "kl" || string(buffers[1]) != "mnop" {
			t.Errorf("left: %q", buffers)
		}
	})
}

func TestDialersWaitUntilTheListenerAccepts(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		n := mem.New()
		l := listen(t, n, "b")
		var conns []net.Conn
		for {
			c, err := n.Dial(t.Context(), at("b"), transport.Config{DialTimeout: time.Second})
			if err != nil {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Errorf("got %v", err)
				}
				break
			}
			if conns = append(conns, c); len(conns) > 1000 {
				t.Fatal("a thousand connections that nobody accepted")
			}
		}
		reading := start(readOne(conns[0]))
		waits(t, reading)
		l.Close()
		if err := <-reading; err != io.EOF {
			t.Errorf("a connection that nobody will accept gave %v, want EOF", err)
		}
		for _, c := range conns {
			c.Close()
		}
	})
}

func TestNamesOfNetworksAreApart(t *testing.T) {
	listen(t, mem.New(), "b")
	if _, err := mem.New().Dial(t.Context(), at("b"), transport.Config{}); !errors.Is(err, syscall.ECONNREFUSED) {
		t.Errorf("got %v, want ECONNREFUSED", err)
	}
}

func TestListeningWithoutANameTakesAFreeOne(t *testing.T) {
	n := mem.New()
	listen(t, n, "free-1")
	a, b := listen(t, n, ""), listen(t, n, "")
	if a.Addr() == b.Addr() || a.Addr() == "mem://free-1" {
		t.Errorf("the names are %s and %s", a.Addr(), b.Addr())
	}
	if _, err := n.Dial(t.Context(), at(""), transport.Config{}); err == nil {
		t.Error("dialling no name went well")
	}
}

func TestAddressesAreTheNames(t *testing.T) {
	n := mem.New()
	dialled, accepted := link(t, n, "a", "b", listen(t, n, "b"))
	if got := dialled.LocalAddr().String(); got != "mem://a" {
		t.Errorf("the dialler is %s", got)
	}
	if got := accepted.LocalAddr().String(); got != "mem://b" {
		t.Errorf("the listener is %s", got)
	}
}
