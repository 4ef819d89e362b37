package sabir

import (
	"context"
	"slices"
	"sort"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/introspect"
)

// provider is a node that offers an action.
type provider struct {
	id        string
	peer      peer         // of the cluster; nil for this node and for a foreign one
	foreign   *foreignNode // nil for this node and for one of the cluster
	candidate *membership.Candidate
	record    *outlier.Record // nil where its calls are not compared with those of others
	onTrial   bool            // the call that it was picked for decides whether the node is well again
}

// reachable reports whether there is a link to the node, or one is made when it is called, or none is needed.
func (p *provider) reachable() bool { return p.peer == nil || p.peer.Reachable() }

func (p *provider) suspected() bool {
	return p.peer != nil && p.peer.Suspected() || p.foreign != nil && p.foreign.silent.Load()
}

// isHere reports whether it is this node.
func (p *provider) isHere() bool { return p.peer == nil && p.foreign == nil }

// same reports whether both are one run of one node.
func (p *provider) same(other *provider) bool {
	return p.peer == other.peer && p.foreign == other.foreign
}

// providers is the nodes that offer an action at one moment.
type providers struct {
	nodes      []provider
	candidates []*membership.Candidate // the same nodes, in the same order
	own        local                   // this node's, where calls are shared with it; else nil
	well       atomic.Pointer[choice]
}

// choice is those of the providers that calls go to: neither left out nor suspected nor drained. There is always one.
type choice struct {
	version    uint64 // of Node.health
	nodes      []provider
	candidates []*membership.Candidate
	shared     *sharedOut // nil where calls are not shared out by a route
	few        *choice    // of many nodes those that calls without a key go to; nil for all
}

func newProviders(nodes []provider, own local) *providers {
	return &providers{nodes: nodes, candidates: candidatesOf(nodes), own: own}
}

func candidatesOf(nodes []provider) []*membership.Candidate {
	list := make([]*membership.Candidate, len(nodes))
	for i := range nodes {
		list[i] = nodes[i].candidate
	}
	return list
}

// are reports whether the providers are these, so that a change of others leaves them as they are.
func (p *providers) are(nodes []provider, own local) bool {
	return p != nil && p.own == own && slices.EqualFunc(p.nodes, nodes, func(a, b provider) bool { return a.same(&b) && a.candidate == b.candidate })
}

// known returns what calls have shown of a node, if it is the same one.
func (p *providers) known(one *provider) *outlier.Record {
	if p == nil {
		return nil
	}
	for i := range p.nodes {
		if p.nodes[i].same(one) {
			return p.nodes[i].record
		}
	}
	return nil
}

// choose returns the present choice. It is made anew after a change only.
func (p *providers) choose(a *remoteAction) *choice {
	n := a.op.node
	version := n.health.Load() // before the states: a change meanwhile makes the next call choose again
	if c := p.well.Load(); c != nil && c.version == version {
		return c
	}
	nodes := p.filter(func(one *provider) bool {
		return one.record.Takes() && one.reachable() && !one.suspected() && !n.isDrained(one)
	})
	if len(nodes) == 0 {
		nodes = p.filter(func(one *provider) bool { return one.record.Takes() && one.reachable() && !one.suspected() })
	}
	if len(nodes) == 0 {
		nodes = p.filter(func(one *provider) bool { return one.reachable() && !one.suspected() })
	}
	if len(nodes) == 0 {
		nodes = p.nodes
	}
	c := &choice{version: version, nodes: nodes, candidates: candidatesOf(nodes)}
	if a.kind == wire.CallRoute && len(nodes) > 1 {
		c.shared = c.shareOut(n.decisions.Load().Shares(a.action.Name, withoutVersion(a.action.Name)))
	}
	if m := n.cluster(); m != nil && c.shared == nil {
		c.few = c.only(m.Few(c.candidates))
	}
	p.well.Store(c)
	return c
}

// only is the part of the choice with these indexes; nil for none.
func (c *choice) only(indexes []int) *choice {
	if indexes == nil {
		return nil
	}
	part := &choice{}
	for _, i := range indexes {
		part.nodes, part.candidates = append(part.nodes, c.nodes[i]), append(part.candidates, c.candidates[i])
	}
	return part
}

func (p *providers) filter(keep func(*provider) bool) []provider {
	return filterProviders(p.nodes, keep)
}

func filterProviders(from []provider, keep func(*provider) bool) (list []provider) {
	for i := range from {
		if keep(&from[i]) {
			list = append(list, from[i])
		}
	}
	return list
}

