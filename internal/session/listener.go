package session

import (
	"errors"
	"fmt"
	"net"
	"sync"
	"time"
)

const (
	// backlog is the number of connections that may wait for Accept; more are refused.
	backlog = 128

	// maxUnopened is the number of carriers that may be without an open frame at a time; more are closed.
	maxUnopened = 256

	// releaseWait bounds how long Close waits for closed connections to let go of the port.
	releaseWait = time.Second
)

// Listener accepts what was opened over a port. It is a transport.Listener.
type Listener struct {
	addr     string
	settings Settings
	port     *Port
	waiting  chan *Accepted
	opening  chan struct{} // one for each stranger

	once   sync.Once
	closed chan struct{}
}

// Accepted is a connection of a listener.
type Accepted struct {
	*Conn
	port *Port
	once sync.Once
}

// Close closes the connection, see [Conn].
func (a *Accepted) Close() error {
	a.once.Do(a.port.closing)
	return a.Conn.Close()
}

// NewListener makes a listener with the address that its Addr returns. The driver calls Serve for each new carrier until the
// port is shut, which may be long after Close.
func NewListener(addr string, settings Settings, port *Port) *Listener {
	return &Listener{
		addr: addr, settings: settings, port: port,
		waiting: make(chan *Accepted, backlog),
		opening: make(chan struct{}, maxUnopened),
		closed:  make(chan struct{}),
	}
}

// Serve takes a new carrier, which it owns from now on, and returns at once.
func (l *Listener) Serve(raw Raw) {
	select {
	case l.opening <- struct{}{}:
	default:
		raw.Close()
		return
	}
	a := &Accepted{Conn: newConn(raw, l.settings, func() {}), port: l.port}
	go func() {
		// Here, since a frame that has come is read at once from now on. On a busy machine much time may pass before.
		late := time.AfterFunc(l.settings.OpenWait, a.notOpened)
		go l.open(a, late)
		a.pump()
	}()
}

var errNotOpened = errors.New("the peer opened no connection")

// notOpened gives a carrier up that has no open frame by now.
func (a *Accepted) notOpened() {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.opened && a.failure == nil {
		a.failure = errNotOpened
		a.wakeAll()
	}
}

// open waits for the peer's first frame.
func (l *Listener) open(a *Accepted, late *time.Timer) {
	defer late.Stop()
	a.mu.Lock()
	for a.failure == nil && !a.opened {
		a.changed.Wait()
	}
	opened := a.failure == nil && !a.accepted
	a.mu.Unlock()
	<-l.opening
	if !opened || !l.port.hold() {
		a.fail(errNotOpened)
		a.Conn.Close()
		return
	}
	a.released = l.port.drop
	if l.isClosed() || len(l.waiting) == cap(l.waiting) {
		a.refuse()
		return
	}
	a.startProbing()
	a.send(kindAccept, version<<16|l.settings.Window) // first, so that nothing is written before it
	select {
	case l.waiting <- a:
	default:
		a.Close()
	}
	if l.isClosed() {
		l.closeWaiting() // which Close may have done before
	}
}

func (l *Listener) isClosed() bool {
	select {
	case <-l.closed:
		return true
	default:
		return false
	}
}

func (a *Accepted) refuse() {
	a.send(kindRefuse, 0)
	a.once.Do(a.port.closing)
	a.close(closedWait)
}

// Accept waits for a connection that a peer has opened.
func (l *Listener) Accept() (net.Conn, error) {
	if l.isClosed() {
		return nil, l.errClosed()
	}
	select {
	case a := <-l.waiting:
		return a, nil
	case <-l.closed:
		return nil, l.errClosed()
	}
}

func (l *Listener) errClosed() error { return fmt.Errorf("accepting on %s: %w", l.addr, net.ErrClosed) }

// Addr is the address that others dial.
func (l *Listener) Addr() string { return l.addr }

// Close ends Accept and closes connections that wait for it. It waits up to a second for connections that were closed
// before, so that the address is free again. Connections that are open keep the port.
func (l *Listener) Close() error {
	l.once.Do(func() {
		close(l.closed)
		l.closeWaiting()
		l.port.closing()
		l.port.drop()
		l.port.await(releaseWait)
	})
	return nil
}

func (l *Listener) closeWaiting() {
	for {
		select {
		case a := <-l.waiting:
			a.Close()
		default:
			return
		}
	}
}
