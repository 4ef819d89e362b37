package dubbo

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// maxConsumers bounds the connections of consumers.
const maxConsumers = 4096

// acceptPause is the time before the next try where a connection cannot be accepted.
const acceptPause = 50 * time.Millisecond

// serves holds the listeners, and the connections that came in.
type serves struct {
	mu          sync.Mutex
	listeners   []net.Listener
	connections map[*connection]struct{}
	stopped     bool
}

// listen lets calls in.
func (b *bridge) listen(ctx context.Context) error {
	for _, e := range b.serve {
		table, err := b.tableOf(e)
		if err != nil {
			return err
		}
		at, err := parseAddress("dubbo.Serve", e.address)
		if err != nil {
			return err
		}
		l, err := b.bind(ctx, at)
		if err != nil {
			return errors.Join(err, b.withdraw(ctx))
		}
		b.serves.mu.Lock()
		b.serves.listeners = append(b.serves.listeners, l)
		b.serves.mu.Unlock()
		b.running.Go(func() { b.accept(l, table) })
	}
	b.open.Store(true)
	return nil
}

// bind listens. An address that other machines can reach needs the option Open.
func (b *bridge) bind(ctx context.Context, at *url.URL) (net.Listener, error) {
	// Keyed leaves the check to this function, whose error names what can be done.
	bound, err := transport.ListenAddr(ctx, at, transport.Config{Keyed: true})
	if err != nil {
		return nil, err
	}
	if !bound.Addr().IsLoopback() && !b.config.open {
		return nil, fmt.Errorf("refusing to listen on %s (%s), where other machines could call without proof: add dubbo.Open() where the network restricts "+
			"who reaches it, or leave out the host (\"dubbo://:%d\") to be reached from this machine only", at, bound, bound.Port())
	}
	var config net.ListenConfig
	return config.Listen(ctx, "tcp", bound.String())
}

// table is the interfaces of one address.
type table map[key]*Mapping

func (b *bridge) tableOf(e endpoint) (table, error) {
	t := make(table, len(e.interfaces))
	for _, m := range e.interfaces {
		if t[m.key()] != nil {
			return nil, fmt.Errorf("dubbo.Serve(%q): the interface %s is there twice with the version %q and the group %q", e.address, m.name, m.version, m.group)
		}
		t[m.key()] = m
	}
	return t, nil
}

func (b *bridge) accept(l net.Listener, t table) {
	for {
		c, err := l.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: connections that end make place
			b.drops.Note(b.node.Log(), "a connection of a Dubbo consumer was not accepted", "address", l.Addr(), "error", err)
			select {
			case <-b.ctx.Done():
				return
			case <-time.After(acceptPause):
			}
			continue
		}
		one := newConnection(c, &b.bodies)
		if err := b.serves.add(one); err != nil {
			b.drops.Note(b.node.Log(), "a connection of a Dubbo consumer was refused", "from", c.RemoteAddr(), "error", err)
			c.Close()
			continue
		}
		b.running.Go(func() { b.consume(one, t) })
	}
}

func (s *serves) add(c *connection) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case s.stopped:
		return errors.New("the node is stopping")
	case len(s.connections) >= maxConsumers:
		return fmt.Errorf("%d connections are open, which is all there may be", maxConsumers)
	case s.connections == nil:
		s.connections = make(map[*connection]struct{})
	}
	s.connections[c] = struct{}{}
	return nil
}

func (s *serves) remove(c *connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.connections, c)
}

func (s *serves) list() (list []*connection) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for c := range s.connections {
		list = append(list, c)
	}
	return list
}

// stop ends listening.
func (s *serves) stop() {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.stopped = true
	for _, l := range s.listeners {
		l.Close()
	}
}

func (s *serves) closeAll() {
	s.stop()
	for _, c := range s.list() {
		c.Close()
	}
}

// withdraw takes no more calls, says so to consumers, and waits for those that run.
func (b *bridge) withdraw(ctx context.Context) error {
	b.open.Store(false)
	b.serves.stop()
	for _, c := range b.serves.list() {
		c.announceStop()
	}
	err := b.serving.Wait(ctx)
	if err == nil {
		for _, c := range b.serves.list() {
			c.flush() // an answer may wait behind those of others
		}
	}
	return err
}
