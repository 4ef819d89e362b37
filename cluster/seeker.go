package cluster

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
)

// seeker visits nodes: each visit is a full exchange of who knows whom. Seeds are visited for ever, often at first, so that
// what lost packets left undone when many nodes start at once is soon repaired, and rarely later, which joins the halves of
// a cluster after a split. Members that failed are visited until they are back, or for an hour.
type seeker struct {
	log  *slog.Logger
	join func([]string) (int, error)

	ctx    context.Context
	cancel context.CancelFunc
	ended  sync.WaitGroup
	wake   chan struct{}

	lock     sync.Mutex
	places   []*place
	lastPort int
}

// place is where to look for nodes.
type place struct {
	member Member // without an ID for a seed
	port   int    // made up, tells memberlist's addresses apart
	seed   bool

	due      time.Time
	delay    time.Duration // until the visit after the next
	visiting bool
	failure  error // why the visit under way cannot be made
	reached  bool  // the last visit got an answer
	warned   bool  // it is logged that it does not
	lostAt   time.Time
}

const (
	seekSoonest   = 250 * time.Millisecond // first delay after a failed visit
	seekFirst     = time.Second            // first delay after a good one
	seekUnreached = 10 * time.Second       // longest delay of a seed that does not answer
	seekReached   = 30 * time.Second       // and of one that does
	seekLost      = 15 * time.Second       // and of a member that failed
	forget        = time.Hour
	maxLost       = 1024
	maxVisits     = 8 // at once
)

func newSeeker(log *slog.Logger) *seeker {
	ctx, cancel := context.WithCancel(context.Background())
	return &seeker{log: log, ctx: ctx, cancel: cancel, wake: make(chan struct{}, 1), lastPort: nodePort}
}

func (s *seeker) start(join func([]string) (int, error), seeds []string, self string) {
	s.join = join
	s.lock.Lock()
	for _, url := range seeds {
		if url != self && !slices.ContainsFunc(s.places, func(p *place) bool { return p.member.Addr == url }) {
			s.add(&place{member: Member{Addr: url}, seed: true, due: time.Now(), delay: seekSoonest})
		}
	}
	s.lock.Unlock()
	s.ended.Go(s.run)
}

// stop begins no more visits. Those under way end with the transport, which closes their connections; wait waits for them.
func (s *seeker) stop() { s.cancel() }

func (s *seeker) wait() { s.ended.Wait() }

// add needs the lock.
func (s *seeker) add(p *place) {
	used := func(port int) bool {
		return slices.ContainsFunc(s.places, func(p *place) bool { return p.port == port })
	}
	for s.lastPort++; s.lastPort > 65535 || s.lastPort <= nodePort || used(s.lastPort); s.lastPort++ {
		if s.lastPort > 65535 {
			s.lastPort = nodePort
		}
	}
	p.port = s.lastPort
	s.places = append(s.places, p)
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// lost adds a member that failed.
func (s *seeker) lost(m Member) {
	if m.Addr == "" || m.Guest {
		return // it has to come by itself
	}
	s.lock.Lock()
	defer s.lock.Unlock()
	s.forget(m.ID)
	if len(s.places) >= maxLost {
		i := slices.IndexFunc(s.places, func(p *place) bool { return !p.seed })
		if i < 0 {
			return
		}
		s.places = slices.Delete(s.places, i, i+1)
	}
	now := time.Now()
	s.add(&place{member: m, due: now.Add(jitter(seekFirst)), delay: seekFirst, lostAt: now})
}

// found is a member that is there again.
func (s *seeker) found(id string) {
	s.lock.Lock()
	defer s.lock.Unlock()
	s.forget(id)
}

func (s *seeker) forget(id string) {
	s.places = slices.DeleteFunc(s.places, func(p *place) bool { return !p.seed && p.member.ID == id })
}

// member is who is to be visited at a made-up port.
func (s *seeker) member(port int) Member {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, p := range s.places {
		if p.port == port {
			return p.member
		}
	}
	return Member{}
}

// unreached notes why the place with this made-up port could not be dialled: memberlist makes a text of the error, with
// its made-up address in it.
func (s *seeker) unreached(port int, err error) {
	s.lock.Lock()
	defer s.lock.Unlock()
	for _, p := range s.places {
		if p.port == port {
			p.failure = err
		}
	}
}

func (s *seeker) run() {
	timer := time.NewTimer(0)
	defer timer.Stop()
	for {
		select {
		case <-timer.C:
		case <-s.wake:
		case <-s.ctx.Done():
			return
		}
		timer.Reset(s.visitDue())
	}
}

// visitDue begins the visits that are due, and says how long there is nothing to do.
func (s *seeker) visitDue() time.Duration {
	s.lock.Lock()
	defer s.lock.Unlock()
	now := time.Now()
	s.places = slices.DeleteFunc(s.places, func(p *place) bool { return !p.seed && now.Sub(p.lostAt) > forget })
	visits := 0
	for _, p := range s.places {
		if p.visiting {
			visits++
		}
	}
	next := time.Hour
	for _, p := range s.places {
		switch {
		case p.visiting:
		case p.due.After(now):
			next = min(next, p.due.Sub(now))
		case visits < maxVisits: // else the end of a visit wakes us
			visits++
			p.visiting, p.failure = true, nil
			s.ended.Go(func() { s.visit(p) })
		}
	}
	return next
}

func (s *seeker) visit(p *place) {
	_, err := s.join([]string{net.JoinHostPort(madeUpIP.String(), strconv.Itoa(p.port))})
	s.lock.Lock()
	defer s.lock.Unlock()
	if s.ctx.Err() == nil {
		s.visited(p, cmp.Or(p.failure, err))
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
}

// visited sets when to come again; it needs the lock.
func (s *seeker) visited(p *place, err error) {
	p.visiting = false
	switch reached := err == nil; {
	case errors.Is(err, ErrSelf):
		s.places = slices.DeleteFunc(s.places, func(other *place) bool { return other == p })
		return
	case reached != p.reached:
		p.reached = reached
		p.delay = seekSoonest
		if reached {
			p.delay = seekFirst
		}
	default:
		longest := seekUnreached
		switch {
		case !p.seed:
			longest = seekLost
		case reached:
			longest = seekReached
		}
		p.delay = min(p.delay*2, longest)
	}
	p.due = time.Now().Add(jitter(p.delay))
	if !p.seed || p.warned == !p.reached {
		return
	}
	p.warned = !p.reached
	if p.warned {
		s.log.Warn("a seed cannot be reached; trying again", "seed", p.member.Addr, "error", err)
	} else {
		s.log.Info("the seed is reached again", "seed", p.member.Addr)
	}
}

// jitter is half to all of a delay, so that nodes which lost each other at one moment do not come back at one.
func jitter(d time.Duration) time.Duration { return d/2 + rand.N(d/2+1) }
