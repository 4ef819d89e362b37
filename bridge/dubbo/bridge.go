package dubbo

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/url"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/inbound"
)

// bridge is a node as a provider and a consumer. As an extension it knows providers before the services start, so that these can call them; it
// lets calls in from the start of its gateway until that stops.
type bridge struct {
	config
	problem error // of the settings
	node    *sabir.Node

	ctx     context.Context // ends with the bridge
	cancel  context.CancelFunc
	running sync.WaitGroup
	serving inbound.Calls
	drops   inbound.Drops
	bodies  bodies

	qos       *qos // nil for none
	mu        sync.Mutex
	providers map[*provider]struct{}
	discovery *discovery
	open      atomic.Bool // calls are let in: see asGateway
	serves    serves
	entered   registration
	metadata  atomic.Pointer[metadataInfo] // what is registered; nil for nothing
}

func newBridge(settings Config) *bridge {
	c, err := newConfig(settings)
	return &bridge{config: c, problem: err}
}

// Name implements sabir.Extension and gateway.Gateway.
func (b *bridge) Name() string { return "dubbo" }

// lookInterval is how often connections are looked after.
const lookInterval = time.Second

// Start makes the providers of references known.
func (b *bridge) Start(ctx context.Context, n *sabir.Node) error {
	b.node = n
	if b.problem != nil {
		return b.problem
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	b.discovery = newDiscovery(b)
	var known []*provider
	for _, r := range b.references {
		p, err := newReference(b, r)
		if err != nil {
			return err
		}
		b.discovery.references[p.address] = true
		known = append(known, p)
	}
	if b.QoS != "" {
		q, err := listenQoS(ctx, b)
		if err != nil {
			b.cancel()
			return err
		}
		b.qos = q
		q.start()
	}
	for _, p := range known {
		b.add(p)
	}
	b.discovery.start()
	b.running.Go(b.look)
	b.waitForProviders(ctx)
	return nil
}

// waitForProviders gives providers some time to be there for what the services call when they start.
func (b *bridge) waitForProviders(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, dialLimit)
	defer cancel()
	if b.discovery.wait(ctx) != nil {
		return
	}
	for _, p := range b.list() {
		select {
		case <-p.tried:
		case <-ctx.Done():
			return
		}
	}
}

// add makes a provider known and keeps a connection to it.
func (b *bridge) add(p *provider) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.ctx.Err() != nil { // Stop has closed all
		return
	}
	if b.providers == nil {
		b.providers = make(map[*provider]struct{})
	}
	b.providers[p] = struct{}{}
	b.running.Go(p.keep)
}

// list returns the providers, with those that have left and have calls in flight.
func (b *bridge) list() (list []*provider) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for p := range b.providers {
		list = append(list, p)
	}
	return list
}

// applicationName names the caller's application to providers.
func (b *bridge) applicationName() string { return cmp.Or(b.Application, b.node.ID()) }

// Stop closes the connections to providers, and all others that are left.
func (b *bridge) Stop(context.Context) error {
	if b.cancel == nil {
		return nil
	}
	b.cancel()
	b.serves.closeAll()
	if b.qos != nil {
		b.qos.close()
	}
	for _, p := range b.list() {
		p.close()
	}
	b.running.Wait()
	b.serving.Close()
	for _, p := range b.list() {
		b.node.DropForeign(p)
	}
	return nil
}

// look looks after connections until the bridge ends.
func (b *bridge) look() {
	ticks := time.NewTicker(min(lookInterval, b.heartbeat/2))
	defer ticks.Stop()
	for {
		select {
		case now := <-ticks.C:
			for _, c := range b.serves.list() {
				c.look(now, b.heartbeat)
			}
			for _, t := range b.serves.servers() {
				t.look(now)
			}
			for _, p := range b.list() {
				if !p.look(now) {
					b.mu.Lock()
					delete(b.providers, p)
					b.mu.Unlock()
				}
			}
		case <-b.ctx.Done():
			return
		}
	}
}

// The schemes of addresses.
const (
	schemeDubbo  = "dubbo"
	schemeTriple = "tri"
)

// parseAddress reads an address of one of the protocols.
func parseAddress(option, text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err == nil && (at.Scheme != schemeDubbo && at.Scheme != schemeTriple || at.Port() == "" || at.User != nil) {
		err = errors.New("it is none")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: want an address such as dubbo://10.0.0.9:20880 or tri://10.0.0.9:50051: %w", option, err)
	}
	return at, nil
}
