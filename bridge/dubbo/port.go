package dubbo

import (
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/netip"
	"net/url"
	"time"

	"github.com/sabir-go/sabir/internal/accept"
	"github.com/sabir-go/sabir/transport"
)

// table is the interfaces of one protocol at one port.
type table map[key]*mapping

// port is an address where calls come in.
type port struct {
	listener net.Listener
	dubbo    table // nil where the protocol is not spoken here
	triple   *tripleServer
}

// addPort adds the interfaces of an endpoint to the port at its address.
func (b *bridge) addPort(ctx context.Context, ports map[netip.AddrPort]*port, e endpoint) error {
	at, err := parseAddress("dubbo.Config: Serve", e.address)
	if err != nil {
		return err
	}
	bound, err := b.addressOf(ctx, at)
	if err != nil {
		return err
	}
	p := ports[bound]
	if p == nil {
		p = new(port)
		var config net.ListenConfig
		if p.listener, err = config.Listen(ctx, "tcp", bound.String()); err != nil {
			return err
		}
		b.serves.mu.Lock()
		b.serves.ports = append(b.serves.ports, p)
		b.serves.mu.Unlock()
		if bound.Port() != 0 {
			ports[bound] = p
		}
	}
	into := &p.dubbo
	if at.Scheme == schemeTriple {
		if p.triple == nil {
			p.triple = newTripleServer(b, p.listener.Addr())
		}
		into = &p.triple.table
	}
	if *into == nil {
		*into = make(table)
	}
	for _, m := range e.interfaces {
		if (*into)[m.key()] != nil {
			return fmt.Errorf("dubbo.Config: Serve %q: the interface %s is there twice with the version %q and the group %q", e.address, m.name, m.version, m.group)
		}
		(*into)[m.key()] = m
	}
	if len(b.Registries) > 0 {
		return b.prepare(at.Scheme, e, p.listener.Addr())
	}
	return nil
}

// addressOf returns the address to listen at. One that other machines can reach needs certificates of consumers, or Open.
func (b *bridge) addressOf(ctx context.Context, at *url.URL) (netip.AddrPort, error) {
	// Keyed leaves the check to this function, whose error names what can be done.
	bound, err := transport.Config{Keyed: true}.ListenAddr(ctx, at)
	if err != nil {
		return netip.AddrPort{}, err
	}
	if !bound.Addr().IsLoopback() && !b.Open && !b.provesCallers() {
		return netip.AddrPort{}, fmt.Errorf("refusing to listen on %s (%s), where other machines could call without proof: add TLS with a ClientAuth of tls.RequireAndVerifyClientCert, set Open where the network restricts "+
			"who reaches it, or leave out the host (\"%s://:%d\") to be reached from this machine only", at, bound, at.Scheme, bound.Port())
	}
	return bound, nil
}

func (b *bridge) accept(p *port) {
	failures := accept.NewFailures(b.node.Log(), p.listener.Addr().String(), "consumers of Dubbo")
	for {
		c, err := p.listener.Accept()
		if errors.Is(err, net.ErrClosed) {
			return
		}
		if err != nil { // such as too many open files: connections that end make place
			failures.Pause(err, b.ctx.Done())
			continue
		}
		failures.Accepted()
		c = b.secured(c)
		if err := b.serves.add(c); err != nil {
			b.drops.Note(b.node.Log(), "a connection of a Dubbo consumer was refused", "from", c.RemoteAddr(), "error", err)
			c.Close()
			continue
		}
		b.running.Go(func() { b.serveConnection(c, p) })
	}
}

// firstLimit is the time in which a connection has to show its protocol, at a port with several.
const firstLimit = 10 * time.Second

// serveConnection serves a connection by the protocol that it begins with.
func (b *bridge) serveConnection(c net.Conn, p *port) {
	if err := handshake(b.ctx, c); err != nil {
		b.drops.Note(b.node.Log(), "a connection of a Dubbo consumer ended in the handshake of TLS", "from", c.RemoteAddr(), "error", err)
		b.serves.remove(c)
		c.Close()
		return
	}
	first := &peeked{Conn: c}
	isDubbo := p.triple == nil
	if !isDubbo && p.dubbo != nil {
		var err error
		if isDubbo, err = first.isDubbo(); err != nil {
			b.serves.remove(c)
			c.Close()
			return
		}
	}
	if !isDubbo {
		p.triple.take(first)
		return
	}
	one := newConnection(first, &b.bodies)
	b.serves.know(c, one)
	defer b.serves.remove(c)
	b.consume(one, p.dubbo)
}

// peeked is a connection of which the first bytes were looked at.
type peeked struct {
	net.Conn
	first []byte // not read yet
}

// isDubbo waits for the first bytes.
func (p *peeked) isDubbo() (bool, error) {
	if err := p.SetReadDeadline(time.Now().Add(firstLimit)); err != nil {
		return false, err
	}
	p.first = make([]byte, 2)
	if _, err := io.ReadFull(p.Conn, p.first); err != nil {
		return false, err
	}
	return binary.BigEndian.Uint16(p.first) == magic, p.SetReadDeadline(time.Time{})
}

// Read implements net.Conn.
func (p *peeked) Read(to []byte) (int, error) {
	if len(p.first) == 0 {
		return p.Conn.Read(to)
	}
	n := copy(to, p.first)
	p.first = p.first[n:]
	return n, nil
}
