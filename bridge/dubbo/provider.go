package dubbo

import (
	"context"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
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
	// leaveLimit bounds the time for which the connection to a provider that a registry has no more is kept for the calls in flight.
	leaveLimit = time.Minute
)

// provider is a provider of Dubbo that is called: a sabir.ForeignNode.
type provider struct {
	bridge  *bridge
	address string // host:port
	host    string
	id      string
	since   time.Time
	triple  bool // called by tri://
	catalog atomic.Pointer[catalog]

	ctx    context.Context // ends with the provider
	cancel context.CancelFunc
	tried  chan struct{} // closed once it was tried to connect
	left   atomic.Int64  // when the registry had it no more, in Unix ns; 0 while it is there

	session   atomic.Pointer[session] // nil while there is none
	offered   sync.Mutex
	silent    bool     // what was offered last
	announced *catalog // the same; nil for nothing

	offerings []offering // of the last set
}

// session is a connection to a provider, in one of the protocols.
type session interface {
	// call makes a call.
	call(ctx context.Context, to calledMethod, r *sabir.Request) error
	open(ctx context.Context, to calledMethod) (sabir.ForeignStream, error)
	// stops reports whether the provider takes no more calls.
	stops() bool
	// waits reports whether calls are in flight.
	waits() bool
	// silence is the time since something came, where the provider was asked for it meanwhile.
	silence(now time.Time) time.Duration
	// beat asks for a sign of life.
	beat()
	// look sends heartbeats, and closes a connection that is silent for too long.
	look(now time.Time, heartbeat time.Duration)
	over() <-chan struct{}
	Close() error
}

// catalog holds the interfaces and methods that a provider offers. It does not change.
type catalog struct {
	methods    map[string]calledMethod // by the full names of actions
	offer      sabir.ForeignOffer
	interfaces []*mapping
	spare      bool // calls prefer other providers: its weight is 0
}

// calledMethod is a method at a provider, with what the provider asks of its calls.
type calledMethod struct {
	*method
	limit time.Duration // 0 for none
	token string        // which calls must bring; "" for none
}

// offering is an interface that a provider has, with the parameters by which a registry names it.
type offering struct {
	mapping *mapping
	params  map[string]string
}

// newReference makes the provider at an address of Config.References.
func newReference(b *bridge, e endpoint) (*provider, error) {
	at, err := parseAddress("dubbo.Config: References", e.address)
	if err != nil {
		return nil, err
	}
	address, err := transport.Config{}.DialAddr(&url.URL{Scheme: "dubbo", Host: at.Host})
	if err != nil {
		return nil, err
	}
	var all []offering
	for _, m := range e.interfaces {
		all = append(all, offering{mapping: m})
	}
	if err := checkActions(fmt.Sprintf("dubbo.Config: References %q", e.address), e.interfaces); err != nil {
		return nil, err
	}
	for _, o := range all {
		for _, one := range o.mapping.methods {
			if !one.carriedBy(at.Scheme == schemeTriple) {
				return nil, fmt.Errorf("dubbo.Config: References %q: the method %s is a stream: tri:// carries those without a Callback, and dubbo:// those with one", e.address, one.name)
			}
		}
	}
	return newProvider(b, at.Scheme, address, at.Host, at.Hostname(), all), nil
}

// newProvider makes a provider; name is its address as people have it.
func newProvider(b *bridge, scheme, address, name, host string, all []offering) *provider {
	p := &provider{bridge: b, address: address, host: host, id: scheme + "://" + name, triple: scheme == schemeTriple, since: time.Now(), tried: make(chan struct{})}
	p.ctx, p.cancel = context.WithCancel(b.ctx)
	p.set(all)
	return p
}

// checkActions finds two methods that would be one action.
func checkActions(option string, interfaces []*mapping) error {
	seen := make(map[string]bool)
	for _, m := range interfaces {
		for _, one := range m.methods {
			if seen[one.action] {
				return fmt.Errorf("%s: two methods are the action %s: give one another Action", option, one.action)
			}
			seen[one.action] = true
		}
	}
	return nil
}

// set sets what the provider offers, which announce makes known. One goroutine calls it at a time.
func (p *provider) set(all []offering) {
	c := &catalog{methods: make(map[string]calledMethod)}
	c.offer.Node = introspect.Node{Framework: "dubbo", Host: p.host, Since: p.since}
	services := make(map[string]bool)
	for _, o := range all {
		m := o.mapping
		c.interfaces = append(c.interfaces, m)
		if !services[m.service] {
			services[m.service] = true
			c.offer.Services = append(c.offer.Services, introspect.Service{Name: m.service, Description: m.name})
		}
		for _, one := range m.methods {
			if !one.carriedBy(p.triple) {
				continue // only other providers offer it
			}
			c.methods[one.action] = calledMethod{one, namedTimeout(o.params, one.name), o.params[paramToken]}
			c.offer.Actions = append(c.offer.Actions, introspect.Action{Name: one.action, Service: m.service, Visibility: "cluster", Stream: one.stream, Shape: one.shape})
		}
		c.spare = c.spare || weightless(o.params)
		if o.params != nil {
			c.offer.Node.Labels = labels(o.params)
			if release := c.offer.Node.Labels["release"]; release != "" {
				c.offer.Node.Framework = "dubbo " + release
			}
		}
	}
	p.offerings = all
	p.catalog.Store(c)
}

