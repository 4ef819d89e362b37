//go:build !unix

package wire

import "net"

// rawWriter is only there on systems whose sockets are file descriptors; elsewhere the writer's goroutine writes.
type rawWriter struct{}

func newRawWriter(net.Conn) *rawWriter { return nil }

func (w *rawWriter) write([]byte) (int, error) { return 0, net.ErrClosed }
