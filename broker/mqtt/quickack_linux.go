package mqtt

import (
	"net"
	"syscall"
)

// prompt is a socket that acknowledges at once what it reads (tcp(7), TCP_QUICKACK). Mosquitto leaves Nagle's algorithm
// on unless its set_tcp_nodelay is set: it then holds a message back until the one before it was acknowledged, for which
// Linux would take 40 ms.
type prompt struct {
	*net.TCPConn
	raw         syscall.RawConn
	acknowledge func(descriptor uintptr)
}

func promptly(socket *net.TCPConn) net.Conn {
	raw, err := socket.SyscallConn()
	if err != nil {
		return socket
	}
	return &prompt{socket, raw, func(descriptor uintptr) {
		syscall.SetsockoptInt(int(descriptor), syscall.IPPROTO_TCP, syscall.TCP_QUICKACK, 1) // else it is only slower
	}}
}

func (p *prompt) Read(to []byte) (int, error) {
	n, err := p.TCPConn.Read(to)
	p.raw.Control(p.acknowledge)
	return n, err
}

func (p *prompt) WriteBuffers(buffers *net.Buffers) (int64, error) { return buffers.WriteTo(p.TCPConn) }
