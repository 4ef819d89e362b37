package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/codec/native"
	"github.com/sabir-go/sabir/wire"
)

// matchAway finds the other nodes that take an event, for a plan that has the groups of this node.
//
// Events travel as calls whose answer is nothing: so the emitter knows that they arrived, and cannot send more than the
// other side takes.
func (t *eventTable) matchAway(name string, p *eventPlan) {
	if t.view == nil {
		return
	}
	linked := t.node.linkedPeers()
	byGroup := make(map[string]*offers)
	var groups []string
	byNode := make(map[string]bool)
	t.view.Subscriptions(func(node string, _ *cluster.Service, sub cluster.Subscription) bool {
		to := linked[node]
		if to == nil || !matches(sub.Pattern, name) {
			return true
		}
		if !byNode[node] {
			byNode[node] = true
			a := t.node.newEventAway(name)
			a.offers.Store(&offers{peers: []*peer{to}})
			p.others = append(p.others, a)
		}
		if p.hasGroup(sub.Group) {
			return true
		}
		o := byGroup[sub.Group]
		if o == nil {
			o = &offers{}
			byGroup[sub.Group] = o
			groups = append(groups, sub.Group)
		}
		if !slices.Contains(o.peers, to) {
			o.peers, o.candidates = append(o.peers, to), append(o.candidates, to.stats.Load())
		}
		return true
	})
	for _, group := range groups {
		a := t.node.newEventAway(groupRoute(name, group))
		a.offers.Store(byGroup[group])
		p.away = append(p.away, a)
	}
}

func (p *eventPlan) hasGroup(name string) bool {
	for i := range p.groups {
		if p.groups[i].name == name {
			return true
		}
	}
	return false
}

// groupRoute is the name of the route of an event that one group is to get.
func groupRoute(event, group string) string { return event + "@" + group }

// newEventAway is where an event goes over links: its route has the event's name, or that of groupRoute.
func (n *Node) newEventAway(route string) *away {
	a := &away{action: &Action{Name: route, Remote: true, node: n}, step: newStep(n, "", route), balancer: n.balancerFor(route), kind: wire.EventRoute}
	a.step.event = true
	return a
}

// tell sends an event to other nodes, all at once, and waits until they have it.
func tell[T any](ctx context.Context, to []*away, payload T) error {
	if len(to) == 1 {
		return tellOne(ctx, to[0], payload)
	}
	errs := make([]error, len(to))
	var wg sync.WaitGroup
	for i, a := range to {
		wg.Go(func() { errs[i] = tellOne(ctx, a, payload) })
	}
	wg.Wait()
	return errors.Join(errs...)
}

func tellOne[T any](ctx context.Context, to *away, payload T) error {
	_, err := callAway[Nothing](ctx, to, payload, callOptions{})
	if err != nil && to.left(err) {
		return nil // the last of the group have just left, which this node did not know yet: nobody takes the event, as may be
	}
	return err
}

// left tells whether an event did not arrive because all that were to get it have left in peace, or their handlers have.
func (a *away) left(err error) bool {
	to := a.offers.Load().peers
	if lost, ok := errors.AsType[*wire.LostError](err); ok {
		return !lost.Sent && !slices.ContainsFunc(to, func(p *peer) bool { return !p.hasLeft() })
	}
	return a.gone(err) && len(to) <= 1+maxReroutes
}

// gone tells whether nobody took a call or an event on the node that it went to, because the action or the handlers of the
// group have just gone.
func (a *away) gone(err error) bool {
	failure, ok := err.(*Error)
	switch {
	case !ok || !failure.Retryable: // a handler has run
		return false
	case a.kind == wire.EventRoute:
		return failure.Name == nameGroupGone
	}
	return failure.Name == nameActionNotFound || failure.Name == nameUnavailable
}

// others is how many other nodes a call or an event goes to, one after the other, where nobody takes it.
func (a *away) others() int { return min(maxReroutes, len(a.offers.Load().peers)-1) }

// servedEvent is the events of one name that a peer sends, as this node's handlers get them.
type servedEvent struct {
	node    *Node
	event   string
	group   string // "" for all
	format  string
	refused *Error // why events may not come in the format; nil if they may
}

// Inline is false: handlers of events may block.
func (s *servedEvent) Inline() bool { return false }

// Serve gives one event to its handlers.
func (s *servedEvent) Serve(in *wire.Inbound) {
	if s.refused != nil {
		in.Fail(failureOf(s.refused))
		return
	}
	if err := s.deliver(in); err != nil {
		in.Fail(failureOf(s.node.located(err)))
		return
	}
	number, err := nothingForm.number(in.Link())
	if err == nil {
		var data []byte
		data, err = nothingForm.append(in.Buf(), number, &Nothing{})
		in.Reply(data)
	}
	if err != nil {
		in.Fail(failureOf(err))
	}
}

var nothingForm, _ = formOf[Nothing](native.Name)

func (s *servedEvent) deliver(in *wire.Inbound) error {
	plan, err := s.node.events.Load().plan(s.event)
	if err != nil {
		return err
	}
	found := false
	for i := range plan.groups {
		g := &plan.groups[i]
		members := g.members
		if s.group != "" {
			if g.name != s.group {
				continue
			}
			members = []*delivery{g.pick()}
		}
		found = true
		for _, at := range members {
			failed := at.receiver.receiveFrom(in, at, s.format)
			if failed == errGone && s.group != "" {
				return s.deliver(in) // another of the group may still be there
			}
			if failed != nil && failed != errGone && err == nil {
				err = failed
			}
		}
	}
	if !found && s.group != "" {
		return &Error{Code: Unavailable, Name: nameGroupGone, Node: s.node.id, Retryable: true,
			Message: "nobody in group " + s.group + " takes " + s.event + " on node " + s.node.id + " any more"}
	}
	return err
}

// ServeStream is never called: no stream is opened on a route of events.
func (s *servedEvent) ServeStream(stream *wire.Stream) {
	stream.End(&wire.Failure{Code: uint8(Unimplemented), Name: nameNoStream, Message: "an event is no stream", Node: s.node.id})
}

// receiving is how an event handler's payload travels in one format.
type receiving[T any] struct {
	form   form[T]
	reader atomic.Pointer[reader[T]]
	broken error
}

func (h *eventHandler[T]) receivingIn(format string) *receiving[T] {
	if format == native.Name && !untyped(h.sub.Type) {
		return h.native
	}
	if known, ok := h.others.Load(format); ok {
		return known.(*receiving[T])
	}
	r := newReceiving[T](format)
	if r.broken == nil {
		h.others.Store(format, r)
	}
	return r
}

func newReceiving[T any](format string) *receiving[T] {
	r := &receiving[T]{}
	r.form, r.broken = formOf[T](format)
	return r
}

func (h *eventHandler[T]) receiveFrom(in *wire.Inbound, at *delivery, format string) error {
	r := h.receivingIn(format)
	var payload T
	err := r.broken
	if err == nil {
		_, err = r.form.decode(in.Payload(), in.Schema(), false, &r.reader, &payload) // not owned: other handlers read it too
	}
	if err != nil {
		err = badInput(h.node, fmt.Sprintf("the payload, for the handler of %s in %s which takes %s,", h.sub.Pattern, h.sub.Service, h.sub.Type), err)
		h.node.logEvent(in.Context(), at, err)
		return nil // the emitter did nothing wrong: other handlers understood it
	}
	c, failed := at.step.enterFrom(in, nil)
	if failed != nil {
		return failed
	}
	return h.receiveIn(c, c, at, payload)
}
