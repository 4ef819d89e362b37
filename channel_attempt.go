package sabir

import (
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"time"

	"github.com/sabir-go/sabir/channel/engine"
)

// handle runs the handler for one message and reports the result to the broker.
func (c *consumer) handle(d *engine.Delivery) {
	handlerLock := &c.node.channels.handlerLock
	var marks []string
	exclusive, begun := suspected(d), false
	if exclusive {
		marks, begun = c.beginExclusive(d)
	} else {
		begun = handlerLock.lockShared(c.receiving)
	}
	if !begun { // the consumer stops, or the broker cannot be reached
		c.release(d)
		c.free(d)
		return
	}
	var err error
	returned := false
	defer func() { // also where the handler, or code of the value, ends the goroutine
		if !returned {
			err = c.goexitError(d)
		}
		done := c.settle(d, err)
		if exclusive {
			c.unmark(marks)
			handlerLock.unlockExclusive()
		} else {
			handlerLock.unlockShared()
		}
		if !done {
			c.free(d)
			return
		}
		c.running.Add(1)
		c.handled <- d
	}()
	err = c.try(d)
	returned = true
}

// goexitError is the error of a handler that ended its goroutine by runtime.Goexit.
func (c *consumer) goexitError(d *engine.Delivery) error {
	err := &Error{Code: CodeInternal, Name: namePanic, Node: c.node.id, Message: "the handler of " + c.def.spec.Name + " in " + c.sub.Service + " ended its goroutine"}
	c.node.log.Error("channel: a handler, or code of the message, ended its goroutine", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group,
		"message", d.ID, "request", d.Request, "stack", string(debug.Stack()))
	return err
}

// errAttemptsExhausted is the end of a message whose attempts were all begun before.
var errAttemptsExhausted = errors.New("all its attempts were begun, and the process ended in the last one, or its consumer had more attempts then")

// settle acts on the result of an attempt, and reports whether the message is handled.
func (c *consumer) settle(d *engine.Delivery, err error) (done bool) {
	switch {
	case err == nil:
		return true
	case c.handling.Err() != nil: // the consumer stops: the message comes again on another node
		c.release(d)
	case errors.Is(err, errAttemptsExhausted):
		d.Attempt-- // this one was not begun
		return c.deadLetter(d, err)
	case d.Attempt >= c.def.attempts || permanent(err):
		return c.deadLetter(d, err)
	default:
		after := c.backoff(d.Attempt)
		c.node.log.Warn("channel: handler failed; the message comes again", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group,
			"message", d.ID, "attempt", d.Attempt, "after", after, "request", d.Request, "error", AsError(err))
		c.retry(d, after)
	}
	return false
}

// try runs the handler once.
func (c *consumer) try(d *engine.Delivery) error {
	switch {
	case d.Only != "" && d.Only != c.def.group:
		return nil
	case d.Attempt > c.def.attempts:
		return errAttemptsExhausted
	case d.Broken != nil:
		return Reject(d.Broken)
	}
	payload, err := c.def.decode(&d.Message)
	if err != nil {
		if failed := c.node.panicInside("the message for "+c.def.spec.Name, err); failed != nil {
			return failed // and tried again: what the code of a type does may be another thing the next time
		}
		return Reject(badInput(c.node, fmt.Sprintf("the message, for the handler in %s which takes %s,", c.sub.Service, c.sub.Type), err))
	}
	ctx := context.WithValue(c.handling, deliveryKey{}, &Delivery{Channel: c.def.spec.Name, Group: c.def.group, ID: d.ID, Sequence: d.Sequence,
		Published: d.Time, Attempt: d.Attempt, Attempts: c.def.attempts, Dead: d.Dead})
	if len(d.Metadata) > 0 {
		ctx = context.WithValue(ctx, metadataKey{}, d.Metadata)
	}
	if d.Request != "" {
		ctx = WithRequestID(ctx, d.Request)
	}
	call, failed := c.op.enter(ctx)
	if failed != nil {
		return failed
	}
	e := &Event{Name: c.def.spec.Name, Subscription: c.sub, payload: payload}
	err = isolate(c.def.spec.Name, call, func(ctx context.Context) error { return c.chain(ctx, e) })
	if err != nil { // what is asked of it later is asked here first, where a panic of its own code is contained
		err = isolate("the error of a handler of "+c.def.spec.Name, call, func(context.Context) error {
			_, _, _ = err.Error(), AsError(err), permanent(err)
			return err
		})
	}
	c.node.logPanic(call, err)
	return err
}

