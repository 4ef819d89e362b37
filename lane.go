package sabir

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/wire"
)

// maxReroutes is how many other nodes a call is offered to when links are lost before it left, or an event.
const maxReroutes = 3

// travel takes the request to one of the nodes that offer the action, and brings its answer. What certainly never
// reached its node is taken to another at once, and so is what came when its action or its handlers had gone from there.
func (f *outgoing[In, Out]) travel(ctx context.Context) error {
	c := f.caller
	var tried []*peer
	for {
		p, err := c.to.pick(&f.options, tried)
		if err != nil {
			return err
		}
		if p == nil {
			own := c.to.offers.Load().own
			if own == nil {
				continue // it has just gone, and is not among the offers any more
			}
			self := c.to.step.node.mesh.Load().self
			began := self.Begin()
			err = c.here(ctx, own, f)
			self.End(began, overloaded(err))
			return err
		}
		stats := p.stats.Load()
		began := stats.Begin()
		err = c.over(ctx, p, f)
		lost, ok := err.(*wire.LostError)
		stats.End(began, ok || overloaded(err))
		switch {
		case ok && (lost.Sent || len(tried) == maxReroutes || ctx.Err() != nil):
			return c.to.lost(p, lost)
		case !ok && !(c.to.gone(err) && f.options.node == "" && len(tried) < c.to.others()):
			return nowhere(err)
		}
		tried = append(tried, p)
	}
}

// nowhere is the error of a call that went to no other node: an action that is not there is no reason to try again.
func nowhere(err error) error {
	if e, ok := err.(*Error); ok && e.Name == nameActionNotFound {
		e.Retryable = false
	}
	return err
}

// overloaded tells whether a node did not do the work that it was asked for.
func overloaded(err error) bool {
	if err == nil {
		return false
	}
	code := AsError(err).Code
	return code == Unavailable || code == ResourceExhausted || code == DeadlineExceeded
}

// lane is a caller's way over one link: what was declared there for its types.
type lane[In, Out any] struct {
	link   *wire.Link
	route  *wire.Route
	in     form[In]
	out    form[Out]
	number uint32 // of In's schema on the link
	reader atomic.Pointer[reader[Out]]
}

// laneOn finds or makes the lane over a link. There are as many as links, so they are looked through in order.
func (c *caller[In, Out]) laneOn(l *wire.Link) (*lane[In, Out], error) {
	if lanes := c.lanes.Load(); lanes != nil {
		for _, lane := range *lanes {
			if lane.link == l {
				return lane, nil
			}
		}
	}
	made := &lane[In, Out]{link: l}
	format, err := formatFor[In, Out](c.to.step.node, c.to.action, l.Peer().Node, theirFormats(l))
	if err != nil {
		return nil, err
	}
	if made.in, err = formOf[In](format); err == nil {
		made.out, err = formOf[Out](format)
	}
	if err != nil {
		return nil, badInput(c.to.step.node, "the types of a call of "+c.to.action.Name, err)
	}
	if made.number, err = made.in.number(l); err != nil {
		return nil, err
	}
	made.route = l.Declare(c.to.kind, c.to.action.Name, format)
	for {
		old := c.lanes.Load()
		grown := []*lane[In, Out]{made}
		if old != nil {
			for _, other := range *old {
				if other.link != l && other.link.Err() == nil { // those of lost links go
					grown = append(grown, other)
				}
			}
		}
		if c.lanes.CompareAndSwap(old, &grown) {
			return made, nil
		}
	}
}

// over sends the request over a link to the peer and reads the answer.
func (c *caller[In, Out]) over(ctx context.Context, p *peer, f *outgoing[In, Out]) error {
	link := p.link()
	if link == nil {
		return &wire.LostError{Node: p.id, Err: wire.ErrClosed}
	}
	lane, err := c.laneOn(link)
	if err != nil {
		return err
	}
	call := link.Call(lane.route)
	defer call.Free()
	fillMeta(&call.Meta, ctx, c.to.step)
	call.Timeout = f.options.timeout
	if left := timeLeft(ctx); left > 0 && (call.Timeout == 0 || left < call.Timeout) {
		call.Timeout = left
	}
	data, err := lane.in.append(call.Buf(), lane.number, &f.in)
	if err != nil {
		return badInput(c.to.step.node, "the input of "+c.to.action.Name, err)
	}
	if err := call.Do(ctx, data); err != nil {
		return c.to.failed(p, link, err)
	}
	kept, err := lane.out.decode(call.Reply(), call.Schema(), call.Owned(), &lane.reader, &f.out)
	if kept {
		call.Keep()
	}
	if err != nil {
		return &Error{Code: Internal, Name: nameBadOutput, Node: p.id, cause: err,
			Message: "the answer of " + c.to.action.Name + " cannot be read: " + err.Error()}
	}
	return nil
}

