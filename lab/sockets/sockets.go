// Package sockets serves and makes bare connections: what the kernel takes, with nothing of Sabir in it.
package sockets

import (
	"fmt"
	"net"
	"sync"
)

// AcceptEach listens at an address and runs serve on a goroutine for each connection, which is closed after it. stop closes
// all.
func AcceptEach(network, address string, serve func(net.Conn)) (stop func(), err error) {
	listener, err := net.Listen(network, address)
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
				serve(conn)
			}()
		}
	}()
	return func() {
		listener.Close()
		open.Range(func(conn, _ any) bool { conn.(net.Conn).Close(); return true })
	}, nil
}

// DialEach makes n connections.
func DialEach(network, address string, n int) ([]net.Conn, error) {
	conns := make([]net.Conn, 0, n)
	for range n {
		conn, err := net.Dial(network, address)
		if err != nil {
			CloseAll(conns)()
			return nil, fmt.Errorf("connection %d of %d: %w", len(conns)+1, n, err)
		}
		conns = append(conns, conn)
	}
	return conns, nil
}

// CloseAll closes connections.
func CloseAll(conns []net.Conn) func() {
	return func() {
		for _, conn := range conns {
			conn.Close()
		}
	}
}
