package simulation

import (
	"bufio"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"net"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/transport"
)

// brokerScheme is that of the broker's address, simbus://broker. Nodes dial it over the network of the simulation, so that connections
// to it break, wait and are slow as those between nodes.
const (
	brokerScheme = "simbus"
	brokerName   = "broker"
)

func init() { transport.RegisterBus(brokerScheme, busDriver{}) }

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

type busDriver struct{}

// busClient is a node's connection to the broker, one after the other.
type busClient struct {
	name    string
	events  transport.BusEvents
	ctx     context.Context // ends with Close
	cancel  context.CancelFunc
	running sync.WaitGroup

	mu       sync.Mutex
	conn     *brokerConn // nil while there is none
	subjects map[string]func([]byte)
	acks     map[string]chan struct{} // closed when the broker has the subscription
}

func (busDriver) Connect(ctx context.Context, _ *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	ctx, cancel := config.WithDialLimit(ctx)
	defer cancel()
	c := &busClient{name: config.Name, events: events, subjects: map[string]func([]byte){}, acks: map[string]chan struct{}{}}
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.ctx, c.cancel = context.WithCancel(context.Background())
	c.conn = conn
	c.running.Go(func() { c.run(conn) })
	return c, nil
}

func (c *busClient) dial(ctx context.Context) (*brokerConn, error) {
	conn, err := running.Load().dial(ctx, c.name, brokerName)
	if err != nil {
		return nil, &net.OpError{Op: "dial", Net: brokerScheme, Source: address(c.name), Addr: address(brokerName), Err: err}
	}
	return newBrokerConn(conn), nil
}

// run serves one connection after the other until Close. Callbacks run on its goroutine only.
func (c *busClient) run(conn *brokerConn) {
	for {
		pings := time.NewTicker(pingEvery)
		var pinging sync.WaitGroup
		over := make(chan struct{})
		pinging.Go(func() {
			for {
				select {
				case <-pings.C:
					_ = conn.put(false, ping, "", nil) // where much waits, that will do
				case <-over:
					return
				}
			}
		})
		err := conn.read(c.take)
		close(over)
		pings.Stop()
		pinging.Wait()
		conn.running.Wait()
		c.mu.Lock()
		c.conn = nil
		c.mu.Unlock()
		if c.ctx.Err() != nil {
			return
		}
		c.events.Lost(err)
		if conn, err = backoff.Until(c.ctx, backoff.Reconnect, c.renew); err != nil {
			return
		}
		c.events.Restored()
	}
}

// renew connects and subscribes to all again. What is published then comes to the broker behind the subscriptions.
func (c *busClient) renew() (*brokerConn, error) {
	ctx, cancel := context.WithTimeout(c.ctx, silentFor)
	defer cancel()
	conn, err := c.dial(ctx)
	if err != nil {
		return nil, err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ctx.Err() != nil {
		conn.end()
		conn.running.Wait()
		return nil, net.ErrClosed
	}
	for subject := range c.subjects {
		_ = conn.put(false, subscribe, subject, nil) // it is new: there is space
	}
	c.conn = conn
	return conn, nil
}

func (c *busClient) take(op operation, subject string, data []byte) {
	c.mu.Lock()
	deliver, ack := c.subjects[subject], c.acks[subject]
	if op == subscribed {
		delete(c.acks, subject)
	}
	closed := c.ctx.Err() != nil
	c.mu.Unlock()
	switch {
	case closed:
	case op == subscribed && ack != nil:
		close(ack)
	case op == message && deliver != nil:
		deliver(data)
	case op == unheard && c.events.Unheard != nil:
		c.events.Unheard(subject)
	}
}

func (c *busClient) Publish(subject string, data []byte) error { return c.send(publish, subject, data) }
func (c *busClient) Probe(subject string, data []byte) error   { return c.send(probe, subject, data) }

func (c *busClient) send(op operation, subject string, data []byte) error {
	if len(data) > brokerMessage {
		return fmt.Errorf("a message of %d bytes is more than the broker takes", len(data))
	}
	c.mu.Lock()
	conn := c.conn
	c.mu.Unlock()
	if conn == nil {
		return errors.New("there is no connection to the broker")
	}
	return conn.put(true, op, subject, data)
}

func (c *busClient) Subscribe(ctx context.Context, subject string, deliver func([]byte)) error {
	ack := make(chan struct{})
	c.mu.Lock()
	c.subjects[subject], c.acks[subject] = deliver, ack
	conn := c.conn
	c.mu.Unlock()
	if conn != nil { // else it is renewed with the connection
		_ = conn.put(true, subscribe, subject, nil)
	}
	select {
	case <-ack:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	case <-c.ctx.Done():
		return net.ErrClosed
	}
}

func (c *busClient) MaxMessage() int { return brokerMessage }
func (c *busClient) Addr() string    { return brokerScheme + "://" + brokerName }

func (c *busClient) Close() error {
	c.mu.Lock()
	c.cancel()
	conn := c.conn
	c.mu.Unlock()
	if conn != nil {
		conn.drain()
		conn.end()
	}
	c.running.Wait()
	return nil
}
