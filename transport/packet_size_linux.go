package transport

import (
	"os"
	"syscall"
)

func limitSegments(socket syscall.RawConn, size int) error {
	var failed error
	err := socket.Control(func(fd uintptr) {
		failed = os.NewSyscallError("setsockopt", syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_MAXSEG, size))
	})
	if err != nil {
		return err
	}
	return failed
}
