package sabir

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/introspect"
)

// ForeignNode is a node of another framework that a bridge speaks with, such as those of package bridge/moleculer. Once a node has it
// by [Node.SetForeign], its services are called by name as those of the cluster's own nodes are: balanced with them, left out where
// they answer worse, listed, and with the same middlewares. Its methods are called by many goroutines at once.
type ForeignNode interface {
	// Upstream makes the calls. Name is the id of the node, and is unlike that of any other. From the context of Send, [InfoFromContext]
	// has the depth of the call and its caller. Send returns when the context ends. A call that its node certainly did not take is
	// a retryable [ErrServiceUnavailable] or [ErrActionNotFound]: it goes to another node at once. A call of $node.api
	// asks for the description of an action of the node, for listings and documents.
	Upstream
	// Emit sends an event, whose name is that of r's action, to one handler of the group; to all handlers of the node where group is
	// "". It returns when the event is on its way, or has arrived where the framework reports that.
	Emit(ctx context.Context, group string, r *Request) error
	// Open opens a stream.
	Open(ctx context.Context, action *Action) (ForeignStream, error)
}

// ForeignStream is a stream that was opened to a foreign node. One goroutine may receive while another sends.
type ForeignStream interface {
	// Recv stores the next value in what the pointer points to. It returns io.EOF after the last, or the error of the handler.
	Recv(value any) error
	// Send sends the value that the pointer points to. It waits while the other side is behind.
	Send(value any) error
	// CloseSend signals that no more values will be sent.
	CloseSend()
	// Close ends the stream. It may be called more than once.
	Close()
}

// ForeignOffer describes a foreign node and the services, actions and event handlers that it offers now.
type ForeignOffer struct {
	// Node is for listings. Framework should name the framework and its version. Calls prefer other nodes while Silent is true.
	Node introspect.Node
	// Services have their full names.
	Services []introspect.Service
	// Actions have their full names, which begin with that of their Service.
	Actions []introspect.Action
	// Events are the patterns that services listen to, with their groups.
	Events []Subscription
}

// SetForeign makes the services of a foreign node callable, or replaces what it offered before. The error says what the offer has that a
// node cannot offer, such as two actions of one name; what was offered before stays then.
func (n *Node) SetForeign(node ForeignNode, offer ForeignOffer) error {
	c := offer.catalog(node.Name())
	if err := c.Check(); err != nil {
		return &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id, cause: err, Message: err.Error()}
	}
	n.followForeign(n.foreign.set(node, &offer, c))
	n.holdHeap()
	return nil
}

// followForeign puts a change of the foreign nodes into the tables, unless another goroutine has done so while this one waited: of a thousand
// nodes that come at once, which a registry may name, each would make the tables of all anew.
func (n *Node) followForeign(change uint64) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	if n.stateNow() == stateStopped || n.foreign.followed >= change {
		return
	}
	if n.cluster() == nil { // which compares nodes otherwise
		n.foreign.compare(meshHost{n}.Look)
	}
	n.rebuildTables()
}

// DropForeign ends the calls of a foreign node's services: it has left, or is lost. A node that is not there any more, or that another
// one has replaced under its name, is left as it is.
func (n *Node) DropForeign(node ForeignNode) {
	n.followForeign(n.foreign.drop(node))
}

// ReceiveEvent gives an event that came in from outside, such as from a foreign node, to handlers of this node that take it: in each of the
// groups to one, as [Emit] does, or to all, as [BroadcastLocal] does, if broadcast is true. The payload is in the format. Of in, Limit,
// Watched, Strict and Borrowed do nothing. The errors are those of Emit.
func (n *Node) ReceiveEvent(in gateway.Inbound, name string, groups []string, broadcast bool, format codec.Codec, payload []byte) error {
	plan, err := n.events.plan(name)
	if err != nil {
		return err
	}
	ctx := n.contextFor(&in)
	var to []*delivery
	if broadcast {
		to = plan.everyone()
	} else {
		for _, group := range groups {
			if g := plan.group(group); g != nil {
				to = append(to, g.pick())
			}
		}
	}
	for _, at := range to {
		group := at.receiver.subscription().Group
		if broadcast && !slices.Contains(groups, group) {
			continue
		}
		failed := at.receiver.receiveEncoded(ctx, at, format, payload)
		if failed == errGroupGone && !broadcast {
			failed = n.ReceiveEvent(in, name, []string{group}, false, format, payload) // another of the group may still be there
		}
		if failed != nil && failed != errGroupGone && err == nil {
			err = failed // the other handlers still get it
		}
	}
	return err
}

