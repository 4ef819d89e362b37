// Package gossip is the membership of clusters whose nodes dial each other's addresses. Importing it registers it for
// package cluster; all transports of addresses, such as transport/tcp, import it, so that a program rarely does. Nodes that meet
// at a broker, or that are listed one by one, do without it and without its library.
package gossip

import (
	"context"
	"errors"
	"fmt"
	"log"
	"log/slog"
	"math/rand/v2"
	"net"
	"sync"
	"time"

	"github.com/hashicorp/memberlist"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/internal/membership"
)

func init() {
	membership.RegisterGossip(func(carrier membership.Carrier, seeds []string, config membership.GossipConfig) membership.Gossip {
		return New(carrier, seeds, config)
	})
}

const (
	defaultProbeInterval = 400 * time.Millisecond
	packetSize           = 4 << 10
	packetQueue          = 1024
	exchangeTimeout      = 5 * time.Second
	leaveTimeout         = 2 * time.Second
)

// Membership is a [membership.Gossip]: a membership by SWIM gossip (Das, Gupta and Motivala 2002, "SWIM: Scalable Weakly-consistent Infection-style
// Process Group Membership Protocol", with the Lifeguard extensions of Dadgar, Phillips and Currey 2018), as
// hashicorp/memberlist does it. It needs no ports of its own: a [membership.Carrier] carries it.
//
// A node that was failed wrongly, because it or the network stalled, comes back by itself, and so do the halves of a
// cluster that was split: seeds are contacted again for ever, failed members for an hour.
type Membership struct {
	carrier membership.Carrier
	config  membership.GossipConfig
	log     *slog.Logger

	lock    sync.Mutex // one Start or Stop at a time
	running *gossipRun
	used    bool
	current sync.RWMutex // guards running for the other methods, and seeds
	seeds   []string
}

// New makes a membership that joins by way of seeds, the URLs of some nodes of the cluster. None is fine for the first
// node; this node's own URL may be among them.
func New(carrier membership.Carrier, seeds []string, config membership.GossipConfig) *Membership {
	g := &Membership{carrier: carrier, config: config, log: config.Log, seeds: seeds}
	if g.log == nil {
		g.log = slog.Default()
	}
	if g.config.ProbeInterval <= 0 {
		g.config.ProbeInterval = defaultProbeInterval
	}
	return g
}

// gossipRun is a Membership from Start to Stop.
type gossipRun struct {
	self      membership.Member
	list      *memberlist.Memberlist
	delegate  *gossipDelegate
	roster    *membership.Roster
	transport *gossipTransport
	rejoiner  *rejoiner
}

// Start joins; see [membership.Membership]. It fails for an id, an address or a cluster name that cannot be sent to others:
// an address takes at most about 450 bytes.
func (g *Membership) Start(ctx context.Context, self membership.Member, watch func(membership.Change)) error {
	g.lock.Lock()
	defer g.lock.Unlock()
	switch {
	case g.used:
		return errors.New("this membership was started before; make a new one")
	case watch == nil:
		return errors.New("Start was given no watch function")
	case ctx.Err() != nil:
		return ctx.Err()
	case len(g.config.Cluster) > memberlist.LabelMaxSize:
		return fmt.Errorf("the cluster name %.40q… has %d bytes; %d is the limit", g.config.Cluster, len(g.config.Cluster), memberlist.LabelMaxSize)
	}
	for _, seed := range g.wantedSeeds() {
		if err := identity.CheckURL(seed); err != nil {
			return fmt.Errorf("a seed: %w", err)
		}
	}
	for self.Instance == 0 {
		self.Instance = rand.Uint64()
	}
	meta, err := encodeMeta(self)
	if err != nil {
		return err
	}
	run, err := g.start(self, meta, watch)
	if err != nil {
		return fmt.Errorf("starting gossip: %w", err)
	}
	g.used = true
	g.current.Lock()
	g.running = run
	run.rejoiner.setSeeds(g.seeds)
	g.current.Unlock()
	return nil
}

func (g *Membership) start(self membership.Member, meta []byte, watch func(membership.Change)) (*gossipRun, error) {
	run := &gossipRun{self: self, roster: membership.NewRoster(watch)}
	run.rejoiner = newRejoiner(self.Addr, g.carrier.Lookup, g.log)
	run.delegate = newGossipDelegate(self, meta, run.roster, run.rejoiner, g.log)
	run.transport = newGossipTransport(g.carrier, run.delegate, run.rejoiner, g.config.ProbeInterval)
	list, err := memberlist.Create(g.listConfig(run))
	if err != nil {
		run.transport.close()
		run.roster.Stop()
		return nil, err
	}
	run.list = list
	run.rejoiner.start(list.Join, list.NumMembers)
	return run, nil
}

