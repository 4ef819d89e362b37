package http1

import (
	"io"
	"net"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict"
)

// maxTurningDown bounds the connections that are answered at a time before they are closed: an answer takes a goroutine until the
// other end has it.
const maxTurningDown = 16

const tooManyConnections = "HTTP/1.1 429 Too Many Requests\r\nContent-Type: text/plain; charset=utf-8\r\nContent-Length: 51\r\nRetry-After: 1\r\nConnection: close\r\n\r\n" +
	"this address has as many connections open as it may"

// turnDown ends a connection that Config.Admit does not want.
func (s *Server) turnDown(socket net.Conn) {
	select {
	case s.turningDown <- struct{}{}:
	default:
		socket.Close()
		<-s.connTokens
		return
	}
	go func() {
		defer func() {
			socket.Close()
			<-s.connTokens
			<-s.turningDown
		}()
		if s.tls != nil {
			return // an answer would take a handshake
		}
		socket.SetWriteDeadline(time.Now().Add(httpstrict.LingerTime))
		if _, err := io.WriteString(socket, tooManyConnections); err == nil {
			_ = httpstrict.Linger(socket)
		}
	}()
}
