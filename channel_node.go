package sabir

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/url"
	"sync"
	"time"

	"github.com/sabir-go/sabir/channel/engine"
)

// Channels sets the broker that keeps the node's channels: "nats://10.0.0.5:4222" (JetStream), "redis://10.0.0.5:6379"
// (Streams), "amqp://user:password@10.0.0.5:5672" (RabbitMQ), or "mem://" for tests and the first ten minutes, which
// keeps them in this process and loses them with it. The program must import the engine:
//
//	import _ "github.com/sabir-go/sabir/channel/jetstream" // or redis, amqp, mem
//
// By default the broker of [Join] keeps them, where there is one and the program imports its engine. A node with
// Channels does not start while the broker cannot be reached; later it connects again by itself.
//
// Every client that can write to the broker can write to its channels: it is the broker's users and rights that keep strangers
// out.
func Channels(address string, options ...ChannelsOption) NodeOption {
	return nodeOptionOnce("Channels", callerSite(), func(n *Node) {
		n.channels.address = address
		for _, o := range options {
			o(&n.channels)
		}
	})
}

// ChannelsOption is an option of Channels: [ChannelsTLS].
type ChannelsOption func(*nodeChannels)

// ChannelsTLS is the TLS configuration of the connection to the broker.
func ChannelsTLS(config *tls.Config) ChannelsOption { return func(c *nodeChannels) { c.tls = config } }

// nodeChannels is a node's connection to the broker of its channels, made when it is first needed.
type nodeChannels struct {
	address string
	tls     *tls.Config

	mu       sync.Mutex
	store    engine.Store
	declared map[string]engine.Spec
	consumed []*consumer
	closed   bool

	handlerLock handlerLock // of the handlers of all consumers
}

// channelsAddress is the broker's address; "" for none.
func (n *Node) channelsAddress() string {
	if n.channels.address != "" || len(n.joins) == 0 || !engine.Offered(n.joins[0].Address) {
		return n.channels.address
	}
	at, err := url.Parse(n.joins[0].Address)
	if err != nil {
		return ""
	}
	query := at.Query()
	query.Del("seeds")
	if at.Scheme != "nats" { // an embedded server is the same one only at the same address
		query = nil
	}
	at.RawQuery = query.Encode()
	return at.String()
}

// startChannels connects to the broker that Channels names, so that a node without its broker does not start.
func (n *Node) startChannels(ctx context.Context) error {
	if n.channels.address == "" {
		return nil
	}
	_, err := n.channelStore(ctx)
	return err
}

// channelStore is the connection to the broker.
func (n *Node) channelStore(ctx context.Context) (engine.Store, error) {
	c := &n.channels
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.store != nil {
		return c.store, nil
	}
	if state := n.State(); c.closed || state == StateCreated || state == StateStopped {
		return nil, &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true, Message: "node " + n.id + " is " + state.String() + " and has no channels"}
	}
	address := n.channelsAddress()
	if address == "" {
		return nil, &Error{Code: CodeFailedPrecondition, Name: nameNoChannels, Node: n.id,
			Message: "node " + n.id + ` has no broker for channels: give NewNode sabir.Channels("nats://host:4222"), or redis://, amqp://, mem://`}
	}
	config := engine.Config{Name: n.id, TLS: c.tls, Log: n.log}
	if m := n.mesh.Load(); m != nil {
		config.Secret = m.Secret()
	}
	store, err := engine.Open(ctx, address, config)
	if err != nil {
		return nil, n.channelError("connect to the broker", err)
	}
	c.store, c.declared = store, make(map[string]engine.Spec)
	return store, nil
}

// declare declares a channel at the broker before its first use.
func (n *Node) declare(ctx context.Context, spec engine.Spec) (engine.Store, error) {
	store, err := n.channelStore(ctx)
	if err != nil {
		return nil, err
	}
	n.channels.mu.Lock()
	known, ok := n.channels.declared[spec.Name]
	n.channels.mu.Unlock()
	if ok && known == spec {
		return store, nil
	}
	if err := store.Declare(ctx, spec); err != nil {
		return nil, n.channelError("declare channel "+spec.Name, err)
	}
	n.channels.mu.Lock()
	n.channels.declared[spec.Name] = spec
	n.channels.mu.Unlock()
	return store, nil
}

// closeChannels ends the connection to the broker.
func (n *Node) closeChannels() error {
	c := &n.channels
	c.mu.Lock()
	store := c.store
	c.store, c.closed = nil, true
	c.mu.Unlock()
	if store == nil {
		return nil
	}
	return store.Close()
}

// publishTimeout is the time that a publisher without a deadline waits for a broker that cannot be reached.
const publishTimeout = 10 * time.Second

// publishTo publishes messages, and again those for which the broker could not be reached. The error is the first one's.
func (n *Node) publishTo(ctx context.Context, spec engine.Spec, batch []*engine.Outgoing) error {
	if _, ok := ctx.Deadline(); !ok {
		limited, cancel := context.WithTimeout(ctx, publishTimeout)
		defer cancel()
		ctx = limited
	}
	what := "publish to " + spec.Name
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		store, err := n.declare(ctx, spec)
		if err == nil {
			store.Publish(ctx, spec.Name, batch)
			var left []*engine.Outgoing
			for _, m := range batch {
				switch {
				case errors.Is(m.Err, engine.ErrAway):
					left = append(left, m)
				case m.Err != nil:
					return n.channelError(what, m.Err)
				}
			}
			if batch = left; len(batch) == 0 {
				return nil
			}
			err = batch[0].Err
		} else {
			for _, m := range batch {
				m.Err = err
			}
		}
		if !errors.Is(err, engine.ErrAway) || !sleepWithin(ctx, pause/2+rand.N(pause)) {
			return n.channelError(what, err)
		}
	}
}

// sleepWithin sleeps; it returns false where ctx ended first, or will.
func sleepWithin(ctx context.Context, d time.Duration) bool {
	if end, ok := ctx.Deadline(); ok && time.Until(end) < d {
		return false
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// channelErrors maps the errors of engines to those of callers.
var channelErrors = []struct {
	is        error
	code      Code
	name      string
	retryable bool
}{
	{engine.ErrAway, CodeUnavailable, nameChannelAway, true},
	{engine.ErrFull, CodeResourceExhausted, nameChannelFull, true},
	{engine.ErrTooLarge, CodeResourceExhausted, nameMessageTooLarge, false},
	{engine.ErrNotOffered, CodeUnimplemented, nameNotOffered, false},
	{engine.ErrClosed, CodeUnavailable, nameServiceUnavailable, true},
}

// channelError makes the caller's error of an engine's.
func (n *Node) channelError(what string, err error) error {
	if e, ok := err.(*Error); ok {
		return e
	}
	for _, known := range channelErrors {
		if errors.Is(err, known.is) {
			return &Error{Code: known.code, Name: known.name, Node: n.id, Retryable: known.retryable, cause: err, Message: fmt.Sprintf("cannot %s: %v", what, err)}
		}
	}
	if errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return AsError(err)
	}
	return &Error{Code: CodeInternal, Name: nameChannelFailed, Node: n.id, cause: err, Message: fmt.Sprintf("cannot %s: %v", what, err)}
}
