package sabir

import (
	"context"
	stdjson "encoding/json"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/budget"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/wire"
)

// remoteAction is an action of other nodes, as this node calls it: the endpoint of a name that no service here offers, or
// that is shared with nodes that offer it too.
type remoteAction struct {
	action     *Action
	op         *operation
	remote     Upstream                      // carries every call when there is no cluster; see WithUpstream
	providers  atomic.Pointer[providers]     // the nodes that offer it
	outliers   atomic.Pointer[outlier.Group] // compares them; nil where there has been nothing to compare
	lost       atomic.Pointer[loss]          // when the last of them was lost; nil for never
	preferred  bool                          // names without a version reach its service's
	balancer   membership.Balancer
	chain      remoteChain
	kind       wire.RouteKind
	group      string   // of an event that one group is to get; "" for all, and for an action
	watches    bool     // of an event that emitters do not wait for
	in, out    string   // Go types, for listings
	routes     string   // REST forms, as announced by the nodes that offer it
	visibility string   // likewise
	callers    sync.Map // callTypes to the *remoteCaller for them
	guarded    sync.Map // weak pointer to a contract to its *remoteChain; see Contract.With
}

// maxRemoteNames bounds the names that a node remembers besides those in its table.
const maxRemoteNames = 8192

// remoteByName finds the endpoint of a name that is in no table of this node, for a call that goes to a node by name or over
// a Remote, or that a node may come for.
func (n *Node) remoteByName(name string, o *callOptions) (endpoint, error) {
	if names.Fault(name) != "" || o.node == "" && n.remote == nil && !(o.wait > 0 && n.hasOthers()) && !n.Awaits(name) {
		return nil, n.notFound("action", name)
	}
	if known, ok := n.remoteNames.Get(name); ok {
		return known, nil
	}
	a := n.newRemoteAction(&Action{Name: name, Remote: true})
	a.remote = n.remote
	if err := a.action.refusal(); err != nil {
		return nil, err
	}
	return n.remoteNames.Add(name, a), nil
}

func (n *Node) newRemoteAction(action *Action) *remoteAction {
	a := &remoteAction{action: action, op: newOperation(n, action.Service, action.Name), balancer: n.balancerFor(action.Name), kind: wire.CallRoute}
	action.node, action.signal, action.endpoint, action.budget = n, n.signal, a, budget.New()
	a.chain.run, a.chain.wrapped = n.composeToward(action, a.send)
	if err := action.refusal(); err != nil {
		a.chain = remoteChain{run: func(context.Context, *Request) error { return err }, wrapped: true}
	}
	return a
}

// routeName is the name of its routes: that of the action, or the group that the events are for. Events so need a route for
// each group and not for each name.
func (a *remoteAction) routeName() string {
	if a.kind == wire.EventRoute {
		return a.group
	}
	return a.action.Name
}

// event is the name that goes with each event, and "" for an action.
func (a *remoteAction) event() string {
	if a.kind == wire.EventRoute {
		return a.action.Name
	}
	return ""
}

func (a *remoteAction) info() *Action { return a.action }

func (a *remoteAction) operation() *operation { return a.op }

// nodes lists the nodes that offer the action, by name.
func (a *remoteAction) nodes() (list []string) {
	if o := a.providers.Load(); o != nil {
		for i := range o.nodes {
			list = append(list, o.nodes[i].id)
		}
	}
	slices.Sort(list)
	return list
}

// callRemote calls an action that is not, or not only, on this node.
func callRemote[Out, In any](ctx context.Context, a *remoteAction, in In, o callOptions) (Out, error) {
	return callThrough[Out](ctx, remoteCallerOf[In, Out](a), in, o, a.chain)
}

