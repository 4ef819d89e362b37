package transport

import (
	"context"
	"net"
	"net/url"
)

// Stream is a transport that dials and accepts connections of bytes.
//
// All methods may be called from any number of goroutines at once.
//
// What its connections do, besides what [net.Conn] asks for:
//
//   - Bytes arrive whole, once and in order, or not at all; nothing keeps the borders of writes.
//   - A writer whose peer does not read blocks after a bounded number of bytes.
//   - Concurrent writes do not mix: each one's bytes stay together.
//   - Deadlines of reads may pass and be set again. After a deadline of a write has passed, part of the bytes may have
//     been sent, so the connection is of no more use; close it.
//   - Errors of passed deadlines are [os.ErrDeadlineExceeded], those of a connection closed on this side
//     [net.ErrClosed], in the sense of errors.Is.
//   - When the peer closes or its process dies, reads return what had arrived and then end with [io.EOF] or an error. EOF
//     does not tell which of the two it was: a protocol that must know sends a goodbye in its own words.
//   - Close unblocks reads and writes of both sides.
//
// Connections may also have two more methods. CloseWrite() error ends their own direction and leaves the other one to read: the peer
// reads what was written and then [io.EOF]. WriteBuffers(buffers *net.Buffers) (int64, error) writes several slices in order as one
// write, takes what it wrote out of buffers, as [net.Buffers.WriteTo] does, and returns how many bytes that was; those of
// [net.TCPConn] and [net.UnixConn] are written in one system call without it.
type Stream interface {
	// Listen starts to accept connections at the address, whose scheme is one that the transport was registered under.
	// ctx bounds the work of starting, such as resolving a name; the listener stays until it is closed.
	//
	// It refuses addresses that other machines can reach unless config sets how callers authenticate; [Config.ListenAddr]
	// does that for drivers with a host and a port. An address that is taken is [syscall.EADDRINUSE] for errors.Is.
	Listen(ctx context.Context, at *url.URL, config Config) (Listener, error)

	// Dial connects to what listens at the address, within ctx and config.DialTimeout, whichever is shorter. Where nothing
	// listens the error is [syscall.ECONNREFUSED] for errors.Is; where ctx ended first it is ctx.Err().
	//
	// Errors name the address, and passwords in URLs do not show in them.
	Dial(ctx context.Context, to *url.URL, config Config) (net.Conn, error)
}

// Listener accepts connections. All methods may be called from any number of goroutines at once.
type Listener interface {
	// Accept waits for a connection. It does no work that a slow or hostile peer could hold up: a TLS handshake, for example, runs
	// in the first Read or Write of the connection, so set a deadline before it.
	//
	// After Close the error is [net.ErrClosed] for errors.Is. Others may pass, such as too many open files.
	Accept() (net.Conn, error)

	// Close stops listening, and ends Accept. Connections that were accepted stay open; those still waiting are closed.
	Close() error

	// Addr is the address that others dial, as a URL: with the port that was taken for port 0, and with Config.Advertise
	// or an address of this machine for a host that means all of them.
	Addr() string
}