// here is the way of a call that the balancer left on this node.
func (c *caller[In, Out]) here(ctx context.Context, own local, f *outgoing[In, Out]) (err error) {
	if h, ok := own.(*handler[In, Out]); ok {
		f.out, err = h.callWith(ctx, f.in, f.options)
		return err
	}
	return own.callAny(ctx, &f.in, &f.out, f.options)
}

// fillMeta fills in what travels with a call besides its input. own is the step of the call itself, whose caller is
// what the other node is told of.
func fillMeta(m *wire.Meta, ctx context.Context, own *step) {
	if c, ok := ctx.(*callContext); ok && c.shared && c.parent == nil {
		return // a call from a bare context carries nothing
	}
	m.Metadata, m.RequestID = Metadata(ctx), RequestID(ctx)
	c := callOf(ctx)
	if c != nil && c.step == own {
		c = c.parent
	}
	if c != nil {
		m.Level, m.Caller = int(c.level), c.step.name
	}
}

// pick chooses the node for a call: nil for this one. Those that the call tried in vain are taken again only where there are
// no others.
func (a *away) pick(o *callOptions, tried []*peer) (*peer, error) {
	if o.node != "" {
		return a.step.node.peerByName(a.action.Name, o.node)
	}
	offers := a.offers.Load()
	switch {
	case offers == nil || len(offers.peers) == 0:
		return nil, a.step.node.noNode(a.action.Name)
	case len(offers.peers) == 1:
		return offers.peers[0], nil
	}
	at := slices.Index(offers.candidates, a.balancer.Pick(offers.candidates, o.key))
	for i := range offers.peers { // past those that were lost a moment ago
		p := offers.peers[(at+i)%len(offers.peers)]
		if p == nil || len(p.allLinks()) > 0 && !slices.Contains(tried, p) {
			return p, nil
		}
	}
	return offers.peers[at], nil
}

// peerByName is the node that a call names.
func (n *Node) peerByName(action, node string) (*peer, error) {
	if m := n.mesh.Load(); m != nil {
		if p := m.linkedPeer(node); p != nil {
			return p, nil
		}
	}
	return nil, &Error{Code: Unavailable, Name: nameUnavailable, Node: n.id, Retryable: true,
		Message: "cannot call " + action + " on node " + node + ": there is no link to a node of that name"}
}

// noNode is the error for an action whose nodes have all gone.
func (n *Node) noNode(action string) *Error {
	return &Error{Code: Unavailable, Name: nameUnavailable, Node: n.id, Retryable: true, Message: "no node offers " + action + " any more"}
}

// failed makes the caller's error of what a call or a stream over the link ended with.
func (a *away) failed(p *peer, link *wire.Link, err error) error {
	switch e := err.(type) {
	case *wire.Failure:
		return fromFailure(e)
	case *wire.LostError:
		if e.Err == wire.ErrGoingAway {
			p.mesh.refused(link)
		}
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return a.step.gaveUp(cause(err))
	}
	return a.lost(p, &wire.LostError{Sent: true, Node: p.id, Err: err})
}

func cause(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// lost is the error of a call whose link was lost. One that may have reached the other node may have been done there, so
// trying again is only harmless where the action says so.
func (a *away) lost(p *peer, lost *wire.LostError) *Error {
	e := &Error{Code: Unavailable, Name: nameLinkLost, Node: p.id, cause: lost, Retryable: !lost.Sent || a.action.Idempotent,
		Message: "the link to " + p.id + " was lost before " + a.action.Name + " answered"}
	if !lost.Sent {
		e.Message = "no link to " + p.id + " for a call of " + a.action.Name
	}
	return e
}

// fromFailure is the error of another node as the *Error that it was there.
func fromFailure(f *wire.Failure) *Error {
	e := &Error{Code: Code(f.Code), Name: f.Name, Message: f.Message, Retryable: f.Retryable, Node: f.Node}
	if e.Code == OK || int(e.Code) >= len(codes) {
		e.Code = Unknown
	}
	if len(f.Data) > 0 {
		if err := decodeJSON(f.Data, &e.Data); err != nil {
			e.Data = nil
		}
	}
	return e
}

// failureOf is an error as it goes over a link. What it wraps and the stack of a panic stay here.
func failureOf(err error) *wire.Failure {
	e := AsError(err)
	f := &wire.Failure{Code: uint8(e.Code), Name: e.Name, Message: e.Message, Retryable: e.Retryable, Node: e.Node}
	if e.Data != nil {
		f.Data, _ = json.Append(nil, e.Data) // what has no JSON form does not travel
	}
	return f
}

// timeLeft is the time until the deadline of ctx; 0 for none.
func timeLeft(ctx context.Context) time.Duration {
	deadline, ok := ctx.Deadline()
	if !ok {
		return 0
	}
	return max(time.Until(deadline), 1)
}