// invoke is the inner end of the chain.
func (c *consumer) invoke(ctx context.Context, payload any) (err error) {
	call := callOf(ctx)
	defer func() {
		if v := recover(); v != nil {
			err = call.closeScope(panicError("the handler of "+c.def.spec.Name+" in "+c.sub.Service, v))
		}
	}()
	err = c.def.invoke(ctx, payload)
	if call.hasScope() {
		err = call.closeScope(err)
	}
	return err
}

// backoff is the pause after an attempt.
func (c *consumer) backoff(attempt int) time.Duration {
	d := c.def.first << max(0, min(attempt-1, 30)) // the number of an attempt comes from the broker
	if d > c.def.longest || d < c.def.first {
		d = c.def.longest
	}
	return d/2 + rand.N(d/2+1)
}

// brokerTimeout bounds one report to the broker. After a report that is lost the message comes again, which handlers must
// bear.
const brokerTimeout = 10 * time.Second

func (c *consumer) retry(d *engine.Delivery, after time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	err := c.group.Retry(ctx, d, after)
	if err != nil && after > 0 { // some brokers need more for a delay than they need to take it back
		err = c.group.Retry(ctx, d, 0)
	}
	if err != nil {
		c.node.log.Warn("channel: a failed message comes again when the broker misses it: the report to the broker failed", "node", c.node.id, "channel", c.def.spec.Name,
			"group", c.def.group, "message", d.ID, "error", err)
	}
}

// release gives a message back whose attempt does not count.
func (c *consumer) release(d *engine.Delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	if err := c.group.Release(ctx, d); err != nil {
		c.node.log.Debug("channel: a message that was not handled comes again when the broker misses it: the report to the broker failed", "node", c.node.id,
			"channel", c.def.spec.Name, "group", c.def.group, "message", d.ID, "error", err)
	}
}

// deadLetter publishes the message to the channel of dead letters, and only then reports it handled. It tries again while
// the broker cannot be reached; when the node stops first, the message comes again and deadLetter returns false.
func (c *consumer) deadLetter(d *engine.Delivery, reason error) bool {
	e := AsError(reason)
	dead := &engine.Outgoing{Message: d.Message, Dedup: true}
	dead.ID = derivedID(d.ID, c.def.spec.Name, c.def.group)
	dead.Only = ""
	dead.Dead = &engine.Dead{Channel: c.def.spec.Name, Group: c.def.group, Sequence: d.Sequence, Attempts: d.Attempt, Code: e.Code.String(),
		Reason: shortened(reason.Error()), Time: time.Now(), Node: c.node.id}
	if e.cause != nil && e.stack != nil { // the panic's text, which the error keeps from callers
		dead.Dead.Reason = shortened(reason.Error() + ": " + e.cause.Error())
	}
	for {
		ctx, cancel := context.WithTimeout(c.handling, brokerTimeout)
		err := c.node.publishTo(ctx, deadSpec(c.def.dead), []*engine.Outgoing{dead})
		cancel()
		if err == nil {
			break
		}
		c.node.log.Error("channel: a message could not be made a dead letter", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group,
			"message", d.ID, "error", err)
		if c.receiving.Err() != nil || !sleepWithin(c.handling, c.def.first/2+time.Second) {
			c.release(d)
			return false
		}
	}
	c.node.log.Error("channel: a message became a dead letter", "node", c.node.id, "channel", c.def.spec.Name, "group", c.def.group, "message", d.ID,
		"attempts", d.Attempt, "dead letters", c.def.dead, "request", d.Request, "error", e)
	return true
}

// shortened cuts a reason to the length that a message's head can hold.
func shortened(text string) string { return text[:min(len(text), 4000)] }

// derivedID is an ID that is the same whenever it is made of the same parts: a UUID of version 5 (RFC 9562) in the name space
// of URLs.
func derivedID(parts ...string) string {
	h := sha1.New()
	h.Write([]byte{0x6b, 0xa7, 0xb8, 0x11, 0x9d, 0xad, 0x11, 0xd1, 0x80, 0xb4, 0x00, 0xc0, 0x4f, 0xd4, 0x30, 0xc8})
	fmt.Fprintf(h, "%q", parts)
	id := h.Sum(nil)[:16]
	id[6], id[8] = id[6]&0x0f|0x50, id[8]&0x3f|0x80 // the version and the variant
	return fmt.Sprintf("%x-%x-%x-%x-%x", id[:4], id[4:6], id[6:8], id[8:10], id[10:])
}
