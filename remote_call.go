package sabir

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/outlier"
	"github.com/sabir-go/sabir/internal/wire"
)

// maxReroutes bounds the other nodes that are tried for a call or an event whose link was lost before it was sent.
const maxReroutes = 3

// roundTrip sends the request to one of the nodes that offer the action, and returns its answer. A request that certainly
// never reached a node goes to another at once, and so does one that arrived when the action had just been removed there.
func (f *remoteRequest) roundTrip(ctx context.Context) error {
	c := f.caller
	for rerouted := 0; ; rerouted++ {
		to, err := c.target.pick(&f.options, &f.attempts.avoided)
		if err != nil && f.attempts.strict {
			return err
		}
		if err != nil {
			now, err := c.target.await(ctx, &f.options, err)
			if err != nil {
				return err
			}
			if own, isLocal := now.(local); isLocal {
				return c.callHere(ctx, own, f)
			}
			c = now.(*remoteAction).callerOf(c.in, c.out)
			continue
		}
		f.attempts.node = to.id
		if f.attempts.shared {
			f.attempts.add(to.id)
		}
		if to.foreign != nil {
			err = c.callForeign(ctx, &to, f)
		} else if to.peer != nil {
			err = c.callPeer(ctx, &to, f)
		} else if own := c.target.providers.Load().own; own != nil {
			err = c.callLocal(ctx, &to, own, f)
		} else {
			continue // it has just gone, and is not among the offers any more
		}
		if err == nil {
			return nil
		}
		f.attempts.add(to.id)
		lost, ok := err.(*wire.LostError)
		switch {
		case to.isHere():
			return err
		case ok && (lost.Sent || rerouted == maxReroutes || ctx.Err() != nil):
			return c.target.linkLost(to.id, lost)
		case !ok && !(c.target.notTaken(err) && f.options.node == "" && c.target.hasOther(rerouted, &f.attempts.avoided)):
			return finalError(err)
		case !ok:
			c.target.action.budget.Spend() // it was sent; one that was not is no further work for any node
		}
	}
}

// hasOther reports whether a call that its node did not take goes to another one. One that has gone in the meantime is not among the
// nodes any more, so those that were not tried are looked at, and not only how many there are.
func (a *remoteAction) hasOther(rerouted int, v *avoided) bool {
	all := a.providers.Load()
	if all == nil || rerouted >= maxReroutes {
		return false
	}
	return rerouted < len(all.nodes)-1 || slices.ContainsFunc(all.nodes, func(p provider) bool { return !v.wasTried(p.id) })
}

// finalError is the error of a call that no other node is tried for: an action that is not there is no reason to try again.
func finalError(err error) error {
	if e, ok := err.(*Error); ok && e.Name == nameActionNotFound {
		e.Retryable = false
	}
	return err
}

// linkCodec holds the declarations on one link for the calls of a remoteCaller: the route, and the encoding of the types.
type linkCodec struct {
	link         *wire.Link
	route        *wire.Route
	in, out      valueFormat
	schemaNumber uint32 // of the input's schema on the link
	reader       atomic.Pointer[reader]
}

// codecOn finds or makes the linkCodec of a link. There are as many as links, so it looks through them in order. A new one
// is added to a copy of the list, because calls read the list without a lock.
func (c *remoteCaller) codecOn(l *wire.Link) (*linkCodec, error) {
	if known := c.codecs.Load(); known != nil {
		for _, lc := range *known {
			if lc.link == l {
				return lc, nil
			}
		}
	}
	made := &linkCodec{link: l}
	format, err := c.target.op.node.chooseFormat(c.target.action, l.Peer().Node, mesh.Codecs(l), c.in, c.out)
	if err != nil {
		return nil, err
	}
	if made.in, err = formatOf(c.in, format); err == nil {
		made.out, err = formatOf(c.out, format)
	}
	if err != nil {
		return nil, badInput(c.target.op.node, "the types of a call of "+c.target.action.Name, err)
	}
	made.schemaNumber = made.in.schemaNumber(l)
	made.route = l.Declare(c.target.kind, c.target.routeName(), format)
	for {
		old := c.codecs.Load()
		grown := []*linkCodec{made}
		if old != nil {
			for _, other := range *old {
				if other.link != l && other.link.Err() == nil { // those of lost links go
					grown = append(grown, other)
				}
			}
		}
		if c.codecs.CompareAndSwap(old, &grown) {
			return made, nil
		}
	}
}

