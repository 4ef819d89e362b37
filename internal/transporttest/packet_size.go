package transporttest

import (
	"errors"
	"io"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/transport"
)

// PacketSizes tests a transport over UDP: its packets hold 1,200 bytes at most, or what Config.PacketSize allows, but no more
// than the transport's own most. A path that loses larger ones carries its connections, also where it begins to under way.
func PacketSizes(t *testing.T, scheme string, most int) {
	for _, test := range []struct {
		name       string
		size, want int
	}{
		{"packets hold 1,200 bytes at most", 0, 1200},
		{"larger packets are used where they are allowed", 1300, 1300},
		{"no packets are larger than the transport can send", 9000, most},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := newPath(t, scheme, transport.Config{PacketSize: test.size})
			p.exchange(t, 1<<20)
			if largest := int(p.largest.Load()); largest > test.want || largest <= test.want-100 {
				t.Errorf("the largest packet had %d bytes, want %d or little less", largest, test.want)
			}
		})
	}
	t.Run("packets too small for the transport are refused", func(t *testing.T) {
		if l, err := transport.Listen(t.Context(), scheme+"://:0", transport.Config{PacketSize: 1199}); err == nil {
			l.Close()
			t.Error("a listener was made for packets of 1,199 bytes")
		}
	})
	t.Run("a path that loses larger packets than those carries connections", func(t *testing.T) {
		p := newPath(t, scheme, transport.Config{})
		p.limit.Store(1200)
		p.exchange(t, 1<<20)
	})
	t.Run("a connection outlives that its path begins to lose larger packets", func(t *testing.T) {
		p := newPath(t, scheme, transport.Config{})
		p.exchange(t, 1<<20)
		p.limit.Store(1200)
		p.exchange(t, 1<<20)
	})
}

// path is a connection by way of a relay between two UDP sockets.
type path struct {
	config   transport.Config
	listener transport.Listener
	relay    string
	limit    atomic.Int64 // packets with more bytes are lost; 0 for none
	largest  atomic.Int64 // of the packets so far
	pair     [2]net.Conn
}

func newPath(t *testing.T, scheme string, config transport.Config) *path {
	t.Helper()
	config.DialTimeout = waitLimit
	p := &path{config: config}
	var err error
	if p.listener, err = transport.Listen(t.Context(), scheme+"://:0", config); err != nil {
		t.Fatal(err)
	}
	p.startRelay(t)
	running := goleak.IgnoreCurrent()
	t.Cleanup(func() {
		for _, c := range p.pair {
			if c != nil {
				c.Close()
			}
		}
		nothingLeft(t, running) // while the relay still carries what they send at their end
		p.listener.Close()
	})
	return p
}

// startRelay passes packets on between the dialler and the listener until the test ends.
func (p *path) startRelay(t *testing.T) {
	t.Helper()
	at, err := url.Parse(p.listener.Addr())
	if err != nil {
		t.Fatal(err)
	}
	near, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	far, err := net.Dial("udp", at.Host)
	if err != nil {
		t.Fatal(err)
	}
	p.relay = at.Scheme + "://" + near.LocalAddr().String()
	var client atomic.Pointer[net.Addr]
	var running sync.WaitGroup
	running.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, from, err := near.ReadFrom(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			client.Store(&from)
			if p.passes(n) {
				far.Write(buffer[:n])
			}
		}
	})
	running.Go(func() {
		buffer := make([]byte, 64<<10)
		for {
			n, err := far.Read(buffer)
			if errors.Is(err, net.ErrClosed) {
				return
			}
			if to := client.Load(); to != nil && p.passes(n) {
				near.WriteTo(buffer[:n], *to)
			}
		}
	})
	t.Cleanup(func() {
		near.Close()
		far.Close()
		running.Wait()
	})
}

func (p *path) passes(bytes int) bool {
	for most := p.largest.Load(); int64(bytes) > most && !p.largest.CompareAndSwap(most, int64(bytes)); most = p.largest.Load() {
	}
	limit := p.limit.Load()
	return limit == 0 || int64(bytes) <= limit
}

// exchange sends so many bytes both ways at once, over the connection of the calls before if there is one.
func (p *path) exchange(t *testing.T, bytes int64) {
	t.Helper()
	if p.pair[0] == nil {
		accepted := make(chan net.Conn, 1)
		go func() {
			c, _ := p.listener.Accept()
			accepted <- c
		}()
		var err error
		if p.pair[0], err = transport.Dial(t.Context(), p.relay, p.config); err != nil {
			t.Fatal(err)
		}
		if p.pair[1] = <-accepted; p.pair[1] == nil {
			t.Fatal("nothing was accepted")
		}
	}
	var group sync.WaitGroup
	for i, c := range p.pair {
		c.SetDeadline(time.Now().Add(waitLimit))
		group.Go(func() {
			if _, err := c.Write(make([]byte, bytes)); err != nil {
				t.Errorf("side %d writes: %v", i, err)
			}
		})
		group.Go(func() {
			if n, err := io.CopyN(io.Discard, c, bytes); err != nil {
				t.Errorf("side %d has read %d bytes: %v", i, n, err)
			}
		})
	}
	group.Wait()
}
