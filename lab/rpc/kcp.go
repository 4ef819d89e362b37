package main

import (
	"io"

	"github.com/xtaci/kcp-go/v5"
)

var kcpStreams = streams{
	serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
		listener, err := kcp.ListenWithOptions(address, nil, 0, 0)
		if err != nil {
			return nil, err
		}
		go serveConns(func() (io.ReadWriter, error) {
			session, err := listener.AcceptKCP()
			if err != nil {
				return nil, err
			}
			tuneKCP(session)
			return session, nil
		}, handle)
		return func() { listener.Close() }, nil
	},
	dial: func(address string, n int) ([]io.ReadWriter, func(), error) {
		return dialAll(n, func() (*kcp.UDPSession, error) {
			session, err := kcp.DialWithOptions(address, nil, 0, 0)
			if err != nil {
				return nil, err
			}
			tuneKCP(session)
			return session, nil
		})
	},
}

// tuneKCP sets what the library's documentation has for speed (its defaults send every 40 ms), and windows of Sabir's size.
func tuneKCP(s *kcp.UDPSession) {
	//lint:ignore SA1019 there is no other way to have small writes share a packet
	s.SetStreamMode(true)
	s.SetWriteDelay(false)
	s.SetACKNoDelay(false)
	s.SetNoDelay(1, 10, 2, 1)
	s.SetWindowSize(640, 1280)
}
