package simulation

import (
	"bufio"
	"encoding/binary"
	"errors"
	"io"
	"net"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/transport"
)

// The broker has the address simbus://broker. Nodes dial it over the network of the simulation, so that connections
// to it break, wait and are slow as those between nodes.
const (
	brokerScheme = "simbus"
	brokerName   = "broker"
)

// What a broker and its clients say to each other. A frame is the length of what follows, its operation, the length of the subject,
// the subject, and the message.
type operation byte

const (
	subscribe operation = iota
	subscribed
	publish
	probe
	unheard // nobody subscribes to the subject of a probe
	message
	ping
	pong
)

const (
	pingEvery     = 2 * time.Second
	silentFor     = 5 * time.Second // after which each end gives the other up
	brokerMessage = 64 << 10        // the largest message
	brokerQueue   = 1 << 20         // bytes that wait for a client before the broker ends its connection, or for the broker before publishers wait
)

func appendFrame(dst []byte, op operation, subject string, data []byte) []byte {
	dst = binary.BigEndian.AppendUint32(dst, uint32(2+len(subject)+len(data)))
	dst = append(dst, byte(op), byte(len(subject)))
	dst = append(dst, subject...)
	return append(dst, data...)
}

// brokerConn is one end of a connection to the broker. A goroutine writes what waits, since a bubble's time stands while a mutex is
// held by a writer that waits.
type brokerConn struct {
	net.Conn
	mu      sync.Mutex
	changed sync.Cond
	waiting []byte
	writing bool
	closed  bool
	running sync.WaitGroup
}

func newBrokerConn(c net.Conn) *brokerConn {
	b := &brokerConn{Conn: c}
	b.changed.L = &b.mu
	b.running.Go(b.write)
	return b
}

// put adds a frame to what waits, where there is space or can be waited for.
func (b *brokerConn) put(wait bool, op operation, subject string, data []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	for len(b.waiting) >= brokerQueue && !b.closed {
		if !wait {
			return errors.New("the client is too slow")
		}
		b.changed.Wait()
	}
	if b.closed {
		return net.ErrClosed
	}
	b.waiting = appendFrame(b.waiting, op, subject, data)
	b.changed.Broadcast()
	return nil
}

func (b *brokerConn) write() {
	for {
		b.mu.Lock()
		for len(b.waiting) == 0 && !b.closed {
			b.changed.Wait()
		}
		next := b.waiting
		b.waiting, b.writing = nil, len(next) > 0
		b.changed.Broadcast()
		b.mu.Unlock()
		if len(next) == 0 {
			return
		}
		_, err := b.Write(next)
		b.mu.Lock()
		b.writing = false
		b.changed.Broadcast()
		b.mu.Unlock()
		if err != nil {
			b.end()
			return
		}
	}
}

// drain waits until all is written, for a second at most.
func (b *brokerConn) drain() {
	limit := time.AfterFunc(time.Second, b.end)
	defer limit.Stop()
	b.mu.Lock()
	defer b.mu.Unlock()
	for (len(b.waiting) > 0 || b.writing) && !b.closed {
		b.changed.Wait()
	}
}

// end closes the connection.
func (b *brokerConn) end() {
	b.mu.Lock()
	b.closed = true
	b.changed.Broadcast()
	b.mu.Unlock()
	b.Close()
}

// read calls take with each frame until the connection breaks, or nothing comes for a while.
func (b *brokerConn) read(take func(op operation, subject string, data []byte)) error {
	defer b.end()
	in := bufio.NewReader(b.Conn)
	for {
		b.SetReadDeadline(time.Now().Add(silentFor))
		var head [4]byte
		if _, err := io.ReadFull(in, head[:]); err != nil {
			return err
		}
		frame := make([]byte, binary.BigEndian.Uint32(head[:]))
		if _, err := io.ReadFull(in, frame); err != nil {
			return err
		}
		subject := frame[2 : 2+frame[1]]
		take(operation(frame[0]), string(subject), frame[2+len(subject):])
	}
}

// simBroker passes on what is published to those that subscribe, and keeps nothing.
type simBroker struct {
	network  *network
	listener transport.Listener
	running  sync.WaitGroup

	mu      sync.Mutex
	clients map[*brokerConn][]string // by connection, the subjects that it subscribes to
}

// startBroker starts a broker, again after an outage.
func startBroker(n *network) *simBroker {
	l, err := n.listen(brokerName)
	if err != nil {
		panic(err) // there is one at a time
	}
	b := &simBroker{network: n, listener: l, clients: map[*brokerConn][]string{}}
	b.running.Go(b.accept)
	return b
}

func (b *simBroker) accept() {
	for {
		c, err := b.listener.Accept()
		if err != nil {
			return
		}
		client := newBrokerConn(c)
		b.mu.Lock()
		b.clients[client] = nil
		b.mu.Unlock()
		b.running.Go(func() {
			_ = client.read(func(op operation, subject string, data []byte) { b.take(client, op, subject, data) })
			b.mu.Lock()
			delete(b.clients, client)
			b.mu.Unlock()
			client.running.Wait()
		})
	}
}

func (b *simBroker) take(from *brokerConn, op operation, subject string, data []byte) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch op {
	case subscribe:
		b.clients[from] = append(b.clients[from], subject)
		b.answer(from, subscribed, subject, nil)
	case ping:
		b.answer(from, pong, "", nil)
	case publish, probe:
		heard := false
		for client, subjects := range b.clients {
			if slices.Contains(subjects, subject) {
				heard = true
				b.answer(client, message, subject, data)
			}
		}
		if op == probe && !heard {
			b.answer(from, unheard, subject, nil)
		}
	}
}

// answer sends a frame to a client; a client that is too slow is disconnected.
func (b *simBroker) answer(to *brokerConn, op operation, subject string, data []byte) {
	if err := to.put(false, op, subject, data); err != nil {
		to.end()
	}
}

// stop ends all connections at once.
func (b *simBroker) stop() {
	b.listener.Close()
	b.mu.Lock()
	for client := range b.clients {
		client.end()
	}
	b.mu.Unlock()
	b.running.Wait()
}

// stopBroker stops the broker for a while. Of two such steps at once the second does nothing.
func (w *world) stopBroker(pause time.Duration) {
	w.mu.Lock()
	b := w.broker
	w.broker = nil
	w.mu.Unlock()
	if b == nil {
		return
	}
	w.network.end(brokerName, killed)
	b.stop()
	time.Sleep(pause)
	w.network.begin(brokerName)
	b = startBroker(w.network)
	w.mu.Lock()
	w.broker = b
	w.mu.Unlock()
}
