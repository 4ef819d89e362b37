package sabir

import (
	"context"
	"runtime"
	"slices"
	"weak"
)

// With returns the contract with policies around the calls that go through it to other nodes: a dependency is guarded where it is called.
//
//	var get = users.Get.With(policy.Timeout(time.Second), policy.Breaker{})
//	user, err := get.Call(ctx, node, users.GetUser{ID: "u-1"})
//
// The first is the outermost; all are outside of those of [Use] and [Toward]. A contract that has policies already gets these inside them. Make it once
// and keep it: what policies remember, such as a breaker's failures and a cache's answers, belongs to this value, and to each node that calls through it. Calls that stay on their
// node pass the policies by, as do streams and [Contract.CallEach]; [Contract.Bind] and [Contract.Into] do not. A setting that cannot work, or a middleware that wraps no calls to other nodes, is an
// [ErrBadOption] of each call.
func (c *Contract[In, Out]) With(policies ...Wrapper) *Contract[In, Out] {
	if c == nil {
		return nil
	}
	list := append(slices.Clip(c.policies), middlewaresOf(policies)...)
	return &Contract[In, Out]{name: c.name, options: c.options, policies: list}
}

// guarded are the middlewares of an action with those of one contract around them.
type guarded struct {
	chain Handler
	err   error
}

// callGuarded calls through the contract's policies, if the action is not only on this node.
func (c *Contract[In, Out]) callGuarded(ctx context.Context, b *binding[In, Out], in In, o callOptions) (out Out, err error) {
	e, err := b.find(&o)
	a, remote := e.(*remoteAction)
	if !remote || err != nil {
		return callConverted[Out](ctx, e, err, in, o)
	}
	through := c.through(a)
	if through.err != nil {
		return out, through.err
	}
	return remoteCallerOf[In, Out](a).callThrough(ctx, in, o, through.chain, true)
}

// through composes the policies once for each action of each node. The action keeps them for as long as the contract is in use, so that programs
// which make contracts as they go do not fill it.
func (c *Contract[In, Out]) through(a *remoteAction) *guarded {
	key := weak.Make(c)
	if known, ok := a.guarded.Load(key); ok {
		return known.(*guarded)
	}
	known, loaded := a.guarded.LoadOrStore(key, a.guardedBy(c.policies))
	if !loaded {
		from := weak.Make(a)
		runtime.AddCleanup(c, func(key weak.Pointer[Contract[In, Out]]) {
			if a := from.Value(); a != nil {
				a.guarded.Delete(key)
			}
		}, key)
	}
	return known.(*guarded)
}

func (a *remoteAction) guardedBy(policies []Middleware) *guarded {
	for _, m := range policies {
		if m.Remote == nil {
			return &guarded{err: Errorf(CodeInvalidArgument, nameBadOption, "the contract of %s: the middleware %q wraps no calls to other nodes: it has no Remote", a.action.Name, m.Name)}
		}
	}
	action := *a.action // its own, for what the policies refuse concerns calls through this contract alone
	action.refused = nil
	chain, _ := composeCall(&action, a.chain, policies, remoteLayer)
	if err := action.refusal(); err != nil {
		return &guarded{err: Errorf(CodeInvalidArgument, nameBadOption, "the contract of %s: %w", action.Name, err)}
	}
	return &guarded{chain: chain}
}
