package main

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"

	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir/lab/sockets"
)

// webSockets have one frame for each write. They are for what is read whole, message by message or byte by byte.
var webSockets = streams{
	serve: func(address string, handle func(io.ReadWriter)) (func(), error) {
		return sockets.AcceptEach("tcp", address, func(conn net.Conn) {
			if _, err := ws.Upgrade(conn); err != nil {
				return
			}
			handle(&webSocket{conn: conn, in: bufio.NewReaderSize(conn, 64<<10)})
		})
	},
	dial: func(address string, n int) ([]io.ReadWriter, func(), error) {
		return dialAll(n, func() (*webSocket, error) {
			conn, early, _, err := ws.Dial(context.Background(), "ws://"+address)
			if err != nil {
				return nil, err
			}
			if early != nil {
				conn.Close()
				return nil, fmt.Errorf("%s spoke first", address)
			}
			return &webSocket{conn: conn, in: bufio.NewReaderSize(conn, 64<<10), client: true}, nil
		})
	},
}

// webSocket is one side. One goroutine may read while another writes.
type webSocket struct {
	conn   net.Conn
	in     *bufio.Reader
	client bool
	out    []byte
	left   int64 // of the frame that is being read
	mask   [4]byte
	at     int // in the frame
}

func (s *webSocket) Read(p []byte) (int, error) {
	for s.left == 0 {
		header, err := ws.ReadHeader(s.in)
		if err != nil {
			return 0, err
		}
		s.left, s.mask, s.at = header.Length, header.Mask, 0
	}
	n, err := s.in.Read(p[:min(int64(len(p)), s.left)])
	if !s.client {
		ws.Cipher(p[:n], s.mask, s.at)
	}
	s.left -= int64(n)
	s.at += n
	return n, err
}

func (s *webSocket) Write(p []byte) (int, error) {
	header := ws.Header{Fin: true, OpCode: ws.OpBinary, Length: int64(len(p)), Masked: s.client}
	if s.client {
		header.Mask = ws.NewMask()
	}
	s.out = s.out[:0]
	if err := ws.WriteHeader(appending{&s.out}, header); err != nil {
		return 0, err
	}
	at := len(s.out)
	s.out = append(s.out, p...)
	if s.client {
		ws.Cipher(s.out[at:], header.Mask, 0)
	}
	if _, err := s.conn.Write(s.out); err != nil {
		return 0, err
	}
	return len(p), nil
}

func (s *webSocket) Close() error { return s.conn.Close() }

// appending is a Writer to a slice.
type appending struct{ to *[]byte }

func (a appending) Write(p []byte) (int, error) {
	*a.to = append(*a.to, p...)
	return len(p), nil
}
