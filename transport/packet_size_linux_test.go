package transport_test

import (
	"net"
	"syscall"
	"testing"

	"github.com/sabir-go/sabir/transport"
)

func TestSegmentsAreLimitedOnTheWayToOtherMachinesOnly(t *testing.T) {
	for _, test := range []struct {
		to     string
		config transport.Config
		want   int
	}{
		{"192.0.2.1:80", transport.Config{}, 1188},
		{"[2001:db8::1]:80", transport.Config{}, 1188},
		{"192.0.2.1:80", transport.Config{PacketSize: 8972}, 8960},
		{"127.0.0.1:80", transport.Config{}, 0},
		{"[::1]:80", transport.Config{}, 0},
		{"[::ffff:127.0.0.1]:80", transport.Config{}, 0},
	} {
		if got := segmentLimit(t, test.config, test.to); test.want != 0 && got != test.want || test.want == 0 && got == 1188 {
			t.Errorf("to %s with packets of %d bytes: segments of %d bytes, want %d (0: what the system has)", test.to, test.config.PacketSize, got, test.want)
		}
	}
	if err := (transport.Config{PacketSize: 100}).LimitSegments("tcp4", "192.0.2.1:80", nil); err == nil {
		t.Error("packets of 100 bytes were taken")
	}
}

// segmentLimit returns the limit of a socket after LimitSegments.
func segmentLimit(t *testing.T, config transport.Config, to string) (size int) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	dialer := net.Dialer{Control: func(network, _ string, socket syscall.RawConn) error {
		if err := config.LimitSegments(network, to, socket); err != nil {
			return err
		}
		return socket.Control(func(fd uintptr) {
			size, err = syscall.GetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG)
		})
	}}
	c, dialErr := dialer.Dial("tcp", l.Addr().String())
	if dialErr != nil || err != nil {
		t.Fatal(dialErr, err)
	}
	c.Close()
	return size
}
