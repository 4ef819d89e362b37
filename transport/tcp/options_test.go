//go:build linux

package tcp

import (
	"net"
	"syscall"
	"testing"
	"time"

	"github.com/sabir-go/sabir/transport"
)

func option(t *testing.T, c *net.TCPConn, level, name int) (value int) {
	t.Helper()
	raw, err := c.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	if controlErr := raw.Control(func(fd uintptr) { value, err = syscall.GetsockoptInt(int(fd), level, name) }); controlErr != nil || err != nil {
		t.Fatal(controlErr, err)
	}
	return value
}

func TestSocketOptions(t *testing.T) {
	seconds := func(d time.Duration) int { return int(d / time.Second) }
	for _, test := range []struct {
		name                 string
		config               transport.Config
		alive, idle, between int
	}{
		{"by default", transport.Config{}, 1, 15, 5},
		{"as configured", transport.Config{KeepAlive: time.Minute}, 1, seconds(time.Minute), 20},
		{"no keep-alive", transport.Config{KeepAlive: -1}, 0, 0, 0},
	} {
		t.Run(test.name, func(t *testing.T) {
			dialled, accepted := sockets(t, test.config)
			for _, c := range []*net.TCPConn{dialled, accepted} {
				if option(t, c, syscall.IPPROTO_TCP, syscall.TCP_NODELAY) == 0 {
					t.Error("Nagle's algorithm is on")
				}
				if got := option(t, c, syscall.SOL_SOCKET, syscall.SO_KEEPALIVE); got != test.alive {
					t.Errorf("keep-alive is %d, want %d", got, test.alive)
				}
				if test.alive == 0 {
					continue
				}
				idle, between, count := option(t, c, syscall.IPPROTO_TCP, syscall.TCP_KEEPIDLE), option(t, c, syscall.IPPROTO_TCP, syscall.TCP_KEEPINTVL), option(t, c, syscall.IPPROTO_TCP, syscall.TCP_KEEPCNT)
				if idle != test.idle || between != test.between || count != 3 {
					t.Errorf("asked after %d s, then %d times every %d s; want %d, 3, %d", idle, count, between, test.idle, test.between)
				}
			}
		})
	}
}

func TestBufferSizesReachTheSocket(t *testing.T) {
	// The kernel doubles what is asked for, for its own accounts (socket(7)).
	const read, write = 20_000, 30_000
	dialled, accepted := sockets(t, transport.Config{ReadBuffer: read, WriteBuffer: write})
	for _, c := range []*net.TCPConn{dialled, accepted} {
		if got := option(t, c, syscall.SOL_SOCKET, syscall.SO_RCVBUF); got != 2*read {
			t.Errorf("the read buffer has %d bytes", got)
		}
		if got := option(t, c, syscall.SOL_SOCKET, syscall.SO_SNDBUF); got != 2*write {
			t.Errorf("the write buffer has %d bytes", got)
		}
	}
}
