package storetest

import (
	"bytes"
	"net"
	"sync"
	"testing"
)

// line is a way to a broker that can be disturbed.
type line struct {
	listener net.Listener
	target   string
	running  sync.WaitGroup

	mu    sync.Mutex
	pairs map[*pair]bool
	fate  fate // of requests with the mark, and of all that comes after them on their connection
	mark  []byte
	seen  chan struct{} // closed when there was one
}

// fate is the treatment of requests by the line.
type fate int

const (
	pass    fate = iota
	swallow      // they arrive, and the answers do not
	hold         // they stay on the way until they are let go
)

// pair is one connection of a client, and the one to the broker that stands for it.
type pair struct {
	client, broker net.Conn
	fate           fate
	held           []byte
	answered       chan struct{} // closed when the broker sends something
}

func newLine(t *testing.T, target string) *line {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l := &line{listener: listener, target: target, pairs: make(map[*pair]bool)}
	l.running.Go(l.accept)
	t.Cleanup(func() {
		l.listener.Close()
		l.mu.Lock()
		for p := range l.pairs {
			p.client.Close()
			p.broker.Close()
		}
		l.mu.Unlock()
		l.running.Wait()
	})
	return l
}

func (l *line) addr() string { return l.listener.Addr().String() }

func (l *line) accept() {
	for {
		client, err := l.listener.Accept()
		if err != nil {
			return
		}
		broker, err := net.Dial("tcp4", l.target)
		if err != nil {
			client.Close()
			continue
		}
		p := &pair{client: client, broker: broker}
		l.mu.Lock()
		l.pairs[p] = true
		l.mu.Unlock()
		l.running.Go(func() { l.requests(p) })
		l.running.Go(func() { l.answers(p) })
	}
}

func (l *line) requests(p *pair) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := p.client.Read(buffer)
		if l.holds(p, buffer[:n]) {
			if err != nil {
				return // the broker is not to know that the client has gone
			}
			continue
		}
		if n > 0 {
			p.broker.Write(buffer[:n])
		}
		if err != nil {
			p.broker.Close()
			return
		}
	}
}

// holds reports whether what was read stays on the way.
func (l *line) holds(p *pair, data []byte) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.fate != pass && bytes.Contains(data, l.mark) {
		p.fate = l.fate
		if l.seen != nil {
			close(l.seen)
			l.seen = nil
		}
	}
	if p.fate == hold {
		p.held = append(p.held, data...)
	}
	return p.fate == hold
}

func (l *line) answers(p *pair) {
	buffer := make([]byte, 64<<10)
	for {
		n, err := p.broker.Read(buffer)
		if err != nil {
			p.client.Close()
			return
		}
		l.mu.Lock()
		deaf := p.fate == swallow
		if p.answered != nil {
			close(p.answered)
			p.answered = nil
		}
		l.mu.Unlock()
		if !deaf {
			p.client.Write(buffer[:n])
		}
	}
}

// disturb gives a fate to requests with the mark, and to what comes after them, until cut. The channel is closed when
// there was one.
func (l *line) disturb(fate fate, mark string) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	seen := make(chan struct{})
	l.fate, l.mark, l.seen = fate, []byte(mark), seen
	return seen
}

// cut ends the clients' connections; new ones are as they should be. What was held is kept.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate = pass
	for p := range l.pairs {
		p.client.Close()
	}
}

// letGo sends the requests that were held, each on its own connection, and returns when the broker has answered.
func (l *line) letGo(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	var waiting []chan struct{}
	for p := range l.pairs {
		if !bytes.Contains(p.held, l.mark) || len(p.held) == 0 {
			continue
		}
		answered := make(chan struct{})
		p.answered = answered
		waiting = append(waiting, answered)
		p.broker.Write(p.held)
		p.held = nil
	}
	l.mu.Unlock()
	if len(waiting) == 0 {
		t.Fatal("nothing was held")
	}
	for _, answered := range waiting {
		select {
		case <-answered:
		case <-t.Context().Done():
			t.Fatal("the broker did not answer what was held")
		}
	}
}