// callThrough makes the call through middlewares. It is all of a call to another node that is compiled for each pair of types.
func callThrough[Out, In any](ctx context.Context, c *remoteCaller, in In, o callOptions, through remoteChain) (out Out, err error) {
	own, failed := c.target.op.enter(ctx)
	if failed != nil {
		return out, failed
	}
	f := c.takeRequest()
	input, output := f.in.(*In), f.out.(*Out)
	f.options, *input = o, in
	if err = c.call(own, f, through); err == nil {
		out = *output
	}
	var noInput In
	var noOutput Out
	*input, *output = noInput, noOutput
	c.putRequest(f)
	return out, err
}

// callAny is callThrough for an input and an output that the pointers point to.
func (a *remoteAction) callAny(ctx context.Context, in, out any, o callOptions, through remoteChain) error {
	own, failed := a.op.enter(ctx)
	if failed != nil {
		return failed
	}
	return a.callAnyIn(own, in, out, o, through)
}

// callAnyIn is callAny in a context that is the call's already.
func (a *remoteAction) callAnyIn(ctx context.Context, in, out any, o callOptions, through remoteChain) error {
	c := a.callerOf(reflect.TypeOf(in).Elem(), reflect.TypeOf(out).Elem())
	f := c.takeRequest()
	f.options = o
	copyValue(f.in, in)
	err := c.call(ctx, f, through)
	if err == nil {
		copyValue(out, f.out)
	}
	c.drop(f)
	return err
}

func (a *remoteAction) callJSON(ctx context.Context, in, dst []byte, o callOptions) ([]byte, error) {
	out, err := callRemote[stdjson.RawMessage](ctx, a, stdjson.RawMessage(in), o)
	if err != nil {
		return dst, err
	}
	return append(dst, out...), nil
}

// send is the inner end of the chain.
func (a *remoteAction) send(ctx context.Context, r *Request) error {
	if carry := a.op.node.carry; carry != nil {
		ctx = carry(ctx)
	}
	f := r.typed.(roundTripper)
	f.count(a.action.budget)
	if r.options.node == "" && a.remote != nil && a.providers.Load() == nil {
		return a.remote.Send(ctx, r)
	}
	return f.roundTrip(ctx)
}

// roundTripper is a request that can encode its input, send it over a link, and decode the answer.
type roundTripper interface {
	roundTrip(ctx context.Context) error
	made() *attempts
	count(*budget.Budget)
}

// remoteCaller makes the calls of a remoteAction with one type of inputs and one of outputs.
type remoteCaller struct {
	target   *remoteAction
	in, out  reflect.Type
	codecs   atomic.Pointer[[]*linkCodec]
	requests sync.Pool // of *remoteRequest
}

// callTypes are the types of a call.
type callTypes struct{ in, out reflect.Type }

func remoteCallerOf[In, Out any](a *remoteAction) *remoteCaller {
	return a.callerOf(reflect.TypeFor[In](), reflect.TypeFor[Out]())
}

func (a *remoteAction) callerOf(in, out reflect.Type) *remoteCaller {
	types := callTypes{in, out}
	if known, ok := a.callers.Load(types); ok {
		return known.(*remoteCaller)
	}
	known, _ := a.callers.LoadOrStore(types, &remoteCaller{target: a, in: in, out: out})
	return known.(*remoteCaller)
}

// call runs the request through the middlewares. ctx is its context.
func (c *remoteCaller) call(ctx context.Context, f *remoteRequest, through remoteChain) error {
	if limit := f.options.timeout; limit > 0 && (through.wrapped || c.target.remote != nil) { // a link keeps the time itself
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, limit)
		defer cancel()
	}
	if err := f.attempt(ctx, through.run); err != nil {
		return c.target.op.node.located(err)
	}
	return nil
}

// remoteRequest is a request to another node.
type remoteRequest struct {
	Request
	caller   *remoteCaller
	in, out  any // pointers to the input and the output, of the caller's types
	attempts attempts
	calls    uint32 // that were made with this request, which is used again and again
}

func (f *remoteRequest) made() *attempts { return &f.attempts }

// count counts a call at its first attempt. The budget gets them some at a time, so that callers on several processors do not wait for
// each other.
func (f *remoteRequest) count(b *budget.Budget) {
	if f.attempts.counted {
		return
	}
	f.attempts.counted = true
	if f.calls++; f.calls%depositCalls == 0 {
		b.Deposit(depositCalls)
	}
}