// Subscriptions lists the handlers of events on this node, for bridges that announce them.
func (n *Node) Subscriptions() (list []Subscription) {
	n.events.mu.RLock()
	defer n.events.mu.RUnlock()
	for _, s := range n.events.receivers {
		list = append(list, *s.receiver.subscription())
	}
	return list
}

// hasOthers reports whether actions may be on other nodes, which are not known yet or any more.
func (n *Node) hasOthers() bool { return len(n.joins) > 0 || len(n.foreign.all()) > 0 }

// catalog is the offer in the form that the nodes of a cluster send each other.
func (o *ForeignOffer) catalog(node string) *membership.Catalog {
	c := &membership.Catalog{Node: node, Instance: uint64(o.Node.Since.UnixNano())}
	at := make(map[string]int)
	for _, s := range o.Services {
		short := s.Name
		if s.Version > 0 {
			short = strings.TrimPrefix(s.Name, fullServiceName("", s.Version))
		}
		at[s.Name] = len(c.Services)
		c.Services = append(c.Services, membership.Service{Name: short, Version: s.Version, Group: s.Group, Description: s.Description, Needs: s.Needs})
	}
	for _, a := range o.Actions {
		if i, known := at[a.Service]; known {
			s := &c.Services[i]
			form := membership.NewForm(membership.ActionForm{Visibility: string(a.Visibility), Shape: string(a.Shape)})
			s.Actions = append(s.Actions, membership.Action{Name: a.Name, Description: a.Description, ActionForm: form, Stream: a.Stream, In: a.In, Out: a.Out})
		}
	}
	for _, e := range o.Events {
		if i, known := at[e.Service]; known {
			s := &c.Services[i]
			s.Events = append(s.Events, membership.Subscription{Pattern: e.Pattern, Group: e.Group})
		}
	}
	return c
}

// foreignNode is a node of another framework that calls can go to.
type foreignNode struct {
	node      ForeignNode
	candidate *membership.Candidate
	silent    atomic.Bool
	offer     atomic.Pointer[ForeignOffer]
	catalog   atomic.Pointer[membership.Catalog]
}

// foreignNodes is the foreign nodes of a node, by id. The map never changes: it is replaced, under mu.
type foreignNodes struct {
	mu        sync.Mutex
	nodes     atomic.Pointer[map[string]*foreignNode]
	changes   atomic.Uint64 // of nodes, so far
	followed  uint64        // how many of them the node's tables have; guarded by its tableLock
	candidate atomic.Pointer[membership.Candidate]
	comparing sync.Once
	stopped   chan struct{}
}

func (f *foreignNodes) all() map[string]*foreignNode {
	if nodes := f.nodes.Load(); nodes != nil {
		return *nodes
	}
	return nil
}

// set adds a node, or replaces what it offers, and returns the number of the change.
func (f *foreignNodes) set(node ForeignNode, offer *ForeignOffer, c *membership.Catalog) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	one := f.all()[c.Node]
	if one == nil || one.node != node {
		one = &foreignNode{node: node, candidate: membership.NewCandidate(c.Node, membership.Place{})}
	}
	one.offer.Store(offer)
	one.catalog.Store(c)
	one.silent.Store(offer.Node.Silent)
	next := maps.Clone(f.all())
	if next == nil {
		next = make(map[string]*foreignNode)
	}
	next[c.Node] = one
	f.nodes.Store(&next)
	return f.changes.Add(1)
}

// drop takes a node out, and returns the number of the change; 0 where it is not there, or another one has replaced it.
func (f *foreignNodes) drop(node ForeignNode) uint64 {
	f.mu.Lock()
	defer f.mu.Unlock()
	if one := f.all()[node.Name()]; one == nil || one.node != node {
		return 0
	}
	next := maps.Clone(f.all())
	delete(next, node.Name())
	f.nodes.Store(&next)
	return f.changes.Add(1)
}

