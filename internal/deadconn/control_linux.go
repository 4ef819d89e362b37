package deadconn

import (
	"syscall"

	"golang.org/x/sys/unix"
)

// Control is for a net.Dialer, whose connections the kernel then ends after Limit.
func Control(_, _ string, socket syscall.RawConn) error {
	return socket.Control(func(fd uintptr) {
		_ = unix.SetsockoptInt(int(fd), unix.IPPROTO_TCP, unix.TCP_USER_TIMEOUT, int(Limit.Milliseconds())) // a kernel without it has a limit of its own
	})
}
