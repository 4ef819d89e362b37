package brokers

import (
	"io"
	"net"
	"sync"
	"testing"
)

// Forwarder is an address that leads to a broker, and can be made to lead to another: what a virtual address, a name in DNS or a
// proxy does when a replica takes over. All methods may be called from any number of goroutines at once.
type Forwarder struct {
	listener net.Listener
	running  sync.WaitGroup

	mu     sync.Mutex
	target string
	conns  map[net.Conn]bool // those that are true carry nothing any more
	closed bool
}

// NewForwarder makes a forwarder that ends with the test.
func NewForwarder(t testing.TB, target string) *Forwarder {
	t.Helper()
	listener, err := net.Listen("tcp4", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	f := &Forwarder{listener: listener, target: target, conns: make(map[net.Conn]bool)}
	f.running.Go(f.accept)
	t.Cleanup(func() {
		f.mu.Lock()
		f.closed = true
		f.mu.Unlock()
		listener.Close()
		f.Cut()
		f.running.Wait()
	})
	return f
}

// Addr is the address at which the forwarder listens.
func (f *Forwarder) Addr() string { return f.listener.Addr().String() }

// Point has connections made from now on lead to another address. Those that are there stay: see Cut.
func (f *Forwarder) Point(target string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.target = target
}

// Cut ends all connections.
func (f *Forwarder) Cut() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		conn.Close()
	}
}

// Silence keeps the connections that are there open, and has them carry nothing any more, as behind a firewall that has forgotten them.
func (f *Forwarder) Silence() {
	f.mu.Lock()
	defer f.mu.Unlock()
	for conn := range f.conns {
		f.conns[conn] = true
	}
}

func (f *Forwarder) accept() {
	for {
		client, err := f.listener.Accept()
		if err != nil {
			return
		}
		f.mu.Lock()
		target := f.target
		f.mu.Unlock()
		broker, err := net.Dial("tcp4", target)
		if err != nil {
			client.Close()
			continue
		}
		if !f.keep(client, broker) {
			return
		}
		f.running.Go(func() { f.copy(client, broker) })
		f.running.Go(func() { f.copy(broker, client) })
	}
}

func (f *Forwarder) keep(conns ...net.Conn) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	for _, conn := range conns {
		if f.closed {
			conn.Close()
		} else {
			f.conns[conn] = false
		}
	}
	return !f.closed
}

// copy passes on what from sends until either has ended, and then ends both.
func (f *Forwarder) copy(to, from net.Conn) {
	_, _ = io.Copy(way{f, to}, from)
	to.Close()
	from.Close()
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.conns, from)
}

// way writes to one of the forwarder's connections what it still carries.
type way struct {
	*Forwarder
	to net.Conn
}

func (w way) Write(p []byte) (int, error) {
	w.mu.Lock()
	silent := w.conns[w.to]
	w.mu.Unlock()
	if silent {
		return len(p), nil
	}
	return w.to.Write(p)
}
