package sabir

import (
	"context"
	"strings"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/codec/json"
)

// Inbound is a call that came in from outside the cluster, as a [Face] hands it over with [Action.ServeJSON].
type Inbound struct {
	// Context ends when whoever waits has gone. Nothing else is read from it than what its Value method answers.
	Context   context.Context
	RequestID string            // see WithRequestID; copied
	Metadata  map[string]string // see WithMetadata; must not be changed later
	// Limit is how long the call may take, 0 for no limit. At its end the handler's context ends and the face's caller is
	// answered, even when the handler does not return.
	Limit time.Duration
	// Watched says that the face answers its caller at the limit by itself, on another goroutine than the one that called
	// ServeJSON; the handler then runs on that one and may keep it longer. It spares a change of goroutines for each call.
	Watched bool
	// Strict refuses an input with members that its type has no field for. For an action of another node it does nothing.
	Strict bool
	// Lent answers what Context and the rest do not, but only until ServeJSON returns, so that it can be something that the face
	// uses again. Its Value method is called by any goroutine that has the call's context, and perhaps still in the moment
	// after the return: it must be safe at all times. nil for none.
	Lent interface{ Value(key any) any }
}

var strictJSON = json.New(json.Strict())

// decode reads the input.
func (in *Inbound) decode(body []byte, v any) error {
	if in.Strict {
		return strictJSON.Decode(body, v)
	}
	return decodeJSON(body, v)
}

// ServeJSON is [Action.AppendJSON] for a face: it calls this very action with a JSON document that came from outside and
// appends its answer to dst. Empty input stands for {}. On an error it returns dst as it was. body may be used again when it
// returns.
func (a *Action) ServeJSON(in Inbound, dst, body []byte) ([]byte, error) {
	if a.endpoint == nil {
		return dst, a.notHere()
	}
	if len(body) == 0 {
		body = emptyObject
	}
	return a.endpoint.serveJSON(in, dst, body)
}

var emptyObject = []byte("{}")

func (h *handler[In, Out]) serveJSON(in Inbound, dst, body []byte) ([]byte, error) {
	f := h.takeFrame()
	defer h.putFrame(f)
	f.action = h.action
	if err := in.decode(body, &f.in); err != nil {
		return dst, h.badInput(err)
	}
	c, failed := h.step.enterInbound(&in)
	if failed != nil {
		return dst, failed
	}
	defer c.came.end()
	if err := h.serveInbound(&in, f, c); err != nil {
		return dst, h.step.node.located(err)
	}
	return h.step.node.appendJSON(dst, h.action, &f.out)
}

func (h *handler[In, Out]) serveInbound(in *Inbound, f *frame[In, Out], c *calledFromOutside) (err error) {
	if gate := h.step.gate; gate != nil {
		if !gate.enter() {
			return h.step.node.unavailable(h.action.Name)
		}
		defer gate.leave()
	}
	switch {
	case in.Limit > 0 && !in.Watched && !h.step.inline:
		return f.guarded(&c.call, c.came.deadline, h.chain)
	case !h.direct:
		return f.attempt(&c.call, h.chain)
	}
	if err := h.validate(&f.in); err != nil {
		return err
	}
	f.out, err = h.run(&c.call, &c.call, f.in)
	return err
}

// calledFromOutside is the contexts of a call that came in through a face, in one allocation: what a handler gets, and what
// came with the call. A handler may keep its context for as long as it likes, so it is never used again.
type calledFromOutside struct {
	call callContext
	came outsideContext
}

// outsideContext is what came with a call through a face: its limit, which is a zero deadline for none, and values.
type outsideContext struct {
	deadlineContext // over the face's context
	metadata        map[string]string
	requestID       string
	lent            interface{ Value(key any) any }
	room            [len("00000000-0000-4000-8000-000000000000")]byte // for the request id
}

func (c *outsideContext) Deadline() (time.Time, bool) {
	if c.deadline.IsZero() {
		return c.Context.Deadline()
	}
	return c.deadlineContext.Deadline()
}

func (c *outsideContext) Done() <-chan struct{} {
	if c.deadline.IsZero() {
		return c.Context.Done()
	}
	return c.deadlineContext.Done()
}

func (c *outsideContext) Err() error {
	if c.deadline.IsZero() {
		return c.Context.Err()
	}
	return c.deadlineContext.Err()
}

func (c *outsideContext) Value(key any) any {
	switch key.(type) {
	case metadataKey:
		return c.metadata
	case requestIDKey:
		if c.requestID != "" {
			return c.requestID
		}
		return nil
	}
	if c.lent != nil && !c.ended.Load() {
		if v := c.lent.Value(key); v != nil {
			return v
		}
	}
	return c.deadlineContext.Value(key)
}

// enterInbound makes the context for a call of s that came in through a face.
func (s *step) enterInbound(in *Inbound) (*calledFromOutside, *Error) {
	if err := in.Context.Err(); err != nil {
		return nil, s.gaveUp(err)
	}
	c := &calledFromOutside{}
	c.came.fill(in, s.node)
	c.call.Context, c.call.step, c.call.level = &c.came, s, 1
	if in.Limit > 0 && in.Watched {
		c.call.until = &c.came.deadline // calls nested in this one need no guard
	}
	return c, nil
}

// fill makes an empty context that of a call.
func (c *outsideContext) fill(in *Inbound, n *Node) {
	c.Context, c.metadata, c.lent = in.Context, in.Metadata, in.Lent
	if len(in.RequestID) <= len(c.room) {
		c.requestID = unsafe.String(&c.room[0], copy(c.room[:], in.RequestID)) // written once, here
	} else {
		c.requestID = strings.Clone(in.RequestID)
	}
	if in.Limit > 0 {
		c.deadline = n.epoch.Add(time.Since(n.epoch) + in.Limit) // half the price of time.Now
	}
}

func (h *streamHandler[In, Out]) serveJSON(_ Inbound, dst, _ []byte) ([]byte, error) {
	return dst, h.streamWanted()
}

func (a *away) serveJSON(in Inbound, dst, body []byte) ([]byte, error) {
	var c outsideContext
	c.fill(&in, a.step.node)
	defer c.end()
	return a.callJSON(&c, body, dst, callOptions{})
}
