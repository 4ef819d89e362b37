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
	fate  fate          // of what is sent from now on
	mark  []byte        // what to look for among what is held
	seen  chan struct{} // closed when it was held
}

// fate is what becomes of bytes.
type fate int

const (
	pass    fate = iota
	swallow      // requests arrive, answers do not
	hold         // requests stay on the way until they are let go
)

// pair is one connection of a client, and the one to the broker that stands for it.
type pair struct {
	client, broker net.Conn
	held           []byte
	holding        bool // for this connection, until it is let go
	orphan         bool // the client's is cut
	answered       chan struct{}
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
		l.mu.Lock()
		if l.fate == hold {
			p.holding = true
		}
		if p.holding {
			p.held = append(p.held, buffer[:n]...)
			if l.seen != nil && bytes.Contains(p.held, l.mark) {
				close(l.seen)
				l.seen = nil
			}
		}
		holding := p.holding
		l.mu.Unlock()
		if !holding && n > 0 {
			p.broker.Write(buffer[:n])
		}
		if err != nil {
			if !holding {
				p.broker.Close()
			}
			return
		}
	}
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
		dropped := l.fate == swallow || p.orphan
		if p.answered != nil {
			close(p.answered)
			p.answered = nil
		}
		l.mu.Unlock()
		if !dropped {
			p.client.Write(buffer[:n])
		}
	}
}

// swallow loses answers, until cut.
func (l *line) swallow() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate = swallow
}

// hold keeps requests on the way, until cut. The channel is closed when one with the mark is among them.
func (l *line) hold(mark []byte) <-chan struct{} {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate, l.mark, l.seen = hold, mark, make(chan struct{})
	return l.seen
}

// cut ends the clients' connections; new ones are as they should be. What was held is kept.
func (l *line) cut() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.fate = pass
	for p := range l.pairs {
		p.orphan = true
		p.client.Close()
	}
}

// letGo sends what was held on its way, on the connections where it was, and returns when the broker has answered.
func (l *line) letGo(t *testing.T) {
	t.Helper()
	l.mu.Lock()
	var waiting []chan struct{}
	for p := range l.pairs {
		if len(p.held) == 0 || !bytes.Contains(p.held, l.mark) {
			continue
		}
		p.answered = make(chan struct{})
		waiting = append(waiting, p.answered)
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
