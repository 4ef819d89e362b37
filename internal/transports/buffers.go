package transports

import "net"

// BufferWriter is implemented by connections that have their own way to write several slices at once.
type BufferWriter interface {
	// WriteBuffers writes all slices in order, as one write: no other write comes between them. It takes what it wrote
	// out of buffers, as [net.Buffers.WriteTo] does, and returns how many bytes that was.
	WriteBuffers(buffers *net.Buffers) (int64, error)
}

// Gathers reports whether several slices cost conn no more than one does: one system call (writev) or none at all. Where
// it is false, such as for TLS, copy small slices together before the write.
func Gathers(conn net.Conn) bool {
	switch conn.(type) {
	case *net.TCPConn, *net.UnixConn, BufferWriter:
		return true
	}
	return false
}

// WriteBuffers writes all slices in order by the best way that conn has, and takes what it wrote out of buffers. Where
// Gathers is false that is one write for each slice, between which those of other goroutines may come.
func WriteBuffers(conn net.Conn, buffers *net.Buffers) (int64, error) {
	if w, ok := conn.(BufferWriter); ok {
		return w.WriteBuffers(buffers)
	}
	return buffers.WriteTo(conn)
}
