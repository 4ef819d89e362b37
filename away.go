package sabir

import (
	"context"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/wire"
)

// away is an action of other nodes, as this node's calls see it: the endpoint of a name that no service here offers, or
// that is to be shared with nodes that offer it too.
type away struct {
	action   *Action
	step     *step
	remote   Remote                 // carries every call when there is no cluster; see Via
	offers   atomic.Pointer[offers] // who offers it
	balancer cluster.Balancer
	chain    Handler
	kind     wire.RouteKind
	wrapped  bool     // there are middlewares on the way
	in, out  string   // Go types, for listings
	routes   string   // REST forms, as the nodes that offer it say
	callers  sync.Map // type of a caller[In, Out] to it
}

// offers is the nodes that offer an action at one moment.
type offers struct {
	peers      []*peer              // nil for this node
	candidates []*cluster.Candidate // the same nodes, in the same order
	own        local                // this node's, where calls are shared with it; else nil
}

// maxAwayNames bounds the names that a node remembers besides those in its table; calls of others work, more slowly.
const maxAwayNames = 10_000

// elsewhere finds the endpoint of a name that is in no table of this node, for a call that goes to a node by name or
// over a Remote.
func (n *Node) elsewhere(name string, o *callOptions) (endpoint, error) {
	if badName(name) != "" || o.node == "" && n.remote == nil {
		return nil, n.notFound("action", name)
	}
	if known, ok := n.awayNames.Load(name); ok {
		return known.(*away), nil
	}
	a := n.newAway(&Action{Name: name, Remote: true})
	a.remote = n.remote
	if err := a.action.refusal(); err != nil {
		return nil, err
	}
	if n.awayCount.Add(1) <= maxAwayNames {
		n.awayNames.Store(name, a)
	}
	return a, nil
}

func (n *Node) newAway(action *Action) *away {
	a := &away{action: action, step: newStep(n, action.Service, action.Name), balancer: n.balancerFor(action.Name), kind: wire.CallRoute}
	action.node, action.signal, action.endpoint = n, n.signal, a
	a.chain, a.wrapped = composeCall(action, a.send, n.middlewares, remoteLayer)
	return a
}

func (a *away) info() *Action { return a.action }
func (a *away) hop() *step    { return a.step }

// nodes lists who offers the action, by name.
func (a *away) nodes() (list []string) {
	if o := a.offers.Load(); o != nil {
		for _, p := range o.peers {
			if p == nil {
				list = append(list, a.step.node.id)
			} else {
				list = append(list, p.id)
			}
		}
	}
	slices.Sort(list)
	return list
}

// callAway is the way of a call to an action that is not, or not only, on this node.
func callAway[Out, In any](ctx context.Context, a *away, in In, o callOptions) (Out, error) {
	return callerOf[In, Out](a).call(ctx, in, o)
}

func (a *away) callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error) {
	out, err := callAway[stdjson.RawMessage](ctx, a, stdjson.RawMessage(in), o)
	if err != nil {
		return dst, err
	}
	return append(dst, out...), nil
}

// send is the inner end of the chain.
func (a *away) send(ctx context.Context, r *Request) error {
	if carry := a.step.node.carry; carry != nil {
		ctx = carry(ctx)
	}
	if r.options.node == "" && a.remote != nil && a.offers.Load() == nil {
		return a.remote.Send(ctx, r)
	}
	return r.typed.(traveller).travel(ctx)
}

// traveller is a request whose types know how to travel over a link.
type traveller interface {
	travel(ctx context.Context) error
}

// caller makes the calls to an action away whose types are In and Out.
type caller[In, Out any] struct {
	to     *away
	lanes  atomic.Pointer[[]*lane[In, Out]]
	frames sync.Pool // of *outgoing[In, Out]
}

func callerOf[In, Out any](a *away) *caller[In, Out] {
	key := reflect.TypeFor[caller[In, Out]]()
	if known, ok := a.callers.Load(key); ok {
		return known.(*caller[In, Out])
	}
	known, _ := a.callers.LoadOrStore(key, &caller[In, Out]{to: a})
	return known.(*caller[In, Out])
}

func (c *caller[In, Out]) call(ctx context.Context, in In, o callOptions) (out Out, err error) {
	own, failed := c.to.step.enter(ctx)
	if failed != nil {
		return out, failed
	}
	return c.travel(own, in, o)
}

// travel is the way of a call whose context was made for it.
func (c *caller[In, Out]) travel(ctx context.Context, in In, o callOptions) (out Out, err error) {
	if o.timeout > 0 && (c.to.wrapped || c.to.remote != nil) { // a link keeps the time itself
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	f := c.takeFrame()
	f.action, f.options, f.in = c.to.action, o, in
	if c.to.wrapped {
		err = f.attempt(ctx, c.to.chain)
	} else {
		err = c.to.send(ctx, &f.Request)
	}
	if err == nil {
		out = f.out
	} else {
		err = c.to.step.node.located(err)
	}
	c.putFrame(f)
	return out, err
}

// outgoing is a request to another node with its typed input and output.
type outgoing[In, Out any] struct {
	Request
	in     In
	out    Out
	caller *caller[In, Out]
}

func (c *caller[In, Out]) takeFrame() *outgoing[In, Out] {
	if f, ok := c.frames.Get().(*outgoing[In, Out]); ok {
		return f
	}
	f := &outgoing[In, Out]{caller: c}
	f.typed = f
	return f
}

func (c *caller[In, Out]) putFrame(f *outgoing[In, Out]) {
	*f = outgoing[In, Out]{caller: c, Request: Request{typed: f}}
	c.frames.Put(f)
}

func (f *outgoing[In, Out]) input() any      { return &f.in }
func (f *outgoing[In, Out]) output() any     { return &f.out }
func (f *outgoing[In, Out]) copyOutput() any { return f.out }
func (f *outgoing[In, Out]) validate() error { return nil } // the node that handles it has the rules

func (f *outgoing[In, Out]) setOutput(value any) bool {
	out, ok := value.(Out)
	if ok {
		f.out = out
	}
	return ok
}

func (f *outgoing[In, Out]) fork() *Request {
	c := f.caller.takeFrame()
	c.action, c.options, c.valid, c.in = f.action, f.options, f.valid, f.in
	return &c.Request
}

func (f *outgoing[In, Out]) adopt(fork *Request) {
	c := fork.typed.(*outgoing[In, Out])
	f.out = c.out
	f.caller.putFrame(c)
}
