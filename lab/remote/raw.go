package main

import (
	"io"
	"net"
	"sync"
)

// copyBytes is how much is sent back at once, at most.
const copyBytes = 16 << 10

// serveRaw sends back what it gets. Clients have a connection for each caller; there are no frames and no codec.
func serveRaw(address string, _ settings) (func(), error) {
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return nil, err
	}
	var open sync.Map
	go func() {
		for {
			conn, err := listener.Accept()
			if err != nil {
				return
			}
			open.Store(conn, nil)
			go func() {
				defer open.Delete(conn)
				defer conn.Close()
				sendBack(conn)
			}()
		}
	}()
	return func() {
		listener.Close()
		open.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
	}, nil
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
	var conns []net.Conn
	stop := func() {
		for _, conn := range conns {
			conn.Close()
		}
	}
	echoes := make([]echo, callers)
	for i := range echoes {
		conn, err := net.Dial("tcp", address)
		if err != nil {
			stop()
			return nil, nil, err
		}
		conns = append(conns, conn)
		reply := make([]byte, payloadBytes)
		echoes[i] = func(request []byte) ([]byte, error) {
			if _, err := conn.Write(request); err != nil {
				return nil, err
			}
			_, err := io.ReadFull(conn, reply)
			return reply, err
		}
	}
	return echoes, stop, nil
}
