package simulation

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/url"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/transport"
)

func init() { transport.RegisterBus(brokerScheme, busDriver{}) }

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
