package config

import (
	"context"
	"fmt"
	"maps"
	"math"
	"slices"
	"sync"
	"sync/atomic"
	"weak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/policy"
)

// policies puts those of the settings around the actions of a node, and others in their place when the settings change. An action whose policies
// stay the same keeps what they remember, such as the state of a breaker.
type policies struct {
	mu        sync.Mutex
	byPattern map[string]Policy
	around    []weak.Pointer[guarded] // actions come and go with the nodes that offer them
	live      int                     // of those in around when they were last looked through
}

// guarded is one action with its policies.
type guarded struct {
	action string
	layer  layer
	rewrap func(func(*sabir.Action, sabir.Handler) sabir.Handler) (sabir.Handler, error)
	in     []patternPolicy
	chain  atomic.Pointer[sabir.Handler]
}

type patternPolicy struct {
	pattern string
	Policy
}

// layer is the part of a middleware that wraps calls of one kind.
type layer func(sabir.Middleware) func(*sabir.Action, sabir.Handler) sabir.Handler

func (p *policies) middleware() sabir.Middleware {
	around := func(l layer) func(*sabir.Action, sabir.Handler) sabir.Handler {
		return func(a *sabir.Action, next sabir.Handler) sabir.Handler { return p.guard(a, next, l) }
	}
	return sabir.Middleware{Name: "policies of the settings",
		Local:  around(func(m sabir.Middleware) func(*sabir.Action, sabir.Handler) sabir.Handler { return m.Local }),
		Remote: around(func(m sabir.Middleware) func(*sabir.Action, sabir.Handler) sabir.Handler { return m.Remote }),
	}
}

func (p *policies) guard(a *sabir.Action, next sabir.Handler, l layer) sabir.Handler {
	p.mu.Lock()
	defer p.mu.Unlock()
	g := &guarded{action: a.Name, layer: l, rewrap: a.Rewrap(next), in: taking(p.byPattern, a.Name)}
	chain := wrapIn(g.in, l)(a, next)
	g.chain.Store(&chain)
	if len(p.around) > 2*p.live+64 {
		p.sweep()
	}
	p.around = append(p.around, weak.Make(g))
	return func(ctx context.Context, r *sabir.Request) error { return (*g.chain.Load())(ctx, r) }
}

// sweep forgets the actions that are gone, and returns the others.
func (p *policies) sweep() (there []*guarded) {
	p.around = slices.DeleteFunc(p.around, func(one weak.Pointer[guarded]) bool {
		g := one.Value()
		if g != nil {
			there = append(there, g)
		}
		return g == nil
	})
	p.live = len(there)
	return there
}

// change puts other policies around the actions, or none at all where one of them cannot have its own.
func (p *policies) change(byPattern map[string]Policy) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	type next struct {
		*guarded
		in    []patternPolicy
		chain sabir.Handler
	}
	var all []next
	for _, g := range p.sweep() {
		in := taking(byPattern, g.action)
		if slices.Equal(in, g.in) {
			continue
		}
		chain, err := g.rewrap(wrapIn(in, g.layer))
		if err != nil {
			return fmt.Errorf("the policies of %s: %w", g.action, err)
		}
		all = append(all, next{g, in, chain})
	}
	for _, one := range all {
		one.guarded.in = one.in
		one.guarded.chain.Store(&one.chain)
	}
	p.byPattern = byPattern
	return nil
}

// taking lists the policies whose patterns take the action, by pattern.
func taking(byPattern map[string]Policy, action string) (in []patternPolicy) {
	for _, pattern := range slices.Sorted(maps.Keys(byPattern)) {
		if names.Match(pattern, action) {
			in = append(in, patternPolicy{pattern, byPattern[pattern]})
		}
	}
	return in
}

// kinds are the policies of a pattern one by one, in the order of policy.Stack.
var kinds = []func(p Policy) policy.Stack{
	func(p Policy) (s policy.Stack) {
		if p.Rate > 0 {
			s.RateLimit = &policy.RateLimit{Rate: p.Rate, Burst: int(max(1, math.Ceil(p.Rate)))}
		}
		return s
	},
	func(p Policy) (s policy.Stack) {
		if p.Attempts > 0 {
			s.Retry = &policy.Retry{Attempts: p.Attempts}
		}
		return s
	},
	func(p Policy) (s policy.Stack) {
		if p.Breaker {
			s.Breaker = &policy.Breaker{}
		}
		return s
	},
	func(p Policy) policy.Stack { return policy.Stack{Timeout: p.Timeout} },
	func(p Policy) (s policy.Stack) {
		if p.MaxCalls > 0 {
			s.Bulkhead = &policy.Bulkhead{MaxCalls: p.MaxCalls}
		}
		return s
	},
}

// wrapIn wraps an action in policies. Those of one kind are together, whichever patterns they are of: one after the other, a pattern's timeout could be
// outside another pattern's breaker.
func wrapIn(in []patternPolicy, l layer) func(*sabir.Action, sabir.Handler) sabir.Handler {
	return func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		for _, kind := range slices.Backward(kinds) {
			for _, one := range slices.Backward(in) {
				next = l(kind(one.Policy).Middleware())(a, next)
			}
		}
		return next
	}
}
