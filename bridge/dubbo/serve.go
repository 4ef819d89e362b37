package dubbo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"sync"
	"time"
)

// maxConsumers bounds the connections of consumers.
const maxConsumers = 4096

// serves holds the ports, and the connections that came in.
type serves struct {
	mu          sync.Mutex
	ports       []*port
	connections map[net.Conn]*connection // of the protocol dubbo; nil for others
	stopped     bool
}

// listen lets calls in. The protocols that are served at one address share its port: the first bytes of a connection say which it is.
func (b *bridge) listen(ctx context.Context) error {
	ports := make(map[netip.AddrPort]*port)
	for _, e := range b.serve {
		if err := b.addPort(ctx, ports, e); err != nil {
			return errors.Join(err, b.withdraw(ctx))
		}
	}
	b.open.Store(true)
	b.acceptAll()
	return b.register()
}

// acceptAll takes connections at all ports.
func (b *bridge) acceptAll() {
	b.serves.mu.Lock()
	defer b.serves.mu.Unlock()
	for _, p := range b.serves.ports {
		if p.triple != nil {
			b.running.Go(p.triple.run)
		}
		b.running.Go(func() { b.accept(p) })
	}
}

func (s *serves) add(c net.Conn) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return errors.New("the node is stopping")
	case len(s.connections) >= maxConsumers:
		return fmt.Errorf("%d connections are open, which is all there may be", maxConsumers)
	case s.connections == nil:
		s.connections = make(map[net.Conn]*connection)
	}
	s.connections[c] = nil
	return nil
}

// know remembers that a connection is one of the protocol dubbo.
func (s *serves) know(c net.Conn, as *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.connections[c] = as
}

func (s *serves) remove(c net.Conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c)
}

// list returns the connections of the protocol dubbo.
func (s *serves) list() (list []*connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, c := range s.connections {
		if c != nil {
			list = append(list, c)
		}
	}
	return list
}

// servers returns those of Triple.
func (s *serves) servers() (list []*tripleServer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, p := range s.ports {
		if p.triple != nil {
			list = append(list, p.triple)
		}
	}
	return list
}

// stop ends listening.
func (s *serves) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, p := range s.ports {
		p.listener.Close()
	}
}

func (s *serves) closeAll() {
	s.stop()
	for _, t := range s.servers() {
		t.close()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		c.Close()
	}
}

// withdraw takes the node from the registries, says to consumers that it takes no more calls, and waits for those that run. Calls that are on their way
// meanwhile are taken.
func (b *bridge) withdraw(ctx context.Context) error {
	b.leaveRegistries()
	b.serves.stop()
	consumers := b.serves.list()
	for _, c := range consumers {
		c.announceStop()
	}
	if len(consumers) > 0 && b.open.Load() {
		select {
		case <-time.After(leaveGap):
		case <-ctx.Done():
		}
	}
	b.open.Store(false)
	for _, c := range consumers {
		c.endStreams()
	}
	var stopping sync.WaitGroup
	for _, t := range b.serves.servers() {
		stopping.Go(func() { t.stop(ctx) })
	}
	err := b.serving.Wait(ctx)
	stopping.Wait()
	if err == nil {
		for _, c := range b.serves.list() {
			c.flush() // an answer may wait behind those of others
		}
	}
	return err
}
