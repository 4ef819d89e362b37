package moleculer

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"sync"
	"time"
)

// A frame is the XOR of the five bytes that follow, the length of the whole as a big-endian int32, the kind, and the packet.
const (
	frameHeader         = 6
	frameGossipRequest  = 6
	frameGossipResponse = 7
	frameHello          = 8
)

// frameKinds are the frames that carry the packets of a topic.
var frameKinds = map[string]byte{"EVENT": 1, "REQ": 2, "RES": 3, "PING": 4, "PONG": 5}

func appendFrame(dst []byte, kind byte, packet []byte) []byte {
	start := len(dst)
	dst = binary.BigEndian.AppendUint32(append(dst, 0), uint32(frameHeader+len(packet)))
	dst = append(dst, kind)
	dst[start] = checksum(dst[start:])
	return append(dst, packet...)
}

func checksum(header []byte) byte { return header[1] ^ header[2] ^ header[3] ^ header[4] ^ header[5] }

// readFrame reads the next frame. What a header promises takes memory only as it comes.
func readFrame(r *bufio.Reader) (kind byte, packet []byte, err error) {
	header, err := r.Peek(frameHeader)
	if err != nil {
		return 0, nil, err
	}
	length := binary.BigEndian.Uint32(header[1:])
	kind = header[5]
	switch {
	case checksum(header) != header[0]:
		return 0, nil, errors.New("the bytes are no packet of Moleculer's transporter TCP")
	case length < frameHeader || length > tcpLimit:
		return 0, nil, fmt.Errorf("a packet of %d bytes: %d is the limit", length, tcpLimit)
	case kind == 0 || kind > frameHello:
		return 0, nil, fmt.Errorf("a packet of the kind %d, which there is not", kind)
	}
	_, _ = r.Discard(frameHeader) // which is buffered
	const firstPiece = 64 << 10
	for left := int(length) - frameHeader; len(packet) < left; {
		grown := make([]byte, min(left, max(2*len(packet), firstPiece)))
		n := copy(grown, packet)
		if _, err := io.ReadFull(r, grown[n:]); err != nil {
			return 0, nil, err
		}
		packet = grown
	}
	return kind, packet, nil
}

// isEnd reports whether an error of reading only says that the connection has ended.
func isEnd(err error) bool { return errors.Is(err, io.EOF) || errors.Is(err, net.ErrClosed) }

// link writes to another node, which writes back on a connection of its own.
type link struct {
	mesh *tcp
	node string

	mu      sync.Mutex
	change  sync.Cond // queue, failed or leaving
	queue   [][]byte  // frames
	bytes   int       // in the queue
	conn    net.Conn
	failed  error
	leaving bool

	asked int           // counts the questions behind large packets: the id of each
	read  chan struct{} // the node has answered the last of them
}

const (
	// maxQueued bounds the bytes that wait for a node. A packet above controlSize then waits for place, and others are refused at twice as much.
	maxQueued   = 8 << 20
	controlSize = 4 << 10
	dialLimit   = 3 * time.Second
	// pacedFrom is the size of frames behind which nothing may follow at once. Moleculer's reader breaks the connection when more than tcpLimit lies in its
	// buffer, even of packets that are allowed, and takes up to 64 KiB at a time.
	pacedFrom = tcpLimit - 64<<10
	// flushLimit is the time in which a link that is left writes what waits.
	flushLimit = time.Second
)

func newLink(m *tcp, node string) *link {
	l := &link{mesh: m, node: node, read: make(chan struct{}, 1)}
	l.change.L = &l.mu
	return l
}

// send adds a frame to what waits to be written, which the caller may have to wait for: a node that takes nothing for as
// long as its silence is borne ([Heartbeat]) has lost its link, which ends the wait.
func (l *link) send(frame []byte, waits bool) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	for waits && l.failed == nil && l.bytes > 0 && l.bytes+len(frame) > maxQueued {
		l.change.Wait()
	}
	if l.failed == nil && l.bytes+len(frame) > 2*maxQueued {
		return fmt.Errorf("%d bytes wait for the node %s, which does not take them", l.bytes, l.node)
	}
	if l.failed != nil {
		return l.failed
	}
	l.queue = append(l.queue, frame)
	l.bytes += len(frame)
	l.change.Broadcast()
	return nil
}

