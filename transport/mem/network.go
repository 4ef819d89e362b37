package mem

import (
	"context"
	"fmt"
	"net"
	"net/url"
	"os"
	"strconv"
	"sync"
	"syscall"

	"github.com/sabir-go/sabir/transport"
)

// Network is a set of names that can listen, and the paths between them. It is a [transport.Stream]; use [New] for one
// that shares no names with other tests. All methods may be called from any number of goroutines at once.
//
// The two ends of a path are the name in the listener's address and the Config.Name of the dialler. So that a fault
// between two nodes holds whichever of them dialled, give each node the same Config.Name as it listens under.
type Network struct {
	mu        sync.Mutex
	listeners map[addr]*listener
	pairs     map[*pair]struct{}
	faults    map[path]*fault
	lastName  int
}

// path is two names, in order.
type path struct{ a, b addr }

func pathOf(a, b addr) path { return path{min(a, b), max(a, b)} }

// pair is a connection between two names, as the network knows it.
type pair struct {
	path  path
	flows [2]*flow
}

// fault is the disturbance of a path: it is cut or stalled.
type fault struct {
	cut    bool // or stalled
	healed chan struct{}
}

// New makes a network where nothing listens.
func New() *Network {
	return &Network{listeners: map[addr]*listener{}, pairs: map[*pair]struct{}{}, faults: map[path]*fault{}}
}

// Listen takes a name: mem://name, or mem:// for any free one. Nothing here leaves the process, so it needs no key, and
// TLS in config is ignored. config.WriteBuffer is the number of bytes written by this side that may be under way; 0 is 64 KiB.
func (n *Network) Listen(_ context.Context, at *url.URL, config transport.Config) (transport.Listener, error) {
	name, err := nameIn(at)
	if err != nil {
		return nil, err
	}
	n.mu.Lock()
	defer n.mu.Unlock()
	if name == "" {
		name = n.freeName()
	}
	if _, taken := n.listeners[name]; taken {
		return nil, &net.OpError{Op: "listen", Net: "mem", Addr: name, Err: os.NewSyscallError("bind", syscall.EADDRINUSE)}
	}
	l := &listener{at: name, limit: limitOf(config), incoming: make(chan *conn, backlog), closed: make(chan struct{})}
	l.forget = func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.listeners, name)
	}
	n.listeners[name] = l
	return l, nil
}

func (n *Network) freeName() addr {
	for {
		n.lastName++
		name := addr("free-" + strconv.Itoa(n.lastName))
		if _, taken := n.listeners[name]; !taken {
			return name
		}
	}
}

// Dial connects to a name. config.Name is this side's; see [Network].
func (n *Network) Dial(ctx context.Context, to *url.URL, config transport.Config) (net.Conn, error) {
	name, err := nameIn(to)
	if err == nil && name == "" {
		err = fmt.Errorf("the address %q has no name to dial: want mem://name", to)
	}
	if err != nil {
		return nil, err
	}
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	c, err := n.dial(ctx, addr(config.Name), name, limitOf(config))
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: "mem", Source: addr(config.Name), Addr: name, Err: err}
	}
	return c, nil
}

func (n *Network) dial(ctx context.Context, from, to addr, limit int) (*conn, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		l, c, accepted, stalled, err := n.connect(from, to, limit)
		switch {
		case err != nil:
			return nil, err
		case stalled != nil:
			// As with lost packets, the dialer tries until its time is up.
			select {
			case <-stalled.healed:
			case <-ctx.Done():
			}
			continue
		}
		select {
		case l.incoming <- accepted:
			select {
			case <-l.closed: // perhaps after Close had refused what was waiting
				l.refuse()
			default:
			}
			return c, nil
		case <-l.closed:
			err = os.NewSyscallError("connect", syscall.ECONNREFUSED)
		case <-ctx.Done():
			err = ctx.Err()
		}
		c.Close()
		accepted.Close()
		return nil, err
	}
}

// connect makes a connection where the path allows it, and puts it on the list of those that faults reach in one step.
func (n *Network) connect(from, to addr, limit int) (l *listener, dialled, accepted *conn, stalled *fault, err error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	p := &pair{path: pathOf(from, to)}
	if f := n.faults[p.path]; f != nil && f.cut {
		return nil, nil, nil, nil, os.NewSyscallError("connect", syscall.EHOSTUNREACH)
	} else if f != nil {
		return nil, nil, nil, f, nil
	}
	l = n.listeners[to]
	if l == nil {
		return nil, nil, nil, nil, os.NewSyscallError("connect", syscall.ECONNREFUSED)
	}
	dialled, accepted, p.flows = connect(from, to, limit, l.limit, func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.pairs, p)
	})
	n.pairs[p] = struct{}{}
	return l, dialled, accepted, nil, nil
}

// Cut breaks all connections between two names, whose reads and writes then fail with ECONNRESET on both sides, and
// refuses new ones with EHOSTUNREACH until [Network.Heal]. What was under way is lost.
func (n *Network) Cut(a, b string) {
	n.setFault(pathOf(addr(a), addr(b)), &fault{cut: true, healed: make(chan struct{})})
}

// Stall lets nothing through between two names until [Network.Heal], without an error: reads wait, writes wait once the
// buffer is full, a Close is not noticed by the peer, and Dial waits. A partition that drops packets looks like this, and so
// does a peer whose process is stopped. Nothing is lost.
func (n *Network) Stall(a, b string) {
	n.setFault(pathOf(addr(a), addr(b)), &fault{healed: make(chan struct{})})
}

// Heal ends Cut and Stall between two names. Stalled connections go on; cut ones stay broken.
func (n *Network) Heal(a, b string) { n.setFault(pathOf(addr(a), addr(b)), nil) }

func (n *Network) setFault(on path, set *fault) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if was := n.faults[on]; was != nil {
		close(was.healed)
	}
	if set == nil {
		delete(n.faults, on)
	} else {
		n.faults[on] = set
	}
	for p := range n.pairs {
		if p.path != on {
			continue
		}
		for _, f := range p.flows {
			if set != nil && set.cut {
				f.reset()
			} else {
				f.stall(set != nil)
			}
		}
	}
}

func nameIn(u *url.URL) (addr, error) {
	if u.Opaque != "" || u.User != nil || u.Path != "" || u.RawQuery != "" || u.Fragment != "" {
		return "", fmt.Errorf("the address %q is not mem://name", u.Redacted())
	}
	return addr(u.Host), nil
}

func limitOf(config transport.Config) int {
	if config.WriteBuffer > 0 {
		return config.WriteBuffer
	}
	return defaultLimit
}
