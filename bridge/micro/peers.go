package micro

import (
	"fmt"
	"net"
	"slices"
	"sync"
	"time"
)

// peers are the nodes of services of go-micro, by id.
type peers struct {
	applying sync.Mutex // one change at a time reaches the node; before mu
	mu       sync.Mutex
	known    map[string]*peer
}

const (
	maxPeers = 4096
	// probeInterval is how often each peer is dialed, to see whether it is there: go-micro's registries do not notice a process that was killed.
	probeInterval = 2 * time.Second
	// forgetAfter is the time after which a peer that cannot be reached, and that the registry does not name, is forgotten.
	forgetAfter = 30 * time.Second
	maxProbes   = 64 // at once
)

func (p *peers) list() (list []*peer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, one := range p.known {
		list = append(list, one)
	}
	return list
}

// putPeer adds a node that a registry names, or takes what has changed of one.
func (b *bridge) putPeer(r *record) {
	b.peers.mu.Lock()
	old := b.peers.known[r.id]
	if old != nil && old.record.same(r) {
		old.seen = time.Now()
		b.peers.mu.Unlock()
		return
	}
	if old == nil && len(b.peers.known) >= maxPeers {
		b.peers.mu.Unlock()
		b.drop("a node of go-micro was refused", r.id, fmt.Errorf("%d nodes are known, which is all there may be", maxPeers))
		return
	}
	p := newPeer(b, r)
	b.peers.known[r.id] = p
	stays := old != nil && old.up && old.record.address == r.address
	if stays {
		p.gone()
		p.ctx, p.gone, old.up = old.ctx, old.gone, false
	}
	b.peers.mu.Unlock()
	if stays {
		close(p.looked)
		b.setUp(p, true)
		return
	}
	if old != nil {
		b.setUp(old, false)
		old.gone()
	}
	b.running.Go(func() {
		defer close(p.looked)
		b.look(p)
	})
}

// dropPeer forgets a node.
func (b *bridge) dropPeer(p *peer) {
	b.peers.mu.Lock()
	if b.peers.known[p.record.id] == p {
		delete(b.peers.known, p.record.id)
	}
	b.peers.mu.Unlock()
	b.setUp(p, false)
	p.gone()
}

func (b *bridge) dropPeers() {
	for _, p := range b.peers.list() {
		b.dropPeer(p)
	}
}

// dropID forgets a node that has left the registry.
func (b *bridge) dropID(id string) {
	b.peers.mu.Lock()
	p := b.peers.known[id]
	b.peers.mu.Unlock()
	if p != nil && !p.record.static {
		b.dropPeer(p)
	}
}

// setUp makes a node callable, or no more.
func (b *bridge) setUp(p *peer, up bool) {
	b.peers.applying.Lock()
	defer b.peers.applying.Unlock()
	b.peers.mu.Lock()
	if up = up && b.peers.known[p.record.id] == p; up {
		p.seen = time.Now()
	}
	changed := p.up != up
	p.up = up
	b.peers.mu.Unlock()
	switch {
	case !changed:
	case up:
		if err := b.node.SetForeign(p, p.offer); err != nil {
			b.node.Log().Warn("what a service of go-micro offers is refused", "node", b.node.ID(), "peer", p.record.id, "error", err)
		}
	default:
		b.node.DropForeign(p)
		b.node.Log().Info("a node of go-micro is not there any more", "node", b.node.ID(), "peer", p.record.id)
	}
}

// look dials a node. A connection shows that its process is there, or the kernel for one that was stopped.
func (b *bridge) look(p *peer) {
	dialer := net.Dialer{Timeout: dialLimit}
	c, err := dialer.DialContext(b.ctx, "tcp", p.record.address)
	if err == nil {
		c.Close()
	}
	if b.ctx.Err() == nil {
		b.setUp(p, err == nil)
	}
}

// probe looks after the nodes.
func (b *bridge) probe() {
	ticker := time.NewTicker(probeInterval)
	defer ticker.Stop()
	free := make(chan struct{}, maxProbes)
	for {
		select {
		case <-ticker.C:
		case <-b.ctx.Done():
			return
		}
		var round sync.WaitGroup
		for _, p := range b.peers.list() {
			free <- struct{}{}
			round.Go(func() {
				defer func() { <-free }()
				b.look(p)
			})
		}
		round.Wait()
		b.forget()
	}
}

// forget drops the nodes that were not there for long.
func (b *bridge) forget() {
	now := time.Now()
	gone := slices.DeleteFunc(b.peers.list(), func(p *peer) bool {
		b.peers.mu.Lock()
		defer b.peers.mu.Unlock()
		return p.up || p.record.static || p.record.listed || now.Sub(p.seen) < forgetAfter
	})
	for _, p := range gone {
		b.forgotten(p)
		b.dropPeer(p)
	}
}
