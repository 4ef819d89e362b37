package meta

import (
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"math"
	"net"
	"net/netip"
	"os"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/internal/accept"
)

// Data is bytes that came over a connection, in the order in which they came; how they are cut is the network's. They are the
// receiver's own.
type Data struct{ Bytes []byte }

// Conn is a TCP connection, for the process that handles it. It may be used by several goroutines.
type Conn struct {
	net.Conn // Read is not for the process: what comes are its Data
	write    time.Duration
	ctx      context.Context
	cancel   context.CancelFunc
}

func newConn(ctx context.Context, c net.Conn, config *NetConfig) *Conn {
	ctx, cancel := context.WithCancel(ctx)
	conn := &Conn{Conn: c, write: config.WriteTimeout, ctx: ctx, cancel: cancel}
	context.AfterFunc(ctx, func() { c.Close() })
	return conn
}

// Write writes all of data. It waits while the peer does not read, at most for the WriteTimeout; the connection is of no use
// after an error.
func (c *Conn) Write(data []byte) (int, error) {
	if err := c.SetWriteDeadline(time.Now().Add(c.write)); err != nil {
		return 0, err
	}
	return c.Conn.Write(data)
}

// Close ends the connection; the Exit with ErrConnectionClosed comes all the same.
func (c *Conn) Close() error { c.cancel(); return nil }

// CloseWrite signals the peer that nothing more comes; reading goes on.
func (c *Conn) CloseWrite() error {
	if half, ok := c.Conn.(interface{ CloseWrite() error }); ok {
		return half.CloseWrite()
	}
	return errors.ErrUnsupported
}

// read sends the received data to the process of the connection, and then its end. The process may still write, until it ends.
func (c *Conn) read(s *actor.System, to actor.PID, config *NetConfig) {
	closed(s, to, c.readAll(s, to, config))
	<-c.ctx.Done()
}

// closed notifies the process that handles a socket of its end, after the data, as soon as there is space in its mailbox.
func closed(s *actor.System, to actor.PID, err error) {
	reason := ErrConnectionClosed
	if err != io.EOF {
		reason = sabir.Errorf(ErrConnectionClosed.Code, ErrConnectionClosed.Name, "%s: %w", ErrConnectionClosed.Message, err).AsRetryable()
	}
	_ = Deliver(context.Background(), s, to, math.MaxInt, actor.Exit{Reason: reason}) // unless the process has ended
}

func (c *Conn) readAll(s *actor.System, to actor.PID, config *NetConfig) error {
	buffer := make([]byte, config.ReadSize)
	for {
		if config.IdleTimeout > 0 {
			if err := c.SetReadDeadline(time.Now().Add(config.IdleTimeout)); err != nil {
				return err
			}
		}
		n, err := c.Conn.Read(buffer)
		if n > 0 {
			if err := Deliver(c.ctx, s, to, config.Window, Data{bytes.Clone(buffer[:n])}); err != nil {
				return err
			}
		}
		if errors.Is(err, os.ErrDeadlineExceeded) {
			return fmt.Errorf("nothing came for %s", config.IdleTimeout)
		}
		if err != nil {
			return err
		}
	}
}

// tracked is a connection and the process that handles it.
type tracked struct {
	pid   actor.PID
	close context.CancelFunc
}

// ListenTCP listens on an address such as ":7000", which without a host is 127.0.0.1, and starts a process of the behaviour for
// each connection. That gets the connection when it begins, what comes as Data, and when the connection has ended an Exit
// whose reason is ErrConnectionClosed, after the last Data: without a handler for Exit it ends then. When the process ends, the connection
// does; a peer that has sent all its data can still be answered until then.
//
//	type echo struct{ conn *meta.Conn }
//
//	func (e *echo) Init(p *actor.Process, conn *meta.Conn) error { e.conn = conn; return nil }
//	func (e *echo) Data(p *actor.Process, d meta.Data) error     { _, err := e.conn.Write(d.Bytes); return err }
//
// While Window messages wait for the process, nothing is read, and so the peer has to wait. An address that other machines can
// reach is refused without TLS or Exposed.
//
// It returns the PID of the listener, with whose end the listener and all its connections end, and the address that it is bound to.
func ListenTCP[S any](from actor.Sender, address string, b *actor.Behavior[S, *Conn], config NetConfig) (actor.PID, netip.AddrPort, error) {
	if err := config.complete(); err != nil {
		return actor.PID{}, netip.AddrPort{}, err
	}
	bound, err := config.listenAddr(context.Background(), "tcp", address)
	if err != nil {
		return actor.PID{}, netip.AddrPort{}, err
	}
	l, err := net.ListenTCP("tcp", net.TCPAddrFromAddrPort(bound))
	if err != nil {
		return actor.PID{}, netip.AddrPort{}, fmt.Errorf("meta: %w", err)
	}
	closing := closers{}
	accept := func(ctx context.Context, m Meta) error {
		context.AfterFunc(ctx, func() { l.Close() })
		return acceptAll(ctx, m, l, b, &config)
	}
	pid, err := Start(from, "tcp-listener", Device[tracked]{Run: accept, Handle: closing.track, down: closing.down})
	if err != nil {
		l.Close()
		return actor.PID{}, netip.AddrPort{}, err
	}
	return pid, l.Addr().(*net.TCPAddr).AddrPort(), nil
}

