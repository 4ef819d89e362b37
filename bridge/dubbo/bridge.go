package dubbo

import (
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
	node *sabir.Node

	ctx     context.Context // ends with the bridge
	cancel  context.CancelFunc
	running sync.WaitGroup
	serving inbound.Calls
	drops   inbound.Drops
	bodies  bodies

	providers []*provider
	open      atomic.Bool // calls are let in: see asGateway
	serves    serves
}

func newBridge(c config) *bridge { return &bridge{config: c} }

// Name implements sabir.Extension and gateway.Gateway.
func (b *bridge) Name() string { return "dubbo" }

// lookInterval is how often connections are looked after.
const lookInterval = time.Second

// Start makes the providers of references known.
func (b *bridge) Start(ctx context.Context, n *sabir.Node) error {
	b.node = n
	if err := errors.Join(b.problems...); err != nil {
		return err
	}
	for _, r := range b.references {
		p, err := newProvider(b, r)
		if err != nil {
			return err
		}
		b.providers = append(b.providers, p)
	}
	b.ctx, b.cancel = context.WithCancel(context.Background())
	var first sync.WaitGroup
	for _, p := range b.providers {
		first.Go(func() { p.connect(ctx) })
	}
	first.Wait()
	for _, p := range b.providers {
		b.running.Go(p.keep)
	}
	b.running.Go(b.look)
	return nil
}

// Stop closes the connections to providers, and all others that are left.
func (b *bridge) Stop(context.Context) error {
	if b.cancel == nil {
		return nil
	}
	b.cancel()
	b.serves.closeAll()
	for _, p := range b.providers {
		p.close()
		b.node.DropForeign(p)
	}
	b.running.Wait()
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
			for _, p := range b.providers {
				p.look(now)
			}
		case <-b.ctx.Done():
			return
		}
	}
}

// parseAddress reads an address of the protocol.
func parseAddress(option, text string) (*url.URL, error) {
	at, err := url.Parse(text)
	if err == nil && (at.Scheme != "dubbo" || at.Port() == "" || at.User != nil) {
		err = errors.New("it is none")
	}
	if err != nil {
		return nil, fmt.Errorf("%s: want an address such as dubbo://10.0.0.9:20880: %w", option, err)
	}
	return at, nil
}
