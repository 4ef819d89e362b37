package sabir

import (
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
// BadOption of each call.
func (c *Contract[In, Out]) With(policies ...Wrapper) *Contract[In, Out] {
	if c == nil {
		return nil
	}
	return &Contract[In, Out]{contract: c.contract.with(policies)}
}

func (c *contract) with(policies []Wrapper) contract {
	return contract{name: c.name, options: c.options, policies: append(slices.Clip(c.policies), middlewaresOf(policies)...)}
}

// remoteChain holds the middlewares of calls to other nodes, around what sends them.
type remoteChain struct {
	run     Handler
	wrapped bool  // there are middlewares
	err     error // of the policies of a contract
}

// through returns the chain of an action, inside the policies of the contract; c may be nil. Policies are composed once for each
// action of each node. The action keeps them for as long as the contract is in use, so that programs which make contracts as they go do not fill it.
func (c *contract) through(a *remoteAction) (remoteChain, error) {
	if c == nil || len(c.policies) == 0 {
		return a.chain, nil
	}
	key := weak.Make(c)
	known, loaded := a.guarded.Load(key)
	if !loaded {
		if known, loaded = a.guarded.LoadOrStore(key, a.guardedBy(c.policies)); !loaded {
			from := weak.Make(a)
			runtime.AddCleanup(c, func(key weak.Pointer[contract]) {
				if a := from.Value(); a != nil {
					a.guarded.Delete(key)
				}
			}, key)
		}
	}
	chain := known.(*remoteChain)
	return *chain, chain.err
}

func (a *remoteAction) guardedBy(policies []Middleware) *remoteChain {
	for _, m := range policies {
		if m.Remote == nil {
			return &remoteChain{err: Errorf(CodeInvalidArgument, nameBadOption, "the contract of %s: the middleware %q wraps no calls to other nodes: it has no Remote", a.action.Name, m.Name)}
		}
	}
	action := *a.action // its own, for what the policies refuse concerns calls through this contract alone
	action.refused = nil
	run, _ := composeCall(&action, a.chain.run, policies, remoteLayer)
	if err := action.refusal(); err != nil {
		return &remoteChain{err: Errorf(CodeInvalidArgument, nameBadOption, "the contract of %s: %w", action.Name, err)}
	}
	return &remoteChain{run: run, wrapped: true}
}
