package policy

import (
	"context"
	"errors"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/membership"
)

// circuits is the breakers of an action of other nodes: one for each of them, made by the first call that goes there. That of "" is
// for calls that reach no node, and for those over an upstream.
type circuits struct {
	policy   *Breaker
	action   *sabir.Action
	next     sabir.Handler
	troubled atomic.Int32 // breakers that are not closed
	byNode   atomic.Pointer[map[string]*circuit]
	mu       sync.Mutex // held to replace byNode
}

func newCircuits(b *Breaker, a *sabir.Action, next sabir.Handler) *circuits {
	s := &circuits{policy: b, action: a, next: next}
	s.byNode.Store(&map[string]*circuit{"": b.newCircuit(a, "", &s.troubled)})
	return s
}

// call makes one attempt. While all breakers are closed it costs no more than that of one.
func (s *circuits) call(ctx context.Context, r *sabir.Request) error {
	if s.troubled.Load() != 0 {
		return s.try(ctx, r)
	}
	err := error(sabir.ErrPanic) // unless next returns
	defer func() { s.count(r, err) }()
	err = s.next(ctx, r)
	return err
}

// count counts an attempt for the node that it went to. One that went nowhere, since no node offers the action, shows nothing of any
// node and took no time: a breaker that opened for it would only hide from callers what is wrong.
func (s *circuits) count(r *sabir.Request, err error) {
	if err != nil && errors.Is(err, membership.ErrNotOffered) {
		return
	}
	c := s.of(r.Node())
	switch {
	case breakerState(c.state.Load()) != closed: // begun before it opened, or sent there because there is no other
	case err == nil:
		c.succeeded()
	default:
		c.count(err)
	}
}

// of finds or makes the breaker of a node.
func (s *circuits) of(node string) *circuit {
	if c := (*s.byNode.Load())[node]; c != nil {
		return c
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	known := *s.byNode.Load()
	if c := known[node]; c != nil {
		return c
	}
	grown := maps.Clone(known)
	s.forget(grown, s.action.Nodes()) // nodes come and go under new names
	c := s.policy.newCircuit(s.action, node, &s.troubled)
	grown[node] = c
	s.byNode.Store(&grown)
	return c
}

// forget takes the breakers of nodes that have gone out of the map. It runs under mu.
func (s *circuits) forget(all map[string]*circuit, there []string) {
	for node, c := range all {
		if node == "" || slices.Contains(there, node) {
			continue
		}
		delete(all, node)
		c.mu.Lock()
		if breakerState(c.state.Load()) != closed && !c.gone {
			s.troubled.Add(-1)
		}
		c.gone = true
		c.mu.Unlock()
	}
}

// forgetGone is forget for a call that found all breakers closed where some are not.
func (s *circuits) forgetGone(there []string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	left := maps.Clone(*s.byNode.Load())
	s.forget(left, there)
	s.byNode.Store(&left)
}

// try is the way of a call while some breakers are not closed. It is a probe of one of them where that wants one; else it goes to the
// nodes whose breakers are closed.
func (s *circuits) try(ctx context.Context, r *sabir.Request) error {
	nodes := s.action.Nodes()
	if len(nodes) == 0 {
		return s.of("").try(ctx, r, s.next)
	}
	var open []string // the nodes that the call must not go to
	var refused error
	for i, node := range nodes {
		c := s.of(node)
		if breakerState(c.state.Load()) == closed {
			continue
		}
		round, wait := c.admit()
		if wait == nil {
			return s.probe(ctx, r, c, round, slices.Delete(slices.Clone(nodes), i, i+1))
		}
		open, refused = append(open, node), wait
	}
	switch len(open) {
	case len(nodes):
		return refused
	case 0:
		s.forgetGone(nodes)
	}
	r.Avoid(open)
	err := error(sabir.ErrPanic) // unless next returns
	defer func() {
		r.Avoid(nil)
		s.count(r, err)
	}()
	err = s.next(ctx, r)
	return err
}

// probe sends a call to the node of a breaker that wants a probe.
func (s *circuits) probe(ctx context.Context, r *sabir.Request, c *circuit, round int, others []string) (err error) {
	r.Avoid(others)
	failed, neither := true, false // where a middleware further in panics, or FailIf does
	defer func() {
		r.Avoid(nil)
		if r.Node() != c.node { // it has gone meanwhile
			failed, neither = false, true
		}
		c.settle(round, failed, neither)
	}()
	if err = s.next(ctx, r); err == nil {
		failed = false
		return nil
	}
	e := sabir.AsError(err)
	failed = s.policy.FailIf(e)
	neither = !failed && isNeither(e)
	return err
}
