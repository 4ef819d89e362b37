package session

import (
	"sync"
	"time"
)

// Port is a socket that is closed when its listener and all connections over it are done.
type Port struct {
	close    func()
	released chan struct{}

	mu    sync.Mutex
	users int // a listener, and connections whose carrier is in use
	open  int // of users, those that their owner has not closed
}

// NewPort makes the port of a listener, which is its first user. shut closes the socket.
func NewPort(shut func()) *Port {
	return &Port{close: shut, released: make(chan struct{}), users: 1, open: 1}
}

// hold is false where the socket is closed already.
func (p *Port) hold() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.users == 0 {
		return false
	}
	p.users++
	p.open++
	return true
}

func (p *Port) closing() {
	p.mu.Lock()
	p.open--
	p.mu.Unlock()
}

func (p *Port) drop() {
	p.mu.Lock()
	p.users--
	last := p.users == 0
	p.mu.Unlock()
	if last {
		p.close()
		close(p.released)
	}
}

// await waits for the socket to close, where only connections that are closed already keep it.
func (p *Port) await(limit time.Duration) {
	p.mu.Lock()
	needed := p.open > 0
	p.mu.Unlock()
	if needed {
		return
	}
	select {
	case <-p.released:
	case <-time.After(limit):
	}
}
