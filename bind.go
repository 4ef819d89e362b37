package sabir

import (
	"context"
	"reflect"
	"sync/atomic"
)

// Func is an action bound to its Go types: call it like the function it stands for. It is safe for concurrent use.
type Func[In, Out any] func(ctx context.Context, in In, options ...CallOption) (Out, error)

// Bind looks an action up once and returns it as a function; when services come and go, the function follows. Binding
// before the action exists is fine, so a service can bind what it needs when it is made; calling before then is an
// ErrActionNotFound. The types are named in the order of the function's own.
func Bind[In, Out any](from Caller, action string) Func[In, Out] {
	if n := from.callingNode(); n != nil {
		b := bindingOf[In, Out](n, action)
		return func(ctx context.Context, in In, options ...CallOption) (Out, error) {
			if h := b.handler.Load(); h != nil && len(options) == 0 {
				return h.call(ctx, in)
			}
			return b.callOther(ctx, in, options)
		}
	}
	var ready atomic.Pointer[binding[In, Out]]
	return func(ctx context.Context, in In, options ...CallOption) (Out, error) {
		n := from.callingNode()
		if n == nil {
			var none Out
			return none, errNoNode(from, action)
		}
		b := ready.Load()
		if b == nil || b.node != n {
			b = bindingOf[In, Out](n, action)
			ready.Store(b)
		}
		if h := b.handler.Load(); h != nil && len(options) == 0 {
			return h.call(ctx, in)
		}
		return b.callOther(ctx, in, options)
	}
}

// binding follows one name with one pair of types: the table hands it each new endpoint, so a call looks nothing up.
type binding[In, Out any] struct {
	node     *Node
	action   string
	handler  atomic.Pointer[handler[In, Out]] // nil when the endpoint is none, or has other types
	away     atomic.Pointer[caller[In, Out]]  // nil when the action is not on other nodes
	endpoint atomic.Pointer[endpoint]         // nil when there is none
}

// callOther is the way of a call with options, to another node, to a handler of other types, or to none.
func (b *binding[In, Out]) callOther(ctx context.Context, in In, options []CallOption) (Out, error) {
	o := gather(options)
	if o.node == "" {
		if c := b.away.Load(); c != nil {
			return c.call(ctx, in, o)
		}
		if h := b.handler.Load(); h != nil {
			return h.callWith(ctx, in, o)
		}
	}
	var e endpoint
	if p := b.endpoint.Load(); p != nil {
		e = *p
	}
	e, err := b.node.endpointFor(e, b.action, &o)
	if a, isAway := e.(*away); isAway && err == nil {
		return callAway[Out](ctx, a, in, o)
	}
	return callOther[Out](ctx, e, err, in, o)
}

// follow takes over what the table now holds for the name.
func (b *binding[In, Out]) follow(e endpoint) {
	if e == nil {
		b.endpoint.Store(nil)
	} else {
		b.endpoint.Store(&e)
	}
	h, _ := e.(*handler[In, Out])
	b.handler.Store(h)
	var c *caller[In, Out]
	if a, ok := e.(*away); ok {
		c = callerOf[In, Out](a)
	}
	b.away.Store(c)
}

// bindingKey tells bindings apart; a node has one for each name and pair of types that the program binds.
type bindingKey struct {
	action string
	types  reflect.Type
}

// follower is a binding as the table sees it.
type follower interface{ follow(endpoint) }

func bindingOf[In, Out any](n *Node, action string) *binding[In, Out] {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	key := bindingKey{action, reflect.TypeFor[binding[In, Out]]()}
	if known, ok := n.bindings[key]; ok {
		return known.(*binding[In, Out])
	}
	b := &binding[In, Out]{node: n, action: action}
	b.follow(n.table.Load().actions[action])
	n.bindings[key] = b
	return b
}