// unasked names those of which it is not known yet what they have, in order.
func (f *foreignNodes) unasked() (names []string) {
	for id, one := range f.all() {
		if one.silent.Load() && len(one.offer.Load().Services) == 0 {
			names = append(names, id)
		}
	}
	slices.Sort(names)
	return names
}

// own counts the calls to the node itself, where it shares them with foreign nodes and is in no cluster.
func (f *foreignNodes) own(id string) *membership.Candidate {
	if c := f.candidate.Load(); c != nil {
		return c
	}
	f.candidate.CompareAndSwap(nil, membership.NewCandidate(id, membership.Place{}))
	return f.candidate.Load()
}

// addTo adds what foreign nodes offer to what the nodes of the cluster do. What is known of a node of the cluster stays. The caller holds
// tableLock.
func (f *foreignNodes) addTo(view *membership.View) *membership.View {
	f.followed = f.changes.Load() // before the nodes, which may have changed once more
	nodes := f.all()
	if f.nodes.Load() == nil {
		return view
	}
	if view == nil {
		view = membership.NewRegistry().View()
	}
	more := make(map[string]*membership.Catalog, len(nodes))
	for id, one := range nodes {
		if view.Catalog(id) == nil {
			more[id] = one.catalog.Load()
		}
	}
	return view.WithMore(more)
}

// list appends the foreign nodes to those of the cluster, but for those that are there already.
func (f *foreignNodes) list(nodes []introspect.Node) []introspect.Node {
	known := make(map[string]bool)
	for i := range nodes {
		known[nodes[i].ID] = true
	}
	for id, one := range f.all() {
		if known[id] {
			continue
		}
		offer := one.offer.Load()
		info := offer.Node
		info.ID, info.Services, info.Actions = id, len(offer.Services), len(offer.Actions)
		if info.State == "" {
			info.State = stateRunning.String()
		}
		nodes = append(nodes, info)
	}
	return nodes
}

// compare calls look once a second until the node stops. The caller holds tableLock.
func (f *foreignNodes) compare(look func()) {
	f.comparing.Do(func() {
		f.stopped = make(chan struct{})
		ticker := time.NewTicker(wire.DefaultPingInterval)
		go func() {
			defer ticker.Stop()
			for {
				select {
				case <-ticker.C:
					look()
				case <-f.stopped:
					return
				}
			}
		}()
	})
}

// stop ends compare.
func (f *foreignNodes) stop() {
	f.comparing.Do(func() {})
	if f.stopped != nil {
		close(f.stopped)
	}
}

// callForeign makes a call to a foreign node, or sends it an event, and counts it as callPeer does.
func (c *remoteCaller) callForeign(ctx context.Context, to *provider, f *remoteRequest) (err error) {
	m := to.measure(f.options.key != "", f.calls)
	outcome := outlier.Failure // where a method of the input or the answer ends the goroutine
	defer func() { m.end(outcome) }()
	if f.options.timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, f.options.timeout)
		defer cancel()
	}
	if c.target.kind == wire.EventRoute {
		err = to.foreign.node.Emit(ctx, c.target.group, &f.Request)
	} else {
		err = to.foreign.node.Send(ctx, &f.Request)
	}
	outcome = outcomeOf(err)
	return err
}

// openForeign opens a stream to a foreign node. own is the context of the operation, ctx the caller's.
func openForeign(ctx, own context.Context, a *remoteAction, to *provider) (streamEnd, error) {
	if carry := a.op.node.carry; carry != nil {
		own = carry(own)
	}
	s, err := to.foreign.node.Open(own, a.action)
	if err != nil {
		return streamEnd{}, err
	}
	ctx, cancel := context.WithCancel(ctx)
	stop := context.AfterFunc(ctx, s.Close)
	end := func() {
		stop()
		cancel()
		s.Close()
	}
	return callerInShape(a.action, streamEnd{ctx: ctx, recv: s.Recv, send: s.Send, closeSend: s.CloseSend, end: end}), nil
}
