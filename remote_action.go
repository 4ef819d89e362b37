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
	chain      Handler
	kind       wire.RouteKind
	group      string   // of an event that one group is to get; "" for all, and for an action
	watches    bool     // of an event that emitters do not wait for
	wrapped    bool     // there are middlewares on the way
	in, out    string   // Go types, for listings
	routes     string   // REST forms, as announced by the nodes that offer it
	visibility string   // likewise
	callers    sync.Map // type of a remoteCaller[In, Out] to it
	guarded    sync.Map // weak pointer to a Contract to its *guarded; see Contract.With
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
	a.chain, a.wrapped = n.composeToward(action, a.send)
	if err := action.refusal(); err != nil {
		a.chain, a.wrapped = func(context.Context, *Request) error { return err }, true
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
	return remoteCallerOf[In, Out](a).call(ctx, in, o)
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

// remoteCaller makes the calls of a remoteAction whose types are In and Out.
type remoteCaller[In, Out any] struct {
	target   *remoteAction
	codecs   atomic.Pointer[[]*linkCodec[In, Out]]
	requests sync.Pool // of *outgoing[In, Out]
}

func remoteCallerOf[In, Out any](a *remoteAction) *remoteCaller[In, Out] {
	key := reflect.TypeFor[remoteCaller[In, Out]]()
	if known, ok := a.callers.Load(key); ok {
		return known.(*remoteCaller[In, Out])
	}
	known, _ := a.callers.LoadOrStore(key, &remoteCaller[In, Out]{target: a})
	return known.(*remoteCaller[In, Out])
}

func (c *remoteCaller[In, Out]) call(ctx context.Context, in In, o callOptions) (Out, error) {
	return c.callThrough(ctx, in, o, c.target.chain, c.target.wrapped)
}

// callThrough makes the call through middlewares, and says whether there are any.
func (c *remoteCaller[In, Out]) callThrough(ctx context.Context, in In, o callOptions, chain Handler, wrapped bool) (out Out, err error) {
	own, failed := c.target.op.enter(ctx)
	if failed != nil {
		return out, failed
	}
	return c.callChain(own, in, o, chain, wrapped)
}

// callChain runs the call through the middlewares. ctx is its context.
func (c *remoteCaller[In, Out]) callChain(ctx context.Context, in In, o callOptions, chain Handler, wrapped bool) (out Out, err error) {
	if o.timeout > 0 && (wrapped || c.target.remote != nil) { // a link keeps the time itself
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, o.timeout)
		defer cancel()
	}
	f := c.takeRequest()
	f.action, f.options, f.in = c.target.action, o, in
	err = f.attempt(ctx, chain)
	if err == nil {
		out = f.out
	} else {
		err = c.target.op.node.located(err)
	}
	c.putRequest(f)
	return out, err
}

// remoteRequest is a request to another node with its typed input and output.
type remoteRequest[In, Out any] struct {
	Request
	in           In
	out          Out
	remoteCaller *remoteCaller[In, Out]
	attempts     attempts
	calls        uint32 // that were made with this request, which is used again and again
}

func (f *remoteRequest[In, Out]) made() *attempts { return &f.attempts }

// count counts a call at its first attempt. The budget gets them some at a time, so that callers on several processors do not wait for
// each other.
func (f *remoteRequest[In, Out]) count(b *budget.Budget) {
	if f.attempts.counted {
		return
	}
	f.attempts.counted = true
	if f.calls++; f.calls%depositCalls == 0 {
		b.Deposit(depositCalls)
	}
}

const depositCalls = 8

func (c *remoteCaller[In, Out]) takeRequest() *remoteRequest[In, Out] {
	if f, ok := c.requests.Get().(*remoteRequest[In, Out]); ok {
		return f
	}
	f := &remoteRequest[In, Out]{remoteCaller: c}
	f.typed = f
	return f
}

func (c *remoteCaller[In, Out]) putRequest(f *remoteRequest[In, Out]) {
	*f = remoteRequest[In, Out]{remoteCaller: c, Request: Request{typed: f}, calls: f.calls}
	c.requests.Put(f)
}

func (f *remoteRequest[In, Out]) input() any { return &f.in }

func (f *remoteRequest[In, Out]) output() any { return &f.out }

func (f *remoteRequest[In, Out]) copyOutput() any { return f.out }

func (f *remoteRequest[In, Out]) validate() error { return nil } // the node that handles it has the rules

func (f *remoteRequest[In, Out]) setOutput(value any) bool {
	out, ok := value.(Out)
	if ok {
		f.out = out
	}
	return ok
}

func (f *remoteRequest[In, Out]) fork() *Request {
	c := f.remoteCaller.takeRequest()
	c.action, c.options, c.valid, c.attempts, c.in = f.action, f.options, f.valid, f.attempts, f.in
	return &c.Request
}

func (f *remoteRequest[In, Out]) adopt(fork *Request) {
	c := fork.typed.(*remoteRequest[In, Out])
	f.out, f.attempts = c.out, c.attempts
	f.remoteCaller.putRequest(c)
}

// drop gives up a fork that nothing uses any more.
func (f *remoteRequest[In, Out]) drop(fork *Request) {
	f.remoteCaller.putRequest(fork.typed.(*remoteRequest[In, Out]))
}

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
	if m := n.mesh.Load(); m != nil {
		for id, p := range m.Peers() {
			others[id] = provider{id: id, peer: p, candidate: p.Stats()}
		}
	}
	return others
}

// ownCandidate counts the calls to this node, where it shares them with others.
func (n *Node) ownCandidate() *membership.Candidate {
	if m := n.mesh.Load(); m != nil {
		return m.Local()
	}
	return n.foreign.own(n.id)
}

// announce sends the cluster what this node offers now.
func (n *Node) announce() {
	if m := n.mesh.Load(); m != nil {
		m.CatalogChanged()
	}
}
