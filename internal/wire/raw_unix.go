//go:build unix

package wire

import (
	"net"
	"os"
	"syscall"
)

// rawWriter writes to a connection of the operating system as much as that takes at once, without waiting for more space.
// It is used by one goroutine at a time.
type rawWriter struct {
	conn syscall.RawConn
	once func(fd uintptr) bool // made once, so that a write does not allocate

	buf []byte
	n   int
	err error
}

// newRawWriter returns nil for connections that are not directly one of the operating system, such as TLS.
func newRawWriter(conn net.Conn) *rawWriter {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn:
	default:
		return nil
	}
	raw, err := conn.(syscall.Conn).SyscallConn()
	if err != nil {
		return nil
	}
	w := &rawWriter{conn: raw}
	w.once = func(fd uintptr) bool {
		for {
			w.n, w.err = syscall.Write(int(fd), w.buf)
			if w.err != syscall.EINTR {
				return true
			}
		}
	}
	return w
}

func (w *rawWriter) write(buf []byte) (int, error) {
	w.buf = buf
	err := w.conn.Write(w.once)
	w.buf = nil
	switch {
	case err != nil:
		return 0, err
	case w.err == syscall.EAGAIN:
		return 0, nil
	case w.err != nil:
		return 0, os.NewSyscallError("write", w.err)
	}
	return w.n, nil
}
