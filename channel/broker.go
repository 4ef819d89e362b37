package channel

import (
	"context"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/engine"
	_ "github.com/sabir-go/sabir/internal/engine/memory" // mem://
	"github.com/sabir-go/sabir/internal/everynode"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/vouch"
)

// Broker sets the broker that keeps the node's channels: "nats://10.0.0.5:4222" (JetStream), "redis://10.0.0.5:6379"
// (Streams), "amqp://user:password@10.0.0.5:5672" (RabbitMQ), or "mem://" for tests and the first ten minutes, which
// keeps them in this process and loses them with it. The program must import the broker:
//
//	import _ "github.com/sabir-go/sabir/broker/nats" // or redis, amqp
//
// For rediss://, amqps:// and nats:// with TLS, one tls.Config may be given, such as for its certificate authorities; the default trusts
// those of the system.
//
// By default the broker of sabir.Join keeps them, where there is one that has an engine for channels. A node with a
// Broker does not start while that cannot be reached; later it connects again by itself. It is given once: a node with two
// does not start.
//
// Every client that can write to the broker can write to its channels: it is the broker's users and rights that keep strangers
// out.
func Broker(address string, config ...*tls.Config) sabir.NodeOption {
	s := &setting{address: address, where: option.Caller()}
	if len(config) > 0 {
		s.tls = config[0]
	}
	return sabir.WithExtension(s)
}

// setting holds the arguments of Broker. As an extension of the node it starts after the node's broker, and is its setting then.
type setting struct {
	address string
	tls     *tls.Config
	where   option.Site
}

func (s *setting) Name() string { return "channel.Broker" }

func (s *setting) Start(_ context.Context, n *sabir.Node) error {
	b, err := brokerOf(n, s.Name())
	if err != nil {
		return err
	}
	if err := b.given.Again(s.Name(), s.where); err != nil {
		return b.failure(errBadOption, "%w", err)
	}
	b.named = s
	return nil
}

func (s *setting) Stop(context.Context) error { return nil }

func init() { everynode.Extensions = append(everynode.Extensions, func() any { return newBroker() }) }

func newBroker() *broker {
	return &broker{connecting: make(chan struct{}, 1), aside: make(chan struct{}, maxAside), made: time.Now()}
}

// broker is a node's connection to the broker of its channels, made when it is first needed. It is an extension of each node.
type broker struct {
	node  *sabir.Node
	given option.Given
	named *setting // of the option Broker; nil without. It is set before the node joins its cluster

	connecting chan struct{} // has a value while one of those that need the connection makes it; the others wait for it as their contexts let them
	aside      chan struct{} // has a value for each attempt to publish that a goroutine makes
	made       time.Time
	taken      atomic.Int64 // when the broker took messages last, in nanoseconds since made; 0 where an attempt has failed since

	mu       sync.Mutex // never held while something is waited for
	store    engine.Store
	declared map[string]engine.Spec
	holdDead map[string]bool // names of the declared channels that hold dead letters, whatever else they are declared as
	begun    bool            // the node has joined its cluster: which broker it is, and its key, are known from then on
	closed   bool

	unvouched sync.Once // the log says once that a principal was left out

	handlerLock handlerLock // of the handlers of all consumers
}

// brokers holds the broker of each node, a *sabir.Node, from its start to its stop.
var brokers sync.Map

// brokerOf returns the broker of the node that a caller calls through. name is the caller's target, for the error.
func brokerOf(from sabir.Caller, name string) (*broker, error) {
	n, err := sabir.NodeOf(from, name)
	if err != nil {
		return nil, err
	}
	if b, ok := brokers.Load(n); ok {
		return b.(*broker), nil
	}
	return nil, (&broker{node: n}).notRunning()
}

// notRunning returns the error of a node that does not run.
func (b *broker) notRunning() error {
	return b.failure(sabir.ErrServiceUnavailable, "node %s is %s and has no channels", b.node.ID(), b.node.State())
}

// Name identifies the extension.
func (b *broker) Name() string { return "channels" }

// Start makes the broker known as that of its node. The node has not joined its cluster, so nothing is connected yet.
func (b *broker) Start(_ context.Context, n *sabir.Node) error {
	b.node = n
	brokers.Store(n, b)
	return nil
}

// Stop ends the connection.
func (b *broker) Stop(context.Context) error {
	brokers.Delete(b.node)
	b.mu.Lock()
	store := b.store
	b.store, b.closed = nil, true
	b.mu.Unlock()
	if store == nil {
		return nil
	}
	return store.Close()
}