// closers closes connections when a process ends. Only the callbacks of one process use it.
type closers map[actor.MonitorRef]context.CancelFunc

func (c closers) track(p *actor.Process, t tracked) error {
	c[p.Monitor(t.pid)] = t.close
	return nil
}

func (c closers) down(d actor.Down) {
	if end := c[d.Ref]; end != nil {
		end()
	}
	delete(c, d.Ref)
}

func acceptAll[S any](ctx context.Context, m Meta, l net.Listener, b *actor.Behavior[S, *Conn], config *NetConfig) error {
	var open sync.WaitGroup
	defer open.Wait()
	slots := make(chan struct{}, config.Connections)
	failures := accept.NewFailures(m.log, l.Addr().String(), "peers of processes")
	for {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return nil
		}
		c, err := l.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				c.Close()
			}
			return nil
		case errors.Is(err, net.ErrClosed):
			return err
		case err != nil: // of one connection, or of too many open files
			<-slots
			failures.Pause(err, ctx.Done())
			continue
		}
		failures.Accepted()
		open.Go(func() {
			defer func() { <-slots }()
			serve(ctx, m, c, b, config)
		})
	}
}

// serve is one connection of a listener.
func serve[S any](ctx context.Context, m Meta, c net.Conn, b *actor.Behavior[S, *Conn], config *NetConfig) {
	if config.TLS != nil {
		secured := tls.Server(c, config.TLS)
		bound, cancel := context.WithTimeout(ctx, handshakeTimeout)
		err := secured.HandshakeContext(bound)
		cancel()
		if err != nil {
			c.Close()
			return
		}
		c = secured
	}
	conn := newConn(ctx, c, config)
	defer conn.cancel()
	pid, err := actor.Spawn(m.System, b, conn)
	if err != nil {
		return // Init has refused it
	}
	if actor.Send(m.System, m.PID, tracked{pid.PID(), conn.cancel}) != nil {
		conn.cancel() // the listener has ended
	}
	conn.read(m.System, pid.PID(), config)
}

// DialTCP connects with an address and starts a process of the behaviour for the connection, as ListenTCP does. It ends with
// the process that called DialTCP. It waits for the connection until ctx ends, 30 seconds at most.
func DialTCP[S any](ctx context.Context, from actor.Sender, address string, b *actor.Behavior[S, *Conn], config NetConfig) (actor.PID, error) {
	if err := config.complete(); err != nil {
		return actor.PID{}, err
	}
	ctx, cancel := context.WithTimeout(ctx, dialTimeout)
	defer cancel()
	c, err := config.dial(ctx, address)
	if err != nil {
		return actor.PID{}, fmt.Errorf("meta: %w", err)
	}
	conn := newConn(context.Background(), c, &config)
	pid, err := handled(from, "tcp-client", b, conn, conn.cancel, &config, func(s *actor.System, pid actor.PID) { conn.read(s, pid, &config) })
	if err != nil {
		conn.cancel()
	}
	return pid, err
}

func (c *NetConfig) dial(ctx context.Context, address string) (net.Conn, error) {
	if c.TLS != nil {
		return (&tls.Dialer{Config: c.TLS}).DialContext(ctx, "tcp", address)
	}
	return (&net.Dialer{}).DialContext(ctx, "tcp", address)
}

// handled starts the process that handles one socket, and the meta process that reads it. The socket, the two and their owner
// end together.
func handled[S, C any](from actor.Sender, name string, b *actor.Behavior[S, C], socket C, end context.CancelFunc, config *NetConfig, read func(*actor.System, actor.PID)) (actor.PID, error) {
	pid, err := actor.Spawn(from, b, socket)
	if err != nil {
		return pid.PID(), err
	}
	closing := closers{}
	run := func(ctx context.Context, m Meta) error {
		context.AfterFunc(ctx, end)
		if err := actor.Send(m.System, m.PID, tracked{pid.PID(), end}); err != nil {
			end()
		}
		read(m.System, pid.PID())
		return nil
	}
	if _, err := Start(from, name, Device[tracked]{Run: run, Handle: closing.track, down: closing.down}); err != nil {
		_ = actor.Kill(systemOf(from), pid)
		return actor.PID{}, err
	}
	return pid.PID(), nil
}