// callPeer sends the call, and counts it among those in flight to the peer, by which balancers choose, and by how it ended.
func (c *remoteCaller) callPeer(ctx context.Context, to *provider, f *remoteRequest) (err error) {
	m := to.measure(f.options.key != "", f.calls)
	outcome := outlier.Failure // where a method of the input or the answer ends the goroutine
	defer func() { m.end(outcome) }()
	err = to.peer.call(ctx, c, f)
	outcome = outcomeOf(err)
	return err
}

// callOverLink sends the request over a link to the peer and decodes the answer. The input is encoded into the link's own
// buffer, and the answer may become part of the output: see Keep.
func (c *remoteCaller) callOverLink(ctx context.Context, p *mesh.Peer, f *remoteRequest) error {
	link, err := c.target.connect(ctx, p, f.options.timeout)
	if err != nil {
		return err
	}
	lc, err := c.codecOn(link)
	if err != nil {
		return err
	}
	call := link.Call(lc.route)
	defer call.Free()
	fillMeta(&call.Meta, ctx, c.target.op)
	var takes gateway.Answer
	if call.Level == 0 && call.RequestID != "" { // of a gateway, which gives every call an id
		takes = answerOf(ctx)
		call.TakesPairs = takes != nil
	}
	if call.Event = c.target.event(); call.Event != "" {
		call.Groups = callOf(ctx).groups()
	}
	call.Timeout = f.options.timeout
	if left := timeLeft(ctx); left > 0 && (call.Timeout == 0 || left < call.Timeout) {
		call.Timeout = left
	}
	data, err := lc.in.append(call.Buf(), lc.schemaNumber, f.in)
	if err != nil {
		return badSent(c.target.op.node, "the input of "+c.target.action.Name, f.in, err)
	}
	err = call.Do(ctx, data)
	if takes != nil {
		takePairs(call.Pairs(), takes)
	}
	if err != nil {
		return c.target.callError(p, link, err)
	}
	kept, err := lc.out.decode(call.Reply(), call.Schema(), sharesIf(call.Owned()), &lc.reader, f.out)
	if kept {
		call.Keep()
	}
	if err != nil {
		return c.target.op.node.badOutput("the answer of "+c.target.action.Name, p.ID, "cannot be read", err)
	}
	return nil
}

// connect returns a link to the peer, which is made where the peer is at rest. timeout is that of the call; 0 for none.
func (a *remoteAction) connect(ctx context.Context, p *mesh.Peer, timeout time.Duration) (*wire.Link, error) {
	if l := p.Link(); l != nil {
		return l, nil
	}
	if timeout > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, timeout)
		defer cancel()
	}
	l, err := p.Connect(ctx)
	if err != nil {
		return nil, a.callError(p, nil, err)
	}
	return l, nil
}

// callLocal makes a call for which the balancer chose this node.
func (c *remoteCaller) callLocal(ctx context.Context, to *provider, own local, f *remoteRequest) (err error) {
	m := to.measure(f.options.key != "", f.calls)
	defer func() { m.end(outcomeOf(err)) }()
	return c.callHere(ctx, own, f)
}

// callHere makes a call to an action of this node.
func (c *remoteCaller) callHere(ctx context.Context, own local, f *remoteRequest) error {
	return own.callAny(ctx, f.in, f.out, f.options)
}

