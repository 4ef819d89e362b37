package main

import (
	"io"
	"net"

	"github.com/anacrolix/utp"
)

var utpStreams = streams{
	serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
		socket, err := utp.NewSocket("udp", address)
		if err != nil {
			return nil, err
		}
		go serveConns(func() (io.ReadWriter, error) { return socket.Accept() }, handle)
		return func() { socket.CloseNow() }, nil
	},
	// All connections share one socket, as the library has it.
	dial: func(address string, n int) ([]io.ReadWriter, func(), error) {
		socket, err := utp.NewSocket("udp", "127.0.0.1:0")
		if err != nil {
			return nil, nil, err
		}
		stop := func() { socket.CloseNow() }
		all, _, err := dialAll(n, func() (net.Conn, error) { return socket.Dial(address) })
		if err != nil {
			stop()
		}
		return all, stop, err
	},
}
