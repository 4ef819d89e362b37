package conformance

import (
	"bytes"
	"context"
	"net/url"
	"sync"

	"github.com/sabir-go/sabir/internal/transports"
	"github.com/sabir-go/sabir/transport"
)

// faultyBus is a bus with faults: it hands on to another, with the sender's name in front of each message, so that those
// between two nodes can be lost.
type faultyBus struct {
	inner transport.Bus

	mu    sync.Mutex
	users map[string]*faultyBroker // by node
	cut   map[path]bool
}

// faultyBusFor finds or makes the faulty form of a bus. It runs under faultyLock.
func faultyBusFor(inner transport.Bus, scheme string) *faultyBus {
	if known, ok := transports.Bus(faultyPrefix + scheme); ok {
		return known.(*faultyBus)
	}
	f := &faultyBus{inner: inner, users: make(map[string]*faultyBroker), cut: make(map[path]bool)}
	transport.RegisterBus(faultyPrefix+scheme, f)
	return f
}

// Connect connects to the inner bus.
func (f *faultyBus) Connect(ctx context.Context, at *url.URL, config transport.Config, events transport.BusEvents) (transport.Broker, error) {
	inner, err := f.inner.Connect(ctx, innerURL(at), config, events)
	if err != nil {
		return nil, err
	}
	made := &faultyBroker{Broker: inner, bus: f, node: config.Name}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.users[config.Name] = made
	return made, nil
}

// kill ends a node's connection to the broker: what the others see of a killed process.
func (f *faultyBus) kill(node string) {
	f.mu.Lock()
	user := f.users[node]
	delete(f.users, node)
	f.mu.Unlock()
	user.Broker.Close()
}

func (f *faultyBus) sever(a, b string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.cut[pathOf(a, b)] = true
}

func (f *faultyBus) mend(a, b string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	delete(f.cut, pathOf(a, b))
}

func (f *faultyBus) severed(a, b string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.cut[pathOf(a, b)]
}

// faultyBroker is a node's connection to the broker.
type faultyBroker struct {
	transport.Broker
	bus  *faultyBus
	node string
}

func (b *faultyBroker) Addr() string { return faultyPrefix + b.Broker.Addr() }

func (b *faultyBroker) MaxMessage() int { return b.Broker.MaxMessage() - 1 - len(b.node) }

func (b *faultyBroker) Publish(subject string, data []byte) error {
	return b.Broker.Publish(subject, b.signed(data))
}

func (b *faultyBroker) Probe(subject string, data []byte) error {
	return b.Broker.Probe(subject, b.signed(data))
}

func (b *faultyBroker) signed(data []byte) []byte {
	return append(append([]byte(b.node), 0), data...)
}

func (b *faultyBroker) Subscribe(ctx context.Context, subject string, deliver func([]byte)) error {
	return b.Broker.Subscribe(ctx, subject, func(data []byte) {
		from, data, ok := bytes.Cut(data, []byte{0})
		if ok && !b.bus.severed(string(from), b.node) {
			deliver(data)
		}
	})
}
