package web

import (
	"errors"
	"log/slog"
	"net/netip"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/web/exchange"
)

// ClientLimits bounds what each client address holds open at once, so that one cannot take all of a server: see PerClient of [Config]. A
// bound of 0 is none. A client is an IPv4 address, or an IPv6 network of 64 bits, which is the least that a customer of a provider has. It is
// the connection's other end, or what the proxies of TrustProxies say. By default there is no such bound: an address is not always a client,
// since providers and offices have many people behind one, and a proxy that is not named has all of them.
//
// A request beyond the bound is answered with 429, the name RateLimited and Retry-After, before its body is read and its caller is
// authenticated; where it was for an action, "rate.limited" is sent. A connection beyond it gets 429 in plain text, over TLS
// it is closed. The log counts both once a minute at the most. Under [Handler], connections are not bounded.
//
// Only what is open takes memory. Of more than 100,000 addresses at once those that came last count as one.
type ClientLimits struct {
	Connections int   // open ones. Connections of trusted proxies do not count.
	Requests    int   // that are being answered, streams, WebSockets and event listeners among them
	BodyBytes   int64 // of the bodies of these requests, as announced; one without a length counts with the body limit, a stream with nothing
}

func (l ClientLimits) check() error {
	if l.Connections < 0 || l.Requests < 0 || l.BodyBytes < 0 {
		return errors.New("want bounds above 0, or 0 for none")
	}
	return nil
}

// maxClients bounds the addresses that are counted by themselves.
const maxClients = 100_000

// clientTable counts what each address has open.
type clientTable struct {
	limits  ClientLimits
	proxies *exchange.Proxies
	log     *slog.Logger

	mu      sync.Mutex
	open    map[netip.Prefix]*client // those that have something open
	others  client                   // all for which open has no place
	refused int64                    // since the log had a line
	logged  time.Time
}

// client counts what one address has open. It is guarded by clientTable.mu.
type client struct {
	address               netip.Prefix
	connections, requests int
	bytes                 int64
}

// newClients is nil where nothing is bounded.
func newClients(l ClientLimits, proxies *exchange.Proxies, log *slog.Logger) *clientTable {
	if l == (ClientLimits{}) {
		return nil
	}
	return &clientTable{limits: l, proxies: proxies, log: log, open: make(map[netip.Prefix]*client)}
}

// network is the part of an address that belongs to one client.
func network(addr netip.Addr) netip.Prefix {
	addr = addr.Unmap().WithZone("")
	bits := 32
	if addr.Is6() {
		bits = 64
	}
	prefix, _ := addr.Prefix(bits)
	return prefix
}

// of finds a client, or makes it. mu is held.
func (c *clientTable) of(address netip.Prefix) *client {
	of := c.open[address]
	switch {
	case of != nil:
	case len(c.open) >= maxClients:
		of = &c.others
	default:
		of = &client{address: address}
		c.open[address] = of
	}
	return of
}

// forget removes a client that has nothing open. mu is held.
func (c *clientTable) forget(of *client) {
	if of != &c.others && of.connections == 0 && of.requests == 0 {
		delete(c.open, of.address)
	}
}

// refuse counts a refusal, and logs it if a minute has passed since the last line. mu is held.
func (c *clientTable) refuse(of *client, what string) {
	c.refused++
	if now := time.Now(); now.Sub(c.logged) >= time.Minute {
		c.log.Warn("http refused clients that have too much open, see PerClient of web.Config", "refused", c.refused, "last", of.address.String(), "for", what)
		c.refused, c.logged = 0, now
	}
}

// connect counts a connection. leave has to be called when it has ended.
func (c *clientTable) connect(addr netip.Addr) (leave func(), ok bool) {
	if !addr.IsValid() || c.proxies.Trusts(addr) {
		return func() {}, true
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.of(network(addr))
	defer c.forget(of)
	if c.limits.Connections > 0 && of.connections >= c.limits.Connections {
		c.refuse(of, "connections")
		return nil, false
	}
	of.connections++
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		of.connections--
		c.forget(of)
	}, true
}

// enter counts a request with a body of so many bytes. leave has to be called when it has been answered.
func (c *clientTable) enter(addr netip.Addr, bytes int64) (*client, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of := c.of(network(addr))
	defer c.forget(of)
	switch l := c.limits; {
	case l.Requests > 0 && of.requests >= l.Requests:
		c.refuse(of, "requests")
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrRateLimited.Name, "this address has %d requests open, which is the most", l.Requests).AsRetryable()
	case l.BodyBytes > 0 && of.bytes+bytes > l.BodyBytes:
		c.refuse(of, "bytes")
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrRateLimited.Name, "the requests of this address that are open have more than %d bytes together, which is the most", l.BodyBytes).AsRetryable()
	}
	of.requests++
	of.bytes += bytes
	return of, nil
}

func (c *clientTable) leave(of *client, bytes int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	of.requests--
	of.bytes -= bytes
	c.forget(of)
}

// enter counts a request for its client until leave is called. If it is refused, the exchange holds the answer.
func (s *server) enter(x *exchange.Exchange, to *target) (leave func(), ok bool) {
	if s.clients == nil {
		return func() {}, true
	}
	x.Proxies = &s.settings.proxies
	size := int64(0)
	if to != nil && (to.action == nil || !to.action.Stream) {
		if size = x.Length; size < 0 {
			size = to.body
		}
	}
	of, err := s.clients.enter(x.Client(), size)
	if err == nil {
		return func() { s.clients.leave(of, size) }, true
	}
	if to == nil {
		to = &target{routeGroup: &s.settings.root, path: x.Path}
	}
	if to.action != nil {
		to.action.Signal(signal.RateLimited)
	}
	v := requestContext{Exchange: x, server: s, to: to}
	v.fail(err)
	return nil, false
}
