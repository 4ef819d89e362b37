//go:build !unix

package busypoll

import "net"

// Reader reads from a connection, which on this system it does not poll.
type Reader struct{ net.Conn }

// NewReader makes a Reader of conn.
func NewReader(conn net.Conn) *Reader { return &Reader{conn} }