// avoided is the nodes that a call goes to only where there are no others.
type avoided struct {
	tried  *triedNodes // nil while no attempt has failed
	named  []string    // see Request.Avoid
	strict bool        // it goes to none that was tried
}

// triedNodes is the nodes that the attempts of a call went to. The attempts of policy.Hedge share it.
type triedNodes struct {
	mu  sync.Mutex
	ids []string
}

func (v *avoided) none() bool {
	if v.tried == nil {
		return len(v.named) == 0
	}
	v.tried.mu.Lock()
	defer v.tried.mu.Unlock()
	return len(v.named)+len(v.tried.ids) == 0 && !v.strict
}

// add notes a node that an attempt went to.
func (v *avoided) add(id string) {
	if v.tried == nil {
		v.tried = &triedNodes{}
	}
	v.tried.mu.Lock()
	defer v.tried.mu.Unlock()
	if !slices.Contains(v.tried.ids, id) {
		v.tried.ids = append(v.tried.ids, id)
	}
}

// wasTried reports whether an attempt went to the node.
func (v *avoided) wasTried(id string) bool {
	if v.tried == nil {
		return false
	}
	v.tried.mu.Lock()
	defer v.tried.mu.Unlock()
	return slices.Contains(v.tried.ids, id)
}

// pick chooses the node for an attempt: by the balancer among the nodes that are well. Nodes that the call has tried are chosen
// again only where there are no others.
func (a *remoteAction) pick(o *callOptions, v *avoided) (provider, error) {
	if o.node != "" {
		return a.op.node.providerByName(a.action.Name, o.node)
	}
	all := a.providers.Load()
	switch {
	case all == nil || len(all.nodes) == 0:
		return provider{}, a.absence(o)
	case len(all.nodes) == 1 && !v.strict:
		return all.nodes[0], nil
	}
	well := all.choose(a)
	if v.none() {
		among := well.share(o.key)
		p := among.nodes[slices.Index(among.candidates, a.balancer.Pick(among.candidates, o.key))]
		if p.record.OnTrial() {
			p.onTrial = p.record.Claim()
			if p.onTrial && p.reachable() {
				return p, nil
			}
		} else if p.reachable() {
			return p, nil
		}
	}
	return a.pickOther(all, well, o, v)
}

// pickOther chooses a node for an attempt that avoids some, or whose first choice cannot be reached: one that is well and was not
// tried; or one that was left out and was not tried; or one that was tried.
func (a *remoteAction) pickOther(all *providers, well *choice, o *callOptions, v *avoided) (provider, error) {
	named := func(p *provider) bool { return slices.Contains(v.named, p.id) }
	for _, step := range []struct {
		from   []provider
		keep   func(*provider) bool
		strict bool
	}{
		{well.nodes, func(p *provider) bool { return !named(p) && !v.wasTried(p.id) && !p.record.OnTrial() }, true},
		{all.nodes, func(p *provider) bool { return !named(p) && !v.wasTried(p.id) && !p.suspected() }, true},
		{well.nodes, func(p *provider) bool { return !named(p) }, false},
		{all.nodes, func(p *provider) bool { return !named(p) }, false},
		{all.nodes, func(*provider) bool { return true }, false},
	} {
		if v.strict && !step.strict {
			break
		}
		nodes := filterProviders(step.from, func(p *provider) bool { return p.reachable() && step.keep(p) })
		if len(nodes) > 0 {
			candidates := candidatesOf(nodes)
			return nodes[slices.Index(candidates, a.balancer.Pick(candidates, o.key))], nil
		}
	}
	if v.strict {
		return provider{}, a.absence(o)
	}
	return all.nodes[slices.Index(all.candidates, a.balancer.Pick(all.candidates, o.key))], nil
}

// measured is a call that is counted for balancers and compared with those of other nodes.
type measured struct {
	to      *provider
	began   int64     // for balancers
	start   int64     // for the comparison
	trialed time.Time // where the call is a trial
}

// measure begins to count a call to the node. Calls with a key are not compared by their times: one node's keys may be more work than
// another's. n is the number of calls that were made with the request.
func (p *provider) measure(keyed bool, n uint32) measured {
	m := measured{to: p, began: p.candidate.Begin()}
	switch {
	case p.onTrial:
		m.trialed = time.Now()
	case !keyed:
		m.start = p.record.Begin(n)
	}
	return m
}

// end counts how the call ended.
func (m *measured) end(o outlier.Outcome) {
	m.to.candidate.End(m.began, o == outlier.Failure || o == outlier.Overload)
	if m.to.onTrial {
		m.to.record.EndTrial(o, time.Since(m.trialed))
		return
	}
	m.to.record.End(m.start, o)
}

