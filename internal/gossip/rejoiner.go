package gossip

import (
	"cmp"
	"context"
	"errors"
	"log/slog"
	"math/rand/v2"
	"net"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/backoff"
	"github.com/sabir-go/sabir/internal/membership"
)

// rejoiner exchanges full member lists with seeds and lost members. Seeds are contacted for ever: often at first, which
// repairs what lost packets left undone when many nodes start at once, and rarely later, which joins the halves of a cluster
// after a split. Members that failed are contacted until they are back, or for an hour.
type rejoiner struct {
	self   string // this node's address, which is no seed
	log    *slog.Logger
	lookup func(ctx context.Context, seed string) []string
	join   func([]string) (int, error)
	size   func() int // of the cluster, as far as it is known

	ctx    context.Context
	cancel context.CancelFunc
	ended  sync.WaitGroup
	wake   chan struct{}

	// memberlist calls addLost and removeFound with its own lock held, and join and size take that lock: neither of them is called under this one.
	lock     sync.Mutex
	targets  []*rejoinTarget
	visits   map[int]*seedVisit // under way, by placeholder port
	lastPort int
}

// rejoinTarget is a seed or a lost member to contact.
type rejoinTarget struct {
	member membership.Member // without an ID for a seed
	seed   bool

	due      time.Time
	delay    time.Duration // until the attempt after the next
	joining  bool
	reached  bool            // the last attempt got an answer
	failures backoff.Reasons // that are logged
	lostAt   time.Time
}

// seedVisit is a dial of one address of a target, under a port that is made up: memberlist's name for it.
type seedVisit struct {
	member  membership.Member
	failure error // why it could not be dialled
}

const (
	minUnreachedDelay = 250 * time.Millisecond // first delay after a failed attempt
	minReachedDelay   = time.Second            // first delay after a good one
	maxUnreachedDelay = 10 * time.Second       // longest delay of a seed that does not answer
	maxReachedDelay   = 30 * time.Second       // and of one that does
	maxLostDelay      = 15 * time.Second       // and of a member that failed
	// manyMembers is the size from which each node visits seeds the more rarely, the more nodes there are: each visit exchanges the list of all,
	// and one visit by any of them joins the halves of a cluster. So all nodes together visit a seed about twice a second.
	manyMembers = 64
	// largeCluster is the size from which the delays between visits of a seed grow by four instead of two: a visit exchanges more there, and one of
	// them leaves little to repair. By two, each of three hundred nodes sent 8.6 kB/s in the second minute after its start, by four 3.1 kB/s.
	largeCluster = 256
	forgetAfter  = time.Hour
	maxLost      = 1024
	maxAttempts  = 8 // at once
	maxVisits    = 8 // of the addresses of one seed at once
)

func newRejoiner(self string, lookup func(context.Context, string) []string, log *slog.Logger) *rejoiner {
	ctx, cancel := context.WithCancel(context.Background())
	return &rejoiner{self: self, log: log, lookup: lookup, visits: make(map[int]*seedVisit), ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), lastPort: nodePort}
}

func (s *rejoiner) start(join func([]string) (int, error), size func() int) {
	s.join, s.size = join, size
	s.ended.Go(s.run)
}

// setSeeds drops the seeds that are not in the list, and adds those that are new. The visit of one that is dropped may still be under way.
func (s *rejoiner) setSeeds(seeds []string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.targets = slices.DeleteFunc(s.targets, func(p *rejoinTarget) bool { return p.seed && !slices.Contains(seeds, p.member.Addr) })
	for _, url := range seeds {
		if url != s.self && !slices.ContainsFunc(s.targets, func(p *rejoinTarget) bool { return p.seed && p.member.Addr == url }) {
			s.add(&rejoinTarget{member: membership.Member{Addr: url}, seed: true, due: time.Now(), delay: minUnreachedDelay})
		}
	}
}

// stop begins no more attempts. Those under way end when the transport closes their connections; wait waits for them.
func (s *rejoiner) stop() { s.cancel() }

func (s *rejoiner) wait() { s.ended.Wait() }

// add adds a target. The caller holds the lock.
func (s *rejoiner) add(p *rejoinTarget) {
	s.targets = append(s.targets, p)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// addLost adds a member that failed.
func (s *rejoiner) addLost(m membership.Member) {
	if m.Addr == "" || m.ClientOnly {
		return // it has to come by itself
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.remove(m.ID)
	if len(s.targets) >= maxLost {
		i := slices.IndexFunc(s.targets, func(p *rejoinTarget) bool { return !p.seed })
		if i < 0 {
			return
		}
		s.targets = slices.Delete(s.targets, i, i+1)
	}
	now := time.Now()
	s.add(&rejoinTarget{member: m, due: now.Add(jitter(minReachedDelay)), delay: minReachedDelay, lostAt: now})
}

// removeFound is a member that is there again.
func (s *rejoiner) removeFound(id string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.remove(id)
}

func (s *rejoiner) remove(id string) {
	s.targets = slices.DeleteFunc(s.targets, func(p *rejoinTarget) bool { return !p.seed && p.member.ID == id })
}

// begin gives a visit a placeholder port that no other has.
func (s *rejoiner) begin(v *seedVisit) (port int) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for port = s.lastPort + 1; port > 65535 || s.visits[port] != nil; port++ {
		if port > 65535 {
			port = nodePort
		}
	}
	s.lastPort = port
	s.visits[port] = v
	return port
}

// member is the one to visit under that placeholder port.
func (s *rejoiner) member(port int) membership.Member {
	s.lock.Lock()
	defer s.lock.Unlock()
	if v := s.visits[port]; v != nil {
		return v.member
	}
	return membership.Member{}
}

// setFailure keeps why what is under that placeholder port could not be dialled. memberlist would make a text of the
// error, with the placeholder address in it.
func (s *rejoiner) setFailure(port int, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	if v := s.visits[port]; v != nil {
		v.failure = err
	}
}

func (s *rejoiner) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.ctx.Done():
			return
		}
		timer.Reset(s.startDue())
	}
}