// Ready asks the broker whether it takes messages, if the node has used it.
func (b *broker) Ready(ctx context.Context) error {
	store, err := b.connected()
	switch {
	case err != nil:
		return err
	case store == nil && len(b.connecting) > 0:
		return b.failure(ErrChannelUnreachable, "the node is connecting to the broker of its channels")
	case store == nil:
		return nil
	}
	if err := store.Check(ctx); err != nil {
		return b.callerError("publish to the broker of channels at "+redacted(b.address()), err)
	}
	return nil
}

// address returns the address of the broker; "" for none.
func (b *broker) address() string {
	if b.named != nil && b.named.address != "" {
		return b.named.address
	}
	joined := b.node.JoinAddress()
	if joined == "" || !engine.Offered(joined) {
		return ""
	}
	at, err := url.Parse(joined)
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

// connect connects to the broker that the option names, so that a node without its broker does not start.
func (b *broker) connect(ctx context.Context) error {
	if b.named == nil || b.named.address == "" {
		return nil
	}
	_, err := b.connection(ctx)
	return err
}

// connection returns the connection to the broker, which it makes when there is none.
func (b *broker) connection(ctx context.Context) (engine.Store, error) {
	if store, err := b.connected(); store != nil || err != nil {
		return store, err
	}
	select {
	case b.connecting <- struct{}{}:
		defer func() { <-b.connecting }()
	case <-ctx.Done():
		return nil, b.callerError("connect to the broker", ctx.Err())
	}
	if store, err := b.connected(); store != nil || err != nil { // another has made it
		return store, err
	}
	address := b.address()
	if address == "" {
		return nil, b.failure(errNoChannels,
			`node %s has no broker for channels: give NewNode channel.Broker("nats://host:4222"), or redis://, amqp://, mem://`, b.node.ID())
	}
	config := engine.Config{Name: b.node.ID(), Log: b.node.Log(), Secret: b.node.ClusterSecret()}
	if b.named != nil {
		config.TLS = b.named.tls
	}
	store, err := engine.Open(ctx, address, config)
	if err != nil {
		return nil, b.callerError("connect to the broker", err)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return nil, errors.Join(b.notRunning(), store.Close())
	}
	b.store, b.declared, b.holdDead = store, make(map[string]engine.Spec), make(map[string]bool)
	return store, nil
}

// connected returns the connection; nil where there is none yet.
func (b *broker) connected() (engine.Store, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if !b.begun || b.closed {
		return nil, b.notRunning()
	}
	return b.store, nil
}

// declare declares a channel at the broker before its first use.
func (b *broker) declare(ctx context.Context, spec engine.Spec) (engine.Store, error) {
	store, err := b.connection(ctx)
	if err != nil {
		return nil, err
	}
	b.mu.Lock()
	known, ok := b.declared[spec.Name]
	b.mu.Unlock()
	if ok && known == spec {
		return store, nil
	}
	if err := store.Declare(ctx, spec); err != nil {
		return nil, b.callerError("declare channel "+spec.Name, err)
	}
	b.mu.Lock()
	b.declared[spec.Name] = spec
	if spec.DeadLetters {
		b.holdDead[spec.Name] = true
	}
	b.mu.Unlock()
	return store, nil
}

// notReadyLimit is the time for which a publisher tries again at a broker that answers, and takes nothing now: longer than a failover
// takes that goes well.
const notReadyLimit = 2 * time.Second

// publishTimeout is the time that a publisher without a deadline waits for a broker that cannot be reached.
const publishTimeout = 10 * time.Second

// publish publishes messages, and again those for which the broker could not be reached. The error is the first one's.
func (b *broker) publish(ctx context.Context, spec engine.Spec, batch []*engine.Outgoing) error {
	if _, ok := ctx.Deadline(); !ok {
		limited, cancel := context.WithTimeout(ctx, publishTimeout)
		defer cancel()
		ctx = limited
	}
	self := vouch.Of(b.node)
	for _, m := range batch {
		m.Metadata = self.Principal(m.Metadata, []byte(spec.Name), []byte(m.ID), signed(&m.Message))
	}
	what, begun := "publish to "+spec.Name, time.Now()
	for pause := 20 * time.Millisecond; ; pause = min(2*pause, 500*time.Millisecond) {
		err := b.attempt(ctx, spec, batch)
		if err == nil {
			var left []*engine.Outgoing
			for _, m := range batch {
				switch {
				case errors.Is(m.Err, engine.ErrUnreachable):
					left = append(left, m)
				case m.Err != nil:
					return b.callerError(what, m.Err)
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
		if errors.Is(err, engine.ErrNotReady) && time.Since(begun) > notReadyLimit {
			return b.callerError(what, err)
		}
		if !errors.Is(err, engine.ErrUnreachable) || !sleepWithin(ctx, pause/2+rand.N(pause)) {
			return b.callerError(what, err)
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
