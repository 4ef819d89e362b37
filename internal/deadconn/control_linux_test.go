package deadconn_test

import (
	"net"
	"syscall"
	"testing"

	"golang.org/x/sys/unix"

	"github.com/sabir-go/sabir/internal/deadconn"
)

func TestTheKernelHasTheLimitOfAConnection(t *testing.T) {
	server, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer server.Close()
	conn, err := (&net.Dialer{Control: deadconn.Control}).DialContext(t.Context(), "tcp", server.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	socket, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var limit int
	var failed error
	if err := socket.Control(func(fd uintptr) {
		limit, failed = unix.GetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT)
	}); err != nil || failed != nil || limit != int(deadconn.Limit.Milliseconds()) {
		t.Errorf("the limit is %d ms, %v, %v; want %v", limit, err, failed, deadconn.Limit)
	}
}
