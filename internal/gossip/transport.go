package gossip

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/sabir-go/sabir/internal/membership"
)

// gossipTransport is memberlist's network, made of a Carrier.
//
// memberlist wants each node at an IP address and a port. Ours are at URLs, and are found by name, so all get the same
// made-up address. That has a good side: a node that restarts at another URL is no conflict of addresses to memberlist, it
// only has a new meta. A node without a name is a target of the rejoiner, at a made-up port.
type gossipTransport struct {
	carrier     membership.Carrier
	delegate    *gossipDelegate
	rejoiner    *rejoiner
	sendTimeout time.Duration // bounds a Send
	ctx         context.Context
	cancel      context.CancelFunc
	packets     chan *memberlist.Packet
	conns       chan net.Conn
}

var _ memberlist.NodeAwareTransport = (*gossipTransport)(nil)

// placeholderIP and nodePort are the address of every node. It is a loopback address because memberlist warns of public
// ones.
var placeholderIP = net.IPv4(127, 0, 0, 1).To4()

const nodePort = 1

func newGossipTransport(c membership.Carrier, p *gossipDelegate, s *rejoiner, patient time.Duration) *gossipTransport {
	ctx, cancel := context.WithCancel(context.Background())
	return &gossipTransport{carrier: c, delegate: p, rejoiner: s, sendTimeout: patient, ctx: ctx, cancel: cancel,
		packets: make(chan *memberlist.Packet, packetQueue), conns: make(chan net.Conn)}
}

// FinalAdvertiseAddr is the made-up address.
func (t *gossipTransport) FinalAdvertiseAddr(string, int) (net.IP, int, error) {
	return placeholderIP, nodePort, nil
}

// WriteTo is WriteToAddress without a name.
func (t *gossipTransport) WriteTo(b []byte, addr string) (time.Time, error) {
	return t.WriteToAddress(b, memberlist.Address{Addr: addr})
}

// WriteToAddress sends a packet. memberlist takes an error as the other side's only if it looks like one of a UDP socket;
// after any other it would never suspect the node.
func (t *gossipTransport) WriteToAddress(b []byte, to memberlist.Address) (time.Time, error) {
	ctx, cancel := context.WithTimeout(t.ctx, t.sendTimeout)
	defer cancel()
	now := time.Now()
	if err := t.carrier.Send(ctx, t.member(to), b); err != nil {
		return now, &net.OpError{Op: "write", Net: "udp", Addr: nodeAddr(to.Name), Err: err}
	}
	return now, nil
}

// DialTimeout is DialAddressTimeout without a name.
func (t *gossipTransport) DialTimeout(addr string, timeout time.Duration) (net.Conn, error) {
	return t.DialAddressTimeout(memberlist.Address{Addr: addr}, timeout)
}

// DialAddressTimeout makes a connection that is closed with the transport at the latest.
func (t *gossipTransport) DialAddressTimeout(to memberlist.Address, timeout time.Duration) (net.Conn, error) {
	ctx, cancel := context.WithTimeout(t.ctx, timeout)
	defer cancel()
	conn, err := t.carrier.Dial(ctx, t.member(to))
	if err != nil {
		t.rejoiner.setFailure(port(to), err)
		return nil, err
	}
	return t.bound(conn), nil
}

// PacketCh delivers incoming packets.
func (t *gossipTransport) PacketCh() <-chan *memberlist.Packet { return t.packets }

// StreamCh delivers incoming connections.
func (t *gossipTransport) StreamCh() <-chan net.Conn { return t.conns }

// Shutdown closes the connections under way.
func (t *gossipTransport) Shutdown() error {
	t.close()
	return nil
}

func (t *gossipTransport) close() { t.cancel() }

// packet passes a packet to memberlist, and drops it where memberlist is too slow.
func (t *gossipTransport) packet(from string, data []byte) {
	select {
	case t.packets <- &memberlist.Packet{Buf: bytes.Clone(data), From: nodeAddr(from), Timestamp: time.Now()}:
	default:
	}
}

// conn hands a connection over on a goroutine, which waits for memberlist's listener: that starts a goroutine for each and
// never takes long.
func (t *gossipTransport) conn(conn net.Conn) {
	bound := t.bound(conn)
	go func() {
		select {
		case t.conns <- bound:
		case <-t.ctx.Done(): // which closes it
		}
	}()
}

// bound makes a connection end with the transport.
func (t *gossipTransport) bound(conn net.Conn) net.Conn {
	stop := context.AfterFunc(t.ctx, func() { _ = conn.Close() })
	return &boundConn{conn, stop}
}

type boundConn struct {
	net.Conn
	stop func() bool
}

func (c *boundConn) Close() error {
	c.stop()
	return c.Conn.Close()
}

func (t *gossipTransport) member(at memberlist.Address) membership.Member {
	if at.Name != "" {
		return t.delegate.find(at.Name)
	}
	return t.rejoiner.member(port(at))
}

// port is the placeholder port of an address.
func port(at memberlist.Address) int {
	_, text, _ := net.SplitHostPort(at.Addr)
	port, _ := strconv.Atoi(text)
	return port
}

// nodeAddr is a node's id as an address, for memberlist's log.
type nodeAddr string

func (nodeAddr) Network() string  { return "gossip" }
func (a nodeAddr) String() string { return string(a) }
