package dubbo

import (
	"context"
	"errors"
	"net"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/transport"
)

const (
	dialLimit = 3 * time.Second
	// askAfter is the silence with calls in flight after which a provider is asked for a sign of life; after as much again calls prefer others.
	askAfter = 3 * time.Second
	// The time between tries to connect grows from the first to the second.
	firstPause = 200 * time.Millisecond
	lastPause  = 5 * time.Second
)

// provider is a provider of Dubbo that is called: a sabir.ForeignNode.
type provider struct {
	bridge  *bridge
	address string // host:port
	id      string
	since   time.Time
	methods map[string]*method // by the full names of actions
	offer   sabir.ForeignOffer

	link    atomic.Pointer[link] // nil while there is none
	offered sync.Mutex
	silent  bool // what was offered last
	known   bool // something was offered
}

func newProvider(b *bridge, e endpoint) (*provider, error) {
	at, err := parseAddress("dubbo.Reference", e.address)
	if err != nil {
		return nil, err
	}
	p := &provider{bridge: b, id: "dubbo://" + at.Host, since: time.Now(), methods: make(map[string]*method)}
	if p.address, err = transport.DialAddr(&url.URL{Scheme: "dubbo", Host: at.Host}, transport.Config{}); err != nil {
		return nil, err
	}
	services := make(map[string]bool)
	for _, m := range e.interfaces {
		if !services[m.service] {
			services[m.service] = true
			p.offer.Services = append(p.offer.Services, introspect.Service{Name: m.service, Description: m.name})
		}
		for _, one := range m.methods {
			if p.methods[one.action] != nil {
				return nil, errors.New("dubbo.Reference(\"" + e.address + "\"): two methods are the action " + one.action + ": give one another by dubbo.Action")
			}
			p.methods[one.action] = one
			p.offer.Actions = append(p.offer.Actions, introspect.Action{Name: one.action, Service: m.service, Visibility: introspect.ClusterOnly})
		}
	}
	p.offer.Node = introspect.Node{Framework: "dubbo", Host: at.Hostname(), Since: p.since}
	return p, nil
}

// Name implements sabir.ForeignNode.
func (p *provider) Name() string { return p.id }

// keep connects again whenever the connection has ended, until the bridge ends.
func (p *provider) keep() {
	pause := firstPause
	for {
		if l := p.link.Load(); l != nil {
			select {
			case <-l.ended:
			case <-p.bridge.ctx.Done():
				return
			}
			p.link.CompareAndSwap(l, nil)
			p.announce(true)
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-p.bridge.ctx.Done():
			return
		}
		pause = min(2*pause, lastPause)
		p.connect(p.bridge.ctx)
	}
}

// connect tries to connect once.
func (p *provider) connect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	var d net.Dialer
	c, err := d.DialContext(ctx, "tcp", p.address)
	if err != nil {
		p.bridge.drops.Note(p.bridge.node.Log(), "a Dubbo provider cannot be reached", "provider", p.id, "error", err)
		p.announce(true)
		return
	}
	l := newLink(p, newConnection(c, &p.bridge.bodies))
	p.link.Store(l)
	p.bridge.running.Go(l.read)
	p.announce(false)
}

// announce gives the node what the provider offers, and whether calls should prefer others.
func (p *provider) announce(silent bool) {
	p.offered.Lock()
	defer p.offered.Unlock()
	if p.known && p.silent == silent || p.bridge.ctx.Err() != nil {
		return
	}
	p.known, p.silent = true, silent
	offer := p.offer
	offer.Node.Silent = silent
	if err := p.bridge.node.SetForeign(p, offer); err != nil {
		p.bridge.node.Log().Warn("what a Dubbo provider offers is refused", "provider", p.id, "error", err)
	}
}

// look looks after the connection.
func (p *provider) look(now time.Time) {
	l := p.link.Load()
	if l == nil {
		return
	}
	silence := now.Sub(time.Unix(0, l.lastRead.Load()))
	if l.waits() && silence > askAfter {
		l.beat()
	}
	p.announce(l.closing.Load() || l.waits() && silence > 2*askAfter)
	l.look(now, p.bridge.heartbeat)
}

func (p *provider) close() {
	if l := p.link.Load(); l != nil {
		l.Close()
	}
}
