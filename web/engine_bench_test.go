package web

import (
	"bytes"
	"context"
	"io"
	"net"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// listedUser is the user of the comparison with other servers, in lab/http.
type listedUser struct {
	ID         int64     `json:"id" validate:"gte=0"`
	Name       string    `json:"name" validate:"required,max=64"`
	Surname    string    `json:"surname" validate:"required,max=64"`
	LastUpdate time.Time `json:"lastUpdate" validate:"required"`
}

const updateUserBody = `{"id":1,"name":"John","surname":"Smith","lastUpdate":"2023-07-09T19:33:06.123Z"}`

const updateUser = "POST /updateUser HTTP/1.1\r\nHost: localhost:3000\r\nContent-Type: application/json\r\nContent-Length: 80\r\n\r\n" + updateUserBody

// BenchmarkFastPath measures a small request from its bytes to those of its answer, without system calls: the engine, the
// server, the node, validation and the codec. The connection is in memory; so many requests come in one read.
func BenchmarkFastPath(b *testing.B) {
	b.Run("one", func(b *testing.B) { benchmarkFastPath(b, 1) })
	b.Run("pipelined10", func(b *testing.B) { benchmarkFastPath(b, 10) })
}

func benchmarkFastPath(b *testing.B, pipelined int) {
	users := sabir.NewService("users")
	sabir.Handle(users, "update", func(_ context.Context, u listedUser) (listedUser, error) {
		u.LastUpdate = u.LastUpdate.Add(24 * time.Hour)
		return u, nil
	}, sabir.Route("POST", "/updateUser"))
	var f *server
	start(b, sabir.Serve(users), capture(&f))
	l := &memoryListener{conns: make(chan net.Conn), closed: make(chan struct{})}
	ended := make(chan struct{})
	go func() { f.open.Load().engine.Serve(l); close(ended) }()
	b.Cleanup(func() { f.open.Load().engine.Close(); <-ended })
	b.ReportAllocs()
	b.ResetTimer()
	c := &memoryConn{batch: []byte(strings.Repeat(updateUser, pipelined)), closed: make(chan struct{})}
	c.left.Store(int64(b.N+pipelined-1) / int64(pipelined))
	l.conns <- c
	<-c.closed
	b.StopTimer()
	if want := (b.N + pipelined - 1) / pipelined * pipelined; c.good != want {
		b.Fatalf("%d good answers to %d requests", c.good, want)
	}
}

// memoryConn is a connection on which the same batch of requests comes again and again.
type memoryConn struct {
	batch  []byte
	left   atomic.Int64
	good   int // answers with status 200
	close  sync.Once
	closed chan struct{}
}

func (c *memoryConn) Read(p []byte) (int, error) {
	if c.left.Add(-1) < 0 {
		return 0, io.EOF
	}
	return copy(p, c.batch), nil
}

func (c *memoryConn) Write(p []byte) (int, error) {
	c.good += bytes.Count(p, []byte("HTTP/1.1 200 OK\r\n"))
	return len(p), nil
}

func (c *memoryConn) Close() error {
	c.close.Do(func() { close(c.closed) })
	return nil
}

func (c *memoryConn) LocalAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000}
}
func (c *memoryConn) RemoteAddr() net.Addr {
	return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 40000}
}
func (c *memoryConn) SetDeadline(time.Time) error      { return nil }
func (c *memoryConn) SetReadDeadline(time.Time) error  { return nil }
func (c *memoryConn) SetWriteDeadline(time.Time) error { return nil }

// memoryListener returns the connections that the benchmark gives it.
type memoryListener struct {
	conns  chan net.Conn
	closed chan struct{}
	once   atomic.Bool
}

func (l *memoryListener) Accept() (net.Conn, error) {
	select {
	case c := <-l.conns:
		return c, nil
	case <-l.closed:
		return nil, net.ErrClosed
	}
}

func (l *memoryListener) Close() error {
	if l.once.CompareAndSwap(false, true) {
		close(l.closed)
	}
	return nil
}

func (l *memoryListener) Addr() net.Addr { return &net.TCPAddr{IP: net.IPv4(127, 0, 0, 1), Port: 3000} }