// interfaces are those that the provider offers.
func (p *provider) interfaces() []*mapping { return p.catalog.Load().interfaces }

// Name implements sabir.ForeignNode.
func (p *provider) Name() string { return p.id }

// keep connects, and again whenever the connection has ended, until the provider ends.
func (p *provider) keep() {
	p.connect(p.ctx)
	close(p.tried)
	pause := firstPause
	for {
		if at := p.session.Load(); at != nil {
			select {
			case <-(*at).over():
			case <-p.ctx.Done():
				return
			}
			p.session.CompareAndSwap(at, nil)
			p.announce(true)
			pause = firstPause
		}
		select {
		case <-time.After(pause):
		case <-p.ctx.Done():
			return
		}
		pause = min(2*pause, lastPause)
		p.connect(p.ctx)
	}
}

// connect tries to connect once.
func (p *provider) connect(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	s, err := p.dial(ctx)
	if err != nil {
		if p.ctx.Err() == nil {
			p.bridge.drops.Note(p.bridge.node.Log(), "a Dubbo provider cannot be reached", "provider", p.id, "error", err)
		}
		p.announce(true)
		return
	}
	p.session.Store(&s)
	if p.ctx.Err() != nil { // close may have been before it was stored
		s.Close()
	}
	p.announce(false)
}

func (p *provider) dial(ctx context.Context) (session, error) {
	if p.triple {
		return dialTriple(ctx, p)
	}
	c, err := p.bridge.dial(ctx, p.address)
	if err != nil {
		return nil, err
	}
	l := newLink(p, newConnection(c, &p.bridge.bodies))
	p.bridge.running.Go(l.read)
	return l, nil
}

// announce gives the node what the provider offers, and whether calls should prefer others.
func (p *provider) announce(silent bool) {
	p.offered.Lock()
	defer p.offered.Unlock()
	c := p.catalog.Load()
	silent = silent || c.spare
	if p.announced == c && p.silent == silent || p.ctx.Err() != nil || p.left.Load() != 0 {
		return
	}
	p.announced, p.silent = c, silent
	offer := c.offer
	offer.Node.Silent = silent
	if err := p.bridge.node.SetForeign(p, offer); err != nil {
		p.bridge.node.Log().Warn("what a Dubbo provider offers is refused", "provider", p.id, "error", err)
	}
}

// isSilent reports whether calls should prefer other providers.
func (p *provider) isSilent(now time.Time) bool {
	at := p.session.Load()
	return at == nil || (*at).stops() || (*at).waits() && (*at).silence(now) > 2*askAfter
}

// look looks after the connection. It is false for a provider that has left and has no more calls.
func (p *provider) look(now time.Time) bool {
	at := p.session.Load()
	if left := p.left.Load(); left != 0 && (at == nil || !(*at).waits() || now.UnixNano()-left > int64(leaveLimit)) {
		p.close()
		return false
	}
	if at == nil {
		return true
	}
	s := *at
	if s.waits() && s.silence(now) > askAfter {
		s.beat()
	}
	p.announce(p.isSilent(now))
	s.look(now, p.bridge.heartbeat)
	return true
}

// leave takes the provider from the node: no more calls are made, and those in flight go on.
func (p *provider) leave() {
	p.offered.Lock()
	p.left.Store(time.Now().UnixNano())
	p.offered.Unlock()
	p.bridge.node.DropForeign(p)
}

func (p *provider) close() {
	p.cancel()
	if at := p.session.Load(); at != nil {
		(*at).Close()
	}
}

// find is the method that is an action, and the connection over which it is called.
func (p *provider) find(action string) (to calledMethod, s session, err error) {
	to, known := p.catalog.Load().methods[action]
	if !known {
		return to, nil, sabir.NewError(sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name, action+" is no method of the Dubbo provider "+p.id).AsRetryable()
	}
	at := p.session.Load()
	if at == nil || (*at).stops() {
		return to, nil, p.unreachable(action)
	}
	return to, *at, nil
}

// Send implements sabir.ForeignNode: it makes a call.
func (p *provider) Send(ctx context.Context, r *sabir.Request) error {
	to, s, err := p.find(r.Action().Name)
	switch {
	case err != nil:
		return err
	case to.stream:
		return sabir.NewError(sabir.CodeInvalidArgument, errname.StreamWanted, to.action+" is a stream: use OpenStream or CallStream")
	case ctx.Err() != nil:
		return sabir.AsError(ctx.Err())
	}
	if _, limited := ctx.Deadline(); !limited && to.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, to.limit)
		defer cancel()
	}
	return s.call(ctx, to, r)
}

// Emit implements sabir.ForeignNode. Dubbo has no events, and its providers offer no handlers of any.
func (p *provider) Emit(context.Context, string, *sabir.Request) error { return nil }

// Open implements sabir.ForeignNode.
func (p *provider) Open(ctx context.Context, action *sabir.Action) (sabir.ForeignStream, error) {
	to, s, err := p.find(action.Name)
	if err != nil {
		return nil, err
	}
	if !to.stream && p.triple {
		return nil, sabir.NewError(sabir.CodeInvalidArgument, errname.NoStream, to.action+" is no stream: set ServerStream or Stream of its dubbo.Method if it is one")
	}
	return s.open(ctx, to)
}
