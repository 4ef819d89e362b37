package channel

import (
	"cmp"
	"context"
	"crypto/sha1"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime/debug"
	"strconv"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/engine"
	"github.com/sabir-go/sabir/internal/requestid"
)

// handle runs the handler for one message and reports the result to the broker.
func (r *runner) handle(d *engine.Delivery) {
	r.broker.believe(r.spec.Name, &d.Message)
	handlerLock := &r.broker.handlerLock
	var marks []string
	exclusive, begun := suspected(d), false
	if exclusive {
		marks, begun = r.beginExclusive(d)
	} else {
		begun = handlerLock.lockShared(r.receiving)
	}
	if !begun { // the consumer stops, or the broker cannot be reached
		r.release(d)
		r.free(d)
		return
	}
	var err error
	returned := false
	defer func() { // also where the handler, or code of the value, ends the goroutine
		if !returned {
			err = r.goexitError(d)
		}
		done := r.settle(d, err)
		if exclusive {
			r.unmark(marks)
			handlerLock.unlockExclusive()
		} else {
			handlerLock.unlockShared()
		}
		if !done {
			r.free(d)
			return
		}
		r.inFlight.Add(1)
		r.handled <- d
	}()
	err = r.try(d)
	returned = true
}

// goexitError is the error of a handler that ended its goroutine by runtime.Goexit.
func (r *runner) goexitError(d *engine.Delivery) error {
	err := r.broker.failure(sabir.ErrPanic, "the handler of %s in %s ended its goroutine", r.spec.Name, r.service.Name())
	r.log.Error("channel: a handler, or code of the message, ended its goroutine",
		"message", d.ID, "request_id", d.Request, "stack", string(debug.Stack()))
	return err
}

// errAttemptsExhausted is the end of a message whose attempts were all begun before.
var errAttemptsExhausted = errors.New(
	"all its attempts were begun, and the process ended in the last one, or its consumer had more attempts then")

// settle acts on the result of an attempt, and reports whether the message is handled.
func (r *runner) settle(d *engine.Delivery, err error) (done bool) {
	switch {
	case err == nil:
		return true
	case r.handling.Err() != nil: // the consumer stops: the message comes again on another node
		r.release(d)
	case err == errAttemptsExhausted:
		d.Attempt-- // this one was not begun
		return r.deadLetter(d, err)
	case d.Attempt >= r.Attempts || permanent(err):
		return r.deadLetter(d, err)
	default:
		after := max(r.backoff(d.Attempt), r.asked(err))
		r.log.Warn("channel: handler failed; the message comes again",
			"message", d.ID, "attempt", d.Attempt, "after", after, "request_id", d.Request, "error", sabir.AsError(err))
		r.retry(d, after)
	}
	return false
}

// try runs the handler once.
func (r *runner) try(d *engine.Delivery) error {
	switch {
	case d.Only != "" && d.Only != r.Group:
		return nil
	case d.Attempt > r.Attempts:
		return errAttemptsExhausted
	case d.Broken != nil:
		return Reject(d.Broken)
	}
	if err := r.checkPublisher(d); err != nil {
		return Reject(err)
	}
	payload, err := r.decode(&d.Message)
	if err != nil {
		if failed := r.broker.panicInside("the message for "+r.spec.Name, err); failed != nil {
			return failed // and tried again: what the code of a type does may be another thing the next time
		}
		return Reject(r.unreadable(err))
	}
	ctx := context.WithValue(r.handling, deliveryKey{}, &Delivery{Channel: r.spec.Name, Group: r.Group, ID: originalID(&d.Head),
		Sequence: d.Sequence, Published: d.Time, Attempt: d.Attempt, Attempts: r.Attempts, Dead: (*DeadInfo)(d.Dead)})
	return r.receiver.Receive(ctx, payload, d.Request, withoutProof(d.Metadata))
}

// backoff is the pause after an attempt.
func (r *runner) backoff(attempt int) time.Duration {
	d := r.FirstPause << max(0, min(attempt-1, 30)) // the number of an attempt comes from the broker
	if d > r.MaxPause || d < r.FirstPause {
		d = r.MaxPause
	}
	return d/2 + rand.N(d/2+1)
}

