package utp

import (
	"errors"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"golang.org/x/net/ipv4"

	"github.com/sabir-go/sabir/internal/datagram"
	"github.com/sabir-go/sabir/transport"
)

const (
	// batch is the number of packets that one system call reads at most.
	batch = 32

	// largest is more than a packet of the library holds. A longer one is cut off and then not understood.
	largest = 2048

	// unaccepted is the number of connections that may wait to be accepted. From 50 on the library refuses one by
	// chance for each new one, and its reader may well be faster than the accepting goroutine.
	unaccepted = 32

	// synType is the first byte of a packet that asks for a connection (BEP 29): type 4, version 1.
	synType = 4<<4 | 1

	// socketBuffer is asked of the system, which may grant less.
	socketBuffer = 4 << 20
)

// packets is the socket under the library. It reads many packets with one system call, and keeps from the library what
// that would write to the standard logger or die of: a packet that cannot be sent is lost, as any may be, and a socket
// that fails closes broken.
type packets struct {
	udp  *datagram.Socket
	peer net.Addr // of a connected socket, else nil

	// Of the library's only reader.
	messages []ipv4.Message
	have, at int
	asked    int64 // connections that were asked for, packets sent again included

	accepted atomic.Int64 // connections that the library made of that

	once    sync.Once
	closed  chan struct{}
	broken  chan struct{}
	failure error // set before broken is closed
}

func newPackets(udp *net.UDPConn, peer net.Addr, config transport.Config) *packets {
	// What the system does not grant is lost and sent again.
	udp.SetReadBuffer(max(config.ReadBuffer, socketBuffer))
	udp.SetWriteBuffer(max(config.WriteBuffer, socketBuffer))
	p := &packets{
		udp: datagram.Listening(udp), peer: peer, messages: make([]ipv4.Message, batch),
		closed: make(chan struct{}), broken: make(chan struct{}),
	}
	if peer != nil {
		p.udp = datagram.Connected(udp)
	}
	for i := range p.messages {
		p.messages[i].Buffers = [][]byte{make([]byte, largest)}
	}
	return p
}

func (p *packets) ReadFrom(b []byte) (int, net.Addr, error) {
	if p.at == p.have {
		n, err := p.udp.ReadBatch(p.messages, 0)
		if err != nil {
			return p.fail(err)
		}
		p.have, p.at = n, 0
	}
	m := &p.messages[p.at]
	p.at++
	if p.peer == nil && m.N > 0 && m.Buffers[0][0] == synType {
		p.asked++
		p.pace()
	}
	from := m.Addr
	if p.peer != nil {
		from = p.peer
	}
	return copy(b, m.Buffers[0][:m.N]), from, nil
}

// pace waits for connections to be accepted.
func (p *packets) pace() {
	for range 10 {
		if p.asked-p.accepted.Load() < unaccepted {
			return
		}
		<-time.After(time.Millisecond)
	}
	p.asked = p.accepted.Load() // the others were asked for twice
}

// fail waits for Close, after which the library takes errors quietly.
func (p *packets) fail(err error) (int, net.Addr, error) {
	if !errors.Is(err, net.ErrClosed) {
		p.failure = err
		close(p.broken)
	}
	<-p.closed
	return 0, nil, err
}

func (p *packets) WriteTo(b []byte, to net.Addr) (int, error) {
	p.udp.WriteTo(b, to)
	return len(b), nil
}

func (p *packets) Close() error {
	p.once.Do(func() { close(p.closed) })
	return p.udp.Close()
}

func (p *packets) LocalAddr() net.Addr { return p.udp.LocalAddr() }

func (p *packets) SetDeadline(t time.Time) error      { return p.udp.SetDeadline(t) }
func (p *packets) SetReadDeadline(t time.Time) error  { return p.udp.SetReadDeadline(t) }
func (p *packets) SetWriteDeadline(t time.Time) error { return p.udp.SetWriteDeadline(t) }