const depositCalls = 8

func (c *remoteCaller) takeRequest() *remoteRequest {
	f, ok := c.requests.Get().(*remoteRequest)
	if !ok {
		f = &remoteRequest{caller: c, in: reflect.New(c.in).Interface(), out: reflect.New(c.out).Interface()}
		f.typed = f
	}
	f.action = c.target.action
	return f
}

// putRequest gives the request back, whose input and output are zero again, so that the pool keeps no caller's values reachable.
func (c *remoteCaller) putRequest(f *remoteRequest) {
	f.Request, f.attempts = Request{typed: f}, attempts{}
	c.requests.Put(f)
}

func (f *remoteRequest) input() any { return f.in }

func (f *remoteRequest) output() any { return f.out }

func (f *remoteRequest) copyOutput() any { return reflect.ValueOf(f.out).Elem().Interface() }

func (f *remoteRequest) validate() error { return nil } // the node that handles it has the rules

func (f *remoteRequest) setOutput(value any) bool {
	t, want := reflect.TypeOf(value), f.caller.out
	if t != want && (t == nil || want.Kind() != reflect.Interface || !t.Implements(want)) {
		return false
	}
	reflect.ValueOf(f.out).Elem().Set(reflect.ValueOf(value))
	return true
}

func (f *remoteRequest) fork() *Request {
	c := f.caller.takeRequest()
	c.options, c.valid, c.attempts = f.options, f.valid, f.attempts
	copyValue(c.in, f.in)
	return &c.Request
}

func (f *remoteRequest) adopt(fork *Request) {
	c := fork.typed.(*remoteRequest)
	copyValue(f.out, c.out)
	f.attempts = c.attempts
	f.drop(fork)
}

// drop gives up a fork that nothing uses any more.
func (f *remoteRequest) drop(fork *Request) { f.caller.drop(fork.typed.(*remoteRequest)) }

// drop empties a request and gives it back.
func (c *remoteCaller) drop(f *remoteRequest) {
	reflect.ValueOf(f.in).Elem().SetZero()
	reflect.ValueOf(f.out).Elem().SetZero()
	c.putRequest(f)
}

// copyValue copies what one pointer points to to where another of the same type does.
func copyValue(to, from any) { reflect.ValueOf(to).Elem().Set(reflect.ValueOf(from).Elem()) }

// describes reports whether the description that a node sent is the one that is known.
func (a *remoteAction) describes(s *membership.Service, offered *membership.Action) bool {
	form := offered.Form()
	return a.action.Version == s.Version && a.action.Description == offered.Description && a.action.Inline == offered.Inline &&
		a.action.Stream == offered.Stream && string(a.action.Shape) == form.Shape && a.action.Idempotent == offered.Idempotent && slices.Equal(a.action.Codecs, form.Codecs) &&
		a.in == offered.In && a.out == offered.Out && a.routes == string(form.Routes) && slices.Equal(statusNumbers(a.action.Statuses), form.Statuses) &&
		a.visibility == form.Visibility && a.preferred == s.Preferred
}

// otherNodes is the nodes that calls can go to, by name: those of the cluster, and foreign ones. A node of the cluster that a bridge sees
// too is the cluster's.
func (n *Node) otherNodes() map[string]provider {
	others := make(map[string]provider)
	for id, f := range n.foreign.all() {
		others[id] = provider{id: id, foreign: f, candidate: f.candidate}
	}
	if m := n.cluster(); m != nil {
		m.addProviders(others)
	}
	return others
}

// ownCandidate counts the calls to this node, where it shares them with others.
func (n *Node) ownCandidate() *membership.Candidate {
	if m := n.cluster(); m != nil {
		return m.Local()
	}
	return n.foreign.own(n.id)
}

// announce sends the cluster what this node offers now.
func (n *Node) announce() {
	if m := n.cluster(); m != nil {
		m.CatalogChanged()
	}
}