// asked is the pause that a handler's error asks for, within MaxPause; 0 for none. Its data is that of policy.RetryAfter.
func (r *runner) asked(err error) time.Duration {
	after, err := sabir.DataAs[struct {
		Seconds float64 `json:"retryAfter"`
	}](err)
	if err != nil || !(after.Seconds > 0) {
		return 0
	}
	return time.Duration(min(after.Seconds, r.MaxPause.Seconds()) * float64(time.Second)) // in this order nothing overflows
}

// brokerTimeout bounds one report to the broker. After a report that is lost the message comes again, which handlers must
// bear.
const brokerTimeout = 10 * time.Second

func (r *runner) retry(d *engine.Delivery, after time.Duration) {
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	err := r.group.Retry(ctx, d, after)
	if err != nil && after > 0 { // some brokers need more for a delay than they need to take it back
		err = r.group.Retry(ctx, d, 0)
	}
	if err != nil {
		r.log.Warn("channel: a failed message comes again when the broker misses it: the report to the broker failed",
			"message", d.ID, "error", err)
	}
}

// release gives a message back whose attempt does not count.
func (r *runner) release(d *engine.Delivery) {
	ctx, cancel := context.WithTimeout(context.Background(), brokerTimeout)
	defer cancel()
	if err := r.group.Release(ctx, d); err != nil {
		r.log.Debug("channel: a message that was not handled comes again when the broker misses it: the report to the broker failed",
			"message", d.ID, "error", err)
	}
}

// deadLetter publishes the message to the channel of dead letters, and only then reports it handled. It tries again while
// the broker cannot be reached; when the node stops first, the message comes again and deadLetter returns false.
func (r *runner) deadLetter(d *engine.Delivery, reason error) bool {
	e := sabir.AsError(reason)
	dead := &engine.Outgoing{Message: d.Message, Dedup: true}
	dead.ID = deadID(d, r.spec.Name, r.Group)
	dead.Only, dead.Original = "", ""
	dead.Dead = &engine.Dead{ID: originalID(&d.Head), Channel: r.spec.Name, Group: r.Group, Sequence: d.Sequence, Attempts: d.Attempt, Code: e.Code.String(),
		Reason: shortened(reason.Error()), Time: time.Now(), Node: r.node.ID()}
	if cause := e.Unwrap(); cause != nil && e.Stack() != nil { // the panic's text, which the error keeps from callers
		dead.Dead.Reason = shortened(reason.Error() + ": " + cause.Error())
	}
	for {
		ctx, cancel := context.WithTimeout(r.handling, brokerTimeout)
		err := r.broker.publish(ctx, deadSpec(r.DeadLettersTo), []*engine.Outgoing{dead})
		cancel()
		if err == nil {
			break
		}
		r.log.Error("channel: a message could not be made a dead letter",
			"message", d.ID, "error", err)
		if r.receiving.Err() != nil || !sleepWithin(r.handling, r.FirstPause/2+time.Second) {
			r.release(d)
			return false
		}
	}
	r.log.Error("channel: a message became a dead letter", "message", d.ID,
		"attempts", d.Attempt, "dead_letters", r.DeadLettersTo, "request_id", d.Request, "error", e)
	return true
}

// originalID is the ID by which handlers know a message: a replay has that of the message that failed.
func originalID(h *engine.Head) string { return cmp.Or(h.Original, h.ID) }

// deadID makes the ID of a message as a dead letter: the same each time, so that brokers keep one where the first attempt to publish it was
// kept and not answered. A message of another program may have no ID, and is told from others by its place, or by nothing where the broker
// has no places; such a broker keeps all.
func deadID(d *engine.Delivery, channel, group string) string {
	switch {
	case d.ID != "":
		return derivedID(d.ID, channel, group)
	case d.Sequence != 0:
		return derivedID("", strconv.FormatUint(d.Sequence, 10), channel, group)
	}
	return requestid.New()
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
