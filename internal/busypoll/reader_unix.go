//go:build unix

package busypoll

import (
	"io"
	"net"
	"os"
	"runtime"
	"syscall"
	"time"
)

// Reader reads from a connection. Like the connection's own Read, its Read may be called by one goroutine at a time; deadlines and Close work as
// ever, at most limit late.
type Reader struct {
	conn net.Conn
	raw  syscall.RawConn // nil for a connection that is not directly one of the operating system, such as TLS: it is read as ever
	ask  func(fd uintptr) bool
	pace pace

	buf    []byte
	n      int
	err    error
	began  time.Time // of polling; zero before it
	parked bool
}

// NewReader makes a Reader of conn.
func NewReader(conn net.Conn) *Reader {
	r := &Reader{conn: conn}
	switch c := conn.(type) {
	case *net.TCPConn:
		r.raw, _ = c.SyscallConn()
	case *net.UnixConn:
		r.raw, _ = c.SyscallConn()
	}
	r.ask = r.poll // made once, so that a read does not allocate
	return r
}

// Read is [net.Conn]'s.
func (r *Reader) Read(p []byte) (int, error) {
	if r.raw == nil || len(p) == 0 || !r.pace.polls() {
		return r.conn.Read(p)
	}
	r.buf, r.n, r.err, r.began, r.parked = p, 0, nil, time.Time{}, false
	err := r.raw.Read(r.ask)
	r.buf = nil
	switch {
	case err != nil: // closed, or past its deadline
		return 0, err
	case r.err != nil:
		return 0, &net.OpError{Op: "read", Net: r.conn.LocalAddr().Network(), Source: r.conn.LocalAddr(), Addr: r.conn.RemoteAddr(), Err: os.NewSyscallError("read", r.err)}
	case r.n == 0:
		return 0, io.EOF
	}
	return r.n, nil
}

// poll reads until something came, or the time is over; then it returns false, and is called again when there is something.
func (r *Reader) poll(fd uintptr) bool {
	for {
		r.n, r.err = syscall.Read(int(fd), r.buf)
		switch {
		case r.err == syscall.EINTR:
			continue
		case r.err != syscall.EAGAIN:
			if !r.parked {
				r.pace.hit()
			}
			return true
		case r.parked:
			return false
		case r.began.IsZero():
			r.began = time.Now()
		case time.Since(r.began) > limit:
			r.parked = true
			r.pace.miss()
			return false
		}
		runtime.Gosched() // whatever else is to run comes first
	}
}