// startDue starts the attempts that are due, and returns how long to sleep until the next.
func (s *rejoiner) startDue() time.Duration {
	s.lock.Lock()
	defer s.lock.Unlock()
	now := time.Now()
	s.targets = slices.DeleteFunc(s.targets, func(p *rejoinTarget) bool { return !p.seed && now.Sub(p.lostAt) > forgetAfter })
	attempts := 0
	for _, p := range s.targets {
		if p.joining {
			attempts++
		}
	}
	next := time.Hour
	for _, p := range s.targets {
		switch {
		case p.joining:
		case p.due.After(now):
			next = min(next, p.due.Sub(now))
		case attempts < maxAttempts: // else the end of an attempt wakes the loop
			attempts++
			p.joining = true
			s.ended.Go(func() { s.attempt(p) })
		}
	}
	return next
}

func (s *rejoiner) attempt(p *rejoinTarget) {
	began := time.Now()
	err := s.visitAll(p)
	size := s.size()
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ctx.Err() == nil && slices.Contains(s.targets, p) { // else it was dropped meanwhile
		s.scheduleNext(p, err, size, began)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// visitAll visits each address of a target. It returns nil where a node answered at one of them, and membership.ErrSelf where
// they all lead back to this node.
func (s *rejoiner) visitAll(p *rejoinTarget) error {
	members := []membership.Member{p.member}
	if p.seed {
		members = nil
		for _, addr := range s.lookup(s.ctx, p.member.Addr) {
			members = append(members, membership.Member{Addr: addr})
		}
	}
	results := make(chan error, len(members))
	begin := make(chan struct{}, maxVisits)
	for _, m := range members {
		begin <- struct{}{} // an address where nothing answers takes its time, and the others must not wait for it
		if s.ctx.Err() != nil {
			return s.ctx.Err()
		}
		s.ended.Go(func() {
			results <- s.visit(m)
			<-begin
		})
	}
	first, reached := membership.ErrSelf, false
	for range members {
		switch err := <-results; {
		case err == nil:
			reached = true
		case errors.Is(first, membership.ErrSelf):
			first = err
		}
	}
	if reached {
		return nil
	}
	return first
}

// visit visits one address.
func (s *rejoiner) visit(m membership.Member) error {
	v := &seedVisit{member: m}
	port := s.begin(v)
	_, err := s.join([]string{net.JoinHostPort(placeholderIP.String(), strconv.Itoa(port))})
	s.lock.Lock()
	defer s.lock.Unlock()
	delete(s.visits, port)
	return cmp.Or(v.failure, err)
}

// scheduleNext sets the time of the next attempt. A seed that leads back to this node is visited again like one that was reached: its
// name may come to stand for other nodes, and a load balancer leads elsewhere the next time. The caller holds the lock.
func (s *rejoiner) scheduleNext(p *rejoinTarget, err error, size int, began time.Time) {
	p.joining = false
	if errors.Is(err, membership.ErrLeaving) {
		p.due = time.Now().Add(maxUnreachedDelay)
		return
	}
	switch reached := err == nil || errors.Is(err, membership.ErrSelf); {
	case reached != p.reached:
		p.reached = reached
		p.delay = minUnreachedDelay
		if reached {
			p.delay = minReachedDelay
		}
	default:
		longest := maxUnreachedDelay
		switch {
		case !p.seed:
			longest = maxLostDelay
		case reached:
			longest = maxReachedDelay * time.Duration(max(1, size/manyMembers))
		}
		growth := time.Duration(2)
		if p.seed && reached && size >= largeCluster {
			growth = 4
		}
		p.delay = min(p.delay*growth, longest)
	}
	p.due = began.Add(jitter(p.delay)) // an attempt of which some addresses took long is no reason to look the name up later
	switch {
	case !p.seed:
	case !p.reached && p.failures.Due(err):
		s.log.Warn("a seed cannot be reached; trying again", "seed", p.member.Addr, "error", err)
	case p.reached && p.failures.End():
		s.log.Info("the seed is reached again", "seed", p.member.Addr)
	}
}

// jitter is between half of a delay and all of it, so that nodes which lost each other at one moment do not come back at
// one.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
