package hsf

import (
	"context"
	"fmt"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// traffic is the number of bytes that a call takes on its connection, in each direction.
type traffic struct{ sent, received float64 }

// countedFor is the time for which calls are made to count their bytes.
const countedFor = 100 * time.Millisecond

// countBytes has a client of its own make calls through a proxy, over one connection: those that Sabir dials later would go to the
// address that the server names. What connections begin with is not counted.
func countBytes(ctx context.Context, program *bench.Program, order child.Order) (traffic, error) {
	proxy, err := startProxy(order.Address)
	if err != nil {
		return traffic{}, err
	}
	defer proxy.close()
	order.Size = 1
	_, port, err := net.SplitHostPort(proxy.listener.Addr().String())
	if err != nil {
		return traffic{}, err
	}
	order.Address = net.JoinHostPort("127.0.0.1", port)
	client, err := bench.StartChild(ctx, program, order, bench.Unpinned)
	if err != nil {
		return traffic{}, fmt.Errorf("counting bytes: %w", err)
	}
	defer client.Stop()
	sent, received := proxy.sent.Load(), proxy.received.Load()
	s, err := client.Measure(ctx, countedFor)
	if err != nil {
		return traffic{}, fmt.Errorf("counting bytes: %w", err)
	}
	if s.Wrong > 0 || s.Operations == 0 {
		return traffic{}, fmt.Errorf("counting bytes: %d calls right, %d wrong: %s", s.Operations, s.Wrong, s.Problem)
	}
	calls := float64(s.Operations)
	counted := traffic{float64(proxy.sent.Load()-sent) / calls, float64(proxy.received.Load()-received) / calls}
	if counted.sent == 0 || counted.received == 0 {
		return traffic{}, fmt.Errorf("counting bytes: %d calls went another way", s.Operations)
	}
	return counted, nil
}

// proxy leads connections to an address, and counts.
type proxy struct {
	listener       net.Listener
	to             string
	sent, received atomic.Int64

	lock    sync.Mutex
	closed  bool
	conns   []net.Conn
	running sync.WaitGroup
}

func startProxy(to string) (*proxy, error) {
	listener, err := net.Listen("tcp", ":0") // Dubbo for Java dials the machine's own address for 127.0.0.1
	if err != nil {
		return nil, err
	}
	p := &proxy{listener: listener, to: to}
	p.running.Go(p.accept)
	return p, nil
}

func (p *proxy) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		if !p.keep(conn) {
			return
		}
		other, err := net.Dial("tcp", p.to)
		if err != nil {
			conn.Close()
			continue
		}
		if !p.keep(other) {
			return
		}
		p.running.Go(func() { pump(other, conn, &p.sent) })
		p.running.Go(func() { pump(conn, other, &p.received) })
	}
}

// keep remembers a connection for the end, unless that was before.
func (p *proxy) keep(conn net.Conn) bool {
	p.lock.Lock()
	defer p.lock.Unlock()
	if p.closed {
		conn.Close()
		return false
	}
	p.conns = append(p.conns, conn)
	return true
}

func pump(to, from net.Conn, count *atomic.Int64) {
	defer to.Close()
	defer from.Close()
	buffer := make([]byte, 64<<10)
	for {
		n, err := from.Read(buffer)
		count.Add(int64(n))
		if n > 0 {
			if _, err := to.Write(buffer[:n]); err != nil {
				return
			}
		}
		if err != nil {
			return
		}
	}
}

// close ends all connections and waits until nothing runs.
func (p *proxy) close() {
	p.lock.Lock()
	p.closed = true
	p.listener.Close()
	for _, c := range p.conns {
		c.Close()
	}
	p.lock.Unlock()
	p.running.Wait()
}