// outcomeOf returns what the error of an attempt shows about the node.
func outcomeOf(err error) outlier.Outcome {
	switch e := err.(type) {
	case nil:
		return outlier.Success
	case *wire.LostError:
		if e.Err == wire.ErrGoingAway {
			return outlier.Neither
		}
		return outlier.Failure
	case *Error:
		switch {
		case e.Code == CodeCanceled, e.Retryable && (e.Name == nameActionNotFound || e.Name == nameServiceUnavailable || e.Name == nameGroupGone):
			return outlier.Neither
		case e.Code == CodeResourceExhausted:
			return outlier.Overload
		case e.Code == CodeUnavailable, e.Code == CodeDeadlineExceeded, e.Retryable:
			return outlier.Failure
		}
		return outlier.Success
	}
	return outcomeOf(AsError(err))
}

// follow has the comparison follow the nodes that offer the action, and gives each its record.
func (a *remoteAction) follow(nodes []provider, before *providers) {
	n := a.op.node
	group := a.outliers.Load()
	switch {
	case n.outlier.Off || a.action.Stream:
		return
	case len(nodes) < 2:
		if group != nil {
			group.Follow(nil)
		}
		return
	case group == nil:
		group = outlier.New(n.outlier, func(c *outlier.Change) { n.healthChanged(a.action.Name, c) })
		a.outliers.Store(group)
	}
	records := make([]*outlier.Record, len(nodes))
	for i := range nodes {
		p := &nodes[i]
		if p.record = before.known(p); p.record == nil {
			p.record = group.NewRecord(p.id)
		}
		records[i] = p.record
	}
	group.Follow(records)
}

// healthChanged makes calls choose anew among the nodes, and reports a node that is left out, or back.
func (n *Node) healthChanged(action string, c *outlier.Change) {
	n.health.Add(1)
	if c == nil {
		return
	}
	kind := signal.NodeReturned
	left := introspect.LeftOut{Node: c.Node, By: n.id, Action: action, Reason: string(c.Reason), Times: c.Count}
	if c.Reason == "" {
		n.emitLater("$node.returned", left)
		n.log.Info("a node gets calls again", "node", n.id, "action", action, "peer", c.Node)
	} else {
		kind = signal.NodeLeftOut
		left.Since = time.Now()
		left.Until = left.Since.Add(c.For)
		n.emitLater("$node.left_out", left)
		n.log.Warn("a node gets no calls for a while", "node", n.id, "action", action, "peer", c.Node, "reason", string(c.Reason), "for", c.For, "times", c.Count)
	}
	if n.signal != nil {
		n.signal(kind, action, c.Node)
	}
}

// emitLater emits an event of the runtime itself. It does not wait, because such changes come in the middle of calls.
func (n *Node) emitLater(event string, payload introspect.LeftOut) {
	emit := func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, emitLimit)
		defer cancel()
		return Emit(ctx, n, event, payload)
	}
	go isolateGoroutine("the event "+event, background, emit, func(err error) {
		if err != nil {
			n.logPanic(background, err)
			n.log.Debug("an event did not reach all of its handlers", "node", n.id, "event", event, "error", err)
		}
	})
}

const emitLimit = 5 * time.Second

// Suspected makes calls choose anew when a peer has begun to be silent, or to answer again.
func (h meshHost) Suspected(l *wire.Link) {
	h.node.health.Add(1)
	text := "a node answers again"
	if l.Suspected() {
		text = "a node answers nothing: calls prefer others"
	}
	h.node.log.Info(text, "node", h.node.id, "peer", l.Peer().Node)
}

// Look compares the nodes that offer each action.
func (h meshHost) Look() {
	for _, a := range h.node.table.Load().madeActions() {
		if group := a.outliers.Load(); group != nil {
			group.Look()
		}
	}
}

// leftOut lists the actions for which nodes are left out, by node.
func (n *Node) leftOut() map[string][]introspect.LeftOut {
	list := make(map[string][]introspect.LeftOut)
	for _, a := range n.table.Load().madeActions() {
		group := a.outliers.Load()
		if group == nil {
			continue
		}
		for _, s := range group.Out() {
			list[s.Node] = append(list[s.Node], introspect.LeftOut{Node: s.Node, By: n.id, Action: a.action.Name, Reason: string(s.Reason), Since: s.Since, Until: s.Until, Times: s.Count})
		}
	}
	for _, of := range list {
		sort.Slice(of, func(i, j int) bool { return of[i].Action < of[j].Action }) // slices.SortFunc takes 20 KB of the program for each struct
	}
	return list
}