// fillMeta fills in what goes with a call besides its input. own is the operation of the call itself: the other node gets
// the caller's.
func fillMeta(m *wire.Meta, ctx context.Context, own *operation) {
	if c, ok := ctx.(*callContext); ok && c.shared && c.parent == nil {
		return // a call from a bare context carries nothing
	}
	m.Metadata, m.RequestID = metadataOf(ctx), requestIDOf(ctx)
	c := callOf(ctx)
	if c != nil && c.op == own {
		c = c.parent
	}
	if c != nil {
		m.Level, m.Caller = int(c.level), c.op.callerName()
	}
}

// providerByName is the node that a call names.
func (n *Node) providerByName(action, node string) (provider, error) {
	if m := n.cluster(); m != nil {
		if p, known := m.provider(node); known {
			return p, nil
		}
	}
	if f := n.foreign.all()[node]; f != nil {
		return provider{id: node, foreign: f, candidate: f.candidate}, nil
	}
	e := &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true,
		Message: "cannot call " + action + " on node " + node + ": there is no link to a node of that name"}
	if near := n.nearestNodes(node); near != nil {
		e.Message += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return provider{}, e
}

// nearestNodes returns the nodes of the cluster that an id may be a slip of; none for a node that is known.
func (n *Node) nearestNodes(id string) []string {
	var known []string
	for _, one := range n.Nodes() {
		if one.ID == id {
			return nil
		}
		if !one.ClientOnly {
			known = append(known, one.ID)
		}
	}
	return names.Nearest(id, known)
}

// callError makes the caller's error of the one that a call or a stream over the link ended with.
func (a *remoteAction) callError(p *mesh.Peer, link *wire.Link, err error) error {
	switch e := err.(type) {
	case *wire.Failure:
		return fromFailure(e)
	case *wire.LostError:
		if e.Err == wire.ErrGoingAway {
			p.Refused(link)
		}
		return e
	}
	if errors.Is(err, context.DeadlineExceeded) || errors.Is(err, context.Canceled) {
		return a.op.contextError(cause(err))
	}
	return a.linkLost(p.ID, &wire.LostError{Sent: true, Node: p.ID, Err: err})
}

func cause(err error) error {
	if errors.Is(err, context.DeadlineExceeded) {
		return context.DeadlineExceeded
	}
	return context.Canceled
}

// linkLost is the error of a call whose link was lost. One that may have reached the other node may have been done there, so
// trying again is harmless only for an action that was declared Idempotent.
func (a *remoteAction) linkLost(node string, lost *wire.LostError) *Error {
	e := &Error{Code: CodeUnavailable, Name: nameLinkLost, Node: node, cause: lost, Retryable: !lost.Sent || a.action.Idempotent,
		Message: "the link to " + node + " was lost before " + a.action.Name + " answered"}
	if !lost.Sent {
		e.Message = "no link to " + node + " for a call of " + a.action.Name
	}
	return e
}

// fromFailure makes the *Error that another node sent.
func fromFailure(f *wire.Failure) *Error {
	e := &Error{Code: Code(f.Code), Name: f.Name, Message: f.Message, Retryable: f.Retryable, Node: f.Node}
	if e.Code == CodeOK || int(e.Code) >= len(codes) {
		e.Code = CodeUnknown
	}
	if len(f.Data) > 0 {
		if err := decodeJSON(f.Data, &e.Data); err != nil {
			e.Data = nil
		}
	}
	return e
}

// failureOf is an error in the form that goes over a link. What it wraps and the stack of a panic stay here, and so do data
// without a JSON form. Where a method of the data panics, that is the error instead.
func (n *Node) failureOf(err error) *wire.Failure {
	e := AsError(err)
	f := &wire.Failure{Code: uint8(e.Code), Name: e.Name, Message: e.Message, Retryable: e.Retryable, Node: e.Node}
	if e.Data == nil {
		return f
	}
	data, err := json.Codec.Append(nil, e.Data)
	if err == nil {
		f.Data = data
	} else if panicked := n.panicInside("the data of the error "+e.Name, err); panicked != nil {
		return n.failureOf(panicked)
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
