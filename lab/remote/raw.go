package main

import (
	"io"
	"net"

	"github.com/sabir-go/sabir/lab/sockets"
)

// copyBytes is the greatest number of bytes that are sent back at once.
const copyBytes = 16 << 10

// serveRaw sends back what it gets. Clients have a connection for each caller; there are no frames and no codec.
func serveRaw(address string, _ settings) (func(), error) {
	return sockets.AcceptEach("tcp", address, sendBack)
}

func sendBack(conn net.Conn) {
	buffer := make([]byte, copyBytes)
	for {
		n, err := conn.Read(buffer)
		if err != nil {
			return
		}
		if _, err := conn.Write(buffer[:n]); err != nil {
			return
		}
	}
}

func dialRaw(address string, _ settings, callers int) ([]echo, func(), error) {
	conns, err := sockets.DialEach("tcp", address, callers)
	if err != nil {
		return nil, nil, err
	}
	echoes := make([]echo, callers)
	for i, conn := range conns {
		reply := make([]byte, payloadBytes)
		echoes[i] = func(request []byte) ([]byte, error) {
			if _, err := conn.Write(request); err != nil {
				return nil, err
			}
			_, err := io.ReadFull(conn, reply)
			return reply, err
		}
	}
	return echoes, sockets.CloseAll(conns), nil
}
