package mesh

import (
	"context"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/wire"
)

const (
	// packetIdle is the time after which a connection for packets is closed that carried none. The answer to a probe comes over the same one.
	packetIdle = 3 * time.Second
	// packetDialLimit is shorter than the time after which a probe counts as failed and others are asked to make it.
	packetDialLimit = time.Second
	// maxPacketConns bounds the connections for packets. A node makes some two a second, for its probes.
	maxPacketConns = 256
	// maxWaitingPackets bounds the packets that wait for a connection. More are dropped, as a network would.
	maxWaitingPackets = 16
	maxPacket         = 1<<16 - 1
)

// packetConns carries packets of gossip to nodes that there is no link to: over connections that are made for some packets and closed soon.
type packetConns struct {
	mesh *Mesh

	mu     sync.Mutex
	conns  map[string]*packetConn // by node: the one that packets to it go over
	closed bool
}

// packetConn is a connection for packets, or one that is being made.
type packetConn struct {
	node    string
	waiting chan []byte
	used    chan struct{} // a packet came
}

// send gives a packet to the connection to its node, which is made where there is none, and reports whether it did. It does not wait.
func (c *packetConns) send(to membership.Member, packet []byte) bool {
	if len(packet) > maxPacket {
		return false
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	p := c.conns[to.ID]
	if p == nil {
		if c.closed {
			return false
		}
		if p = c.add(to.ID); p == nil {
			return false
		}
		c.mesh.running.Go(func() { c.dial(p, to) })
	}
	select {
	case p.waiting <- packet:
		return true
	default:
		return false
	}
}

// add makes a connection's entry; nil where there are too many. The caller holds mu.
func (c *packetConns) add(node string) *packetConn {
	if len(c.conns) >= maxPacketConns {
		return nil
	}
	p := &packetConn{node, make(chan []byte, maxWaitingPackets), make(chan struct{}, 1)}
	c.conns[node] = p
	return p
}

// close has send make no more connections. A probe of the membership library may be under way for some time after the end of membership.
func (c *packetConns) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.closed = true
}

func (c *packetConns) remove(p *packetConn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conns[p.node] == p {
		delete(c.conns, p.node)
	}
}

func (c *packetConns) dial(p *packetConn, to membership.Member) {
	defer c.remove(p)
	ctx, cancel := context.WithTimeout(c.mesh.ctx, packetDialLimit)
	defer cancel()
	conn, peer, linked, err := c.mesh.connect(ctx, to.Addr, wire.ForPackets)
	if err != nil {
		return // the packets are lost, and membership notices that nothing answers
	}
	linked()
	if peer.Node != to.ID {
		conn.Close()
		return
	}
	c.run(p, conn)
}

// accept takes over a connection that another node has made.
func (c *packetConns) accept(conn net.Conn, node string) {
	c.mu.Lock()
	p := c.conns[node]
	if p != nil { // this node is making one too: packets to it go over that
		p = &packetConn{node, nil, make(chan struct{}, 1)}
	} else if p = c.add(node); p == nil {
		c.mu.Unlock()
		conn.Close()
		return
	}
	c.mu.Unlock()
	defer c.remove(p)
	c.run(p, conn)
}

// run carries packets until there are none for a while, or the connection fails.
func (c *packetConns) run(p *packetConn, conn net.Conn) {
	ended := make(chan struct{})
	c.mesh.running.Go(func() {
		defer close(ended)
		c.read(p, conn)
	})
	defer func() {
		conn.Close()
		<-ended
	}()
	idle := time.NewTimer(packetIdle)
	defer idle.Stop()
	for {
		select {
		case packet := <-p.waiting:
			if writePacket(conn, packet) != nil {
				return
			}
		case <-p.used:
		case <-idle.C:
			return
		case <-ended:
			return
		case <-c.mesh.ctx.Done():
			return
		}
		idle.Reset(packetIdle)
	}
}

func (c *packetConns) read(p *packetConn, conn net.Conn) {
	for {
		packet, err := readPacket(conn)
		if err != nil {
			return
		}
		c.mesh.gossip.Packet(p.node, packet)
		wake(p.used)
	}
}

func writePacket(conn net.Conn, packet []byte) error {
	if err := conn.SetWriteDeadline(time.Now().Add(packetDialLimit)); err != nil {
		return err
	}
	_, err := conn.Write(append(binary.LittleEndian.AppendUint16(nil, uint16(len(packet))), packet...))
	return err
}

// readPacket reads one packet, of which there are none of no bytes.
func readPacket(r io.Reader) ([]byte, error) {
	var size [2]byte
	if _, err := io.ReadFull(r, size[:]); err != nil {
		return nil, err
	}
	packet := make([]byte, binary.LittleEndian.Uint16(size[:]))
	if len(packet) == 0 {
		return nil, errors.New("a packet of no bytes")
	}
	_, err := io.ReadFull(r, packet)
	return packet, err
}