// run dials the node and writes what is sent, until that fails or the link is left.
func (l *link) run(addresses []string) {
	conn, err := l.dial(addresses)
	if err == nil {
		l.mu.Lock()
		if l.conn = conn; l.failed != nil {
			err = l.failed
		}
		l.mu.Unlock()
	}
	if err != nil {
		l.fail(fmt.Errorf("the node %s cannot be reached: %w", l.node, err))
		return
	}
	l.mesh.running.Go(func() { // nothing comes but the end
		_, err := io.Copy(io.Discard, conn)
		if err == nil {
			err = io.EOF
		}
		l.fail(fmt.Errorf("the connection to the node %s ended: %w", l.node, err))
	})
	if err = l.put(l.mesh.greeting()); err == nil {
		l.mesh.linked(l)
		err = l.write()
	}
	l.fail(err)
}

func (l *link) dial(addresses []string) (conn net.Conn, err error) {
	select {
	case l.mesh.dialing <- struct{}{}:
	case <-l.mesh.ctx.Done():
		return nil, net.ErrClosed
	}
	defer func() { <-l.mesh.dialing }()
	dialer := net.Dialer{Timeout: dialLimit, LocalAddr: l.mesh.from}
	err = errors.New("no address of it is known")
	for _, one := range addresses {
		if conn, err = dialer.DialContext(l.mesh.ctx, "tcp", one); err == nil {
			return conn, nil
		}
	}
	return nil, err
}

// write writes frames, small ones together.
func (l *link) write() error {
	var batch []byte
	for {
		l.mu.Lock()
		for len(l.queue) == 0 && l.failed == nil && !l.leaving {
			l.change.Wait()
		}
		if l.failed != nil || len(l.queue) == 0 {
			defer l.mu.Unlock()
			return l.failed
		}
		batch = batch[:0]
		paced := len(l.queue[0]) > pacedFrom
		for len(l.queue) > 0 && (len(batch) == 0 || !paced && len(batch)+len(l.queue[0]) <= 64<<10) {
			batch = append(batch, l.queue[0]...)
			l.bytes -= len(l.queue[0])
			l.queue[0] = nil
			l.queue = l.queue[1:]
		}
		l.change.Broadcast()
		l.mu.Unlock()
		if paced {
			batch = l.appendQuestion(batch)
		}
		if err := l.put(batch); err != nil {
			return err
		}
		if cap(batch) > 256<<10 {
			batch = nil
		}
		if paced {
			l.await()
		}
	}
}

// appendQuestion appends a PING with an id of its own. The answer to another PING, which was written earlier, must not count: the node would be sent the next
// packet before it has read this one.
func (l *link) appendQuestion(batch []byte) []byte {
	l.mu.Lock()
	l.asked++
	id := l.asked
	l.mu.Unlock()
	select {
	case <-l.read: // too late
	default:
	}
	return l.mesh.appendPing(batch, l.node, strconv.Itoa(id))
}

// answered is called for a PONG of the node.
func (l *link) answered(id string) {
	l.mu.Lock()
	last := id == strconv.Itoa(l.asked)
	l.mu.Unlock()
	if last {
		l.goOn()
	}
}

// await waits until the node has read what was written, which it shows by its answer to the question behind that. One that answers none is sent the rest
// when the time has passed in which it must answer.
func (l *link) await() {
	limit := time.NewTimer(l.mesh.bridge.Timeout)
	defer limit.Stop()
	select {
	case <-l.read:
	case <-limit.C:
	case <-l.mesh.ctx.Done():
	}
}

// goOn ends the wait of await.
func (l *link) goOn() {
	select {
	case l.read <- struct{}{}:
	default:
	}
}

func (l *link) put(data []byte) error {
	if err := l.conn.SetWriteDeadline(time.Now().Add(l.mesh.bridge.Timeout)); err != nil {
		return err
	}
	_, err := l.conn.Write(data)
	return err
}

// fail ends the link; nil ends one that was left.
func (l *link) fail(err error) {
	l.mu.Lock()
	ended := l.failed != nil
	if !ended {
		if l.failed = err; err == nil {
			l.failed = net.ErrClosed
		}
		l.queue, l.bytes = nil, 0
		l.change.Broadcast()
	}
	if l.conn != nil {
		l.conn.Close()
	}
	l.mu.Unlock()
	l.goOn()
	if !ended {
		l.mesh.unlinked(l)
	}
}

// leave ends the link when what waits is written.
func (l *link) leave() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.leaving = true
	l.change.Broadcast()
	time.AfterFunc(flushLimit, func() { l.fail(net.ErrClosed) })
}