// listConfig starts from memberlist's values for local networks. See membership.GossipConfig.ProbeInterval for what comes out.
func (g *Membership) listConfig(run *gossipRun) *memberlist.Config {
	interval := g.config.ProbeInterval
	c := memberlist.DefaultLANConfig()
	c.Name = run.self.ID
	c.Label = g.config.Cluster
	c.Transport = run.transport
	c.Logger = log.New(gossipLog{g.log, time.Now()}, "", 0)
	c.Delegate, c.Events, c.Alive, c.Ping = run.delegate, run.delegate, run.delegate, run.delegate

	c.ProbeInterval = interval
	// The "no answer" of a node that was asked to ask takes two of these to arrive: leave it time within the interval, or
	// every failed probe counts against this node's own health and slows the next.
	c.ProbeTimeout = interval * 2 / 5
	// 3 intervals to deny a suspicion once another node has confirmed it; 6 without, for then it may be this node that is
	// slow or has no network.
	c.SuspicionMult = 3
	c.SuspicionMaxTimeoutMult = 2
	c.AwarenessMaxMultiplier = 4 // a node that finds itself slow asks up to 4 times less often
	c.GossipInterval = interval / 5
	c.GossipToTheDeadTime = 60 * interval // how long a node that was wrongly held for failed gets news, to deny it
	c.PushPullInterval = 30 * interval    // a full exchange with one node; repairs what lost packets left undone
	c.TCPTimeout = exchangeTimeout
	c.UDPBufferSize = packetSize     // packets go over links, which have no MTU
	c.EnableCompression = false      // LZW of small packets costs more than it saves
	c.QueueCheckInterval = time.Hour // feeds a metric that is not read
	return c
}

// Members lists the other nodes by id; see [membership.Membership].
func (g *Membership) Members() []membership.Member {
	if run := g.run(); run != nil {
		return run.roster.Members()
	}
	return nil
}

// Failed drops a member until it answers a probe or sends a packet; see [membership.Membership].
func (g *Membership) Failed(id string) {
	if run := g.run(); run != nil {
		run.delegate.markUnreachable(id)
	}
}

// Packet takes a packet that another node sent with Carrier.Send. It copies data and does not block; it drops packets that
// arrive faster than they can be handled.
func (g *Membership) Packet(from string, data []byte) {
	if run := g.run(); run != nil {
		run.delegate.markAlive(from)
		run.transport.packet(from, data)
	}
}

// Conn takes over a connection that another node made by Carrier.Dial. It does not block.
func (g *Membership) Conn(conn net.Conn) {
	if run := g.run(); run != nil {
		run.transport.conn(conn)
	} else {
		_ = conn.Close() // it is unused
	}
}

// SetSeeds replaces the seeds; see [membership.Gossip].
func (g *Membership) SetSeeds(seeds []string) {
	g.current.Lock()
	defer g.current.Unlock()
	g.seeds = seeds
	if g.running != nil {
		g.running.rejoiner.setSeeds(seeds)
	}
}

func (g *Membership) wantedSeeds() []string {
	g.current.RLock()
	defer g.current.RUnlock()
	return g.seeds
}

// Stop leaves; see [membership.Membership]. It takes some hundred milliseconds, at most 2 s, where other nodes are known. A probe that
// is under way ends within 4 probe intervals after Stop.
func (g *Membership) Stop(ctx context.Context) error {
	g.lock.Lock()
	defer g.lock.Unlock()
	g.used = true // a membership stopped before its start is not started any more
	run := g.run()
	if run == nil {
		return nil
	}
	run.rejoiner.stop()
	err := run.leave(ctx, g.log)
	g.current.Lock()
	g.running = nil
	g.current.Unlock()
	err = errors.Join(err, run.list.Shutdown()) // closes the transport too
	run.rejoiner.wait()
	run.roster.Stop()
	return err
}

func (g *Membership) run() *gossipRun {
	g.current.RLock()
	defer g.current.RUnlock()
	return g.running
}

// leave sends a goodbye to each member directly, so that they report Left, and then spreads it as gossip, so that nodes that
// missed the goodbye do not probe this one.
func (run *gossipRun) leave(ctx context.Context, log *slog.Logger) error {
	others := run.roster.Members()
	if len(others) == 0 {
		return nil
	}
	if err := ctx.Err(); err != nil {
		return fmt.Errorf("the other nodes do not know that this one leaves: %w", err)
	}
	goodbye := encodeGoodbye(run.self)
	for _, node := range run.list.Members() {
		if node.Name != run.self.ID {
			_ = run.list.SendBestEffort(node, goodbye) // nodes that it does not reach learn it by gossip
		}
	}
	left := make(chan error, 1)
	go func() { left <- run.list.Leave(leaveTimeout) }()
	select {
	case err := <-left:
		if err != nil {
			// It waits for others to pass the news on, in vain where the last of them leave at the same moment. The goodbyes are
			// sent, and nodes that they did not reach notice soon.
			log.Debug("the news that this node leaves was not passed on", "node", run.self.ID, "error", err)
		}
		return nil
	case <-ctx.Done():
		<-left // within leaveTimeout; memberlist panics where it is told to leave after its end
		return fmt.Errorf("not all nodes know that this one leaves: %w", ctx.Err())
	}
}
