package wire

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/admission"
)

// Inbound is a request of the peer. It is valid until Target.Serve returns, and used by the goroutine that
// Serve runs on; Context may be used longer and elsewhere.
type Inbound struct {
	// Route is the one it came along.
	Route *Route
	Meta

	link    *Link
	id      uint32
	flags   uint8
	payload []byte
	schema  *Schema
	copied  []byte // where a short payload was copied; kept for the next
	large   []byte // where a long one was put together
	out     []byte // the answer; kept for the next
	pairs   []Pair // see Answer

	class     admission.Class
	arrived   int64 // in the link's time, where there is a timeout
	onReader  bool
	unhurried bool // its answer may wait for the next write of the goroutine that answers
	held      int  // bytes of the value that are counted, until it is served
	counted   bool // it has a place among Limits.Calls and in the Budget
	answered  bool
	next      *Inbound // in the queue

	// Guarded by inboundTable.mu where the request is in the table.
	listed    bool
	cancelled bool
	ctx       *callContext
}

var inboundPool = sync.Pool{New: func() any { return new(Inbound) }}

// Link is the link it came over.
func (in *Inbound) Link() *Link { return in.link }

// Payload is the value without its schema number, valid until Serve returns.
func (in *Inbound) Payload() []byte { return in.payload }

// Schema is the one in which the value was written, nil where it has none.
func (in *Inbound) Schema() *Schema { return in.schema }

// Owned reports whether the payload has a buffer of its own, as long ones do. Its bytes may be kept beyond Serve after Keep.
func (in *Inbound) Owned() bool { return in.large != nil && in.flags&flagCompressed == 0 }

// Keep leaves the payload's buffer to the target; see Owned.
func (in *Inbound) Keep() { in.large = nil }

// Buf is an empty buffer for the answer's value, which begins with a schema number (see AppendRef). What was made of it by
// appending goes to Reply.
func (in *Inbound) Buf() []byte {
	if hint := int(in.Route.sizeHint.Load()); hint > cap(in.out) && hint > keepCall {
		in.out = largeBuffer(hint)
	}
	return in.out[:0]
}

// Reply answers the request with a value that was made from Buf. An answer to a request that was answered is
// ignored.
func (in *Inbound) Reply(value []byte) {
	if in.answered {
		return
	}
	in.out = value
	in.Route.noteSize(len(value))
	l := in.link
	value, flags, err := l.shrink(value)
	if err != nil {
		in.Fail(err.(*Failure))
		return
	}
	in.answered = true
	var head []byte
	if len(in.pairs) > 0 {
		head, flags = appendPairs(nil, in.pairs), flags|flagMetadata
	}
	if len(value) > chunkSize {
		in.replyLarge(head, value, flags)
		return
	}
	if !in.lock(len(head) + len(value)) {
		return
	}
	l.framesOut++
	l.pending = append(appendHeader(l.pending, len(head)+len(value), in.id, kindReply, flags), head...)
	l.pending = append(l.pending, value...)
	in.unlock()
}

// Fail answers the request with an error. Texts of more than 8 KiB are cut, data of more than 64 KiB is left out.
func (in *Inbound) Fail(f *Failure) {
	if in.answered {
		return
	}
	in.answered = true
	var body []byte
	flags := uint8(0)
	if len(in.pairs) > 0 {
		body, flags = appendPairs(nil, in.pairs), flagMetadata
	}
	body = appendFailure(body, f)
	if !in.lock(len(body)) {
		return
	}
	in.link.append(in.id, kindError, flags, body)
	in.unlock()
}

// lock locks mu with space in the outgoing buffer. The reader cannot wait for that: it does not serve what it may serve
// while the buffer is full. It is false where the link has ended.
//
// The place among those in flight is given back here: when the peer has the answer it may send another request.
func (in *Inbound) lock(size int) bool {
	if !in.onReader {
		if in.link.lockWithSpace(context.Background(), nil, size) != nil {
			return false
		}
	} else {
		in.link.mu.Lock()
		if in.link.closed {
			in.link.mu.Unlock()
			return false
		}
	}
	in.leave()
	return true
}

// leave gives back the place among those in flight.
func (in *Inbound) leave() {
	if in.counted {
		in.counted = false
		in.link.inbound.leave(in.link)
	}
}

// unlock unlocks mu after an answer was appended, and sees to it that it is written, by this goroutine or by one that is
// sure to: the reader writes when it has served what it has read, and workers by the rules of their queue.
func (in *Inbound) unlock() {
	switch {
	case in.onReader || in.unhurried && len(in.link.pending) < highWater:
		in.link.mu.Unlock()
	case in.link.jobs.othersWillWrite():
		in.link.mu.Unlock()
	default:
		in.link.unlockAndWrite(writeNow)
	}
}

// replyLarge sends an answer in chunks; on a goroutine of its own where this one is the reader.
func (in *Inbound) replyLarge(head, value []byte, flags uint8) {
	l := in.link
	l.leaving.sending.Add(1)
	l.memory.Hold(len(value))
	in.leave()
	m := largeMessage{kind: kindReply, flags: flags, of: flagYours, id: in.id, head: head, value: value}
	if in.onReader {
		in.out = nil
		go func() {
			l.sendLarge(context.Background(), nil, &m)
			l.memory.Give(len(value))
			l.leaving.sent()
		}()
		return
	}
	l.sendLarge(context.Background(), nil, &m)
	l.memory.Give(len(value))
	l.leaving.sent()
	if m.held {
		in.out = nil
	}
}

// serve runs the target.
func (in *Inbound) serve() {
	defer in.finish() // deferred for targets that end their goroutine
	in.begun()
	if in.flags&flagCompressed != 0 {
		plain, err := in.link.expand(in.payload)
		if err != nil {
			in.Fail(err.(*Failure))
			return
		}
		in.payload = plain
	}
	in.Route.target.Serve(in)
}

// refusedLate answers a request that is not to be served any more, and reports whether it was one. The caller sees to it that the
// answer is written. Those that waited for too long are often many in a row: with a write and a pause for each, a node that was asked
// for much at once answered only them, for as long as more came.
func (in *Inbound) refusedLate() bool {
	f := in.tooLate()
	if f == nil {
		return false
	}
	in.link.config.Admission.Late()
	in.unhurried = true
	in.Fail(f)
	in.release()
	return true
}

// begun records that the value waits no more: whoever serves the request has it.
func (in *Inbound) begun() {
	in.link.memory.Give(in.held)
	in.held = 0
}

// tooLate returns the failure of a request that is not to be served any more; nil for any other. Its caller has gone, or would
// have before the answer: to serve it would only make those behind it late too, until an overloaded node answers none in time.
// So a request may wait for half of its timeout. What it waited unread, in the buffers of the connection, is not known here.
func (in *Inbound) tooLate() *Failure {
	if !in.listed {
		return nil // its caller neither cancels nor has a timeout
	}
	t := &in.link.inbound
	t.mu.Lock()
	cancelled := in.cancelled
	t.mu.Unlock()
	if cancelled {
		return &Failure{Code: codeCanceled, Name: NameCanceled, Node: in.link.config.Node, Message: "the caller of " + in.Route.Name + " gave up before it was served"}
	}
	if in.Timeout == 0 {
		return nil
	}
	waited := time.Duration(in.link.now() - in.arrived)
	if waited <= in.Timeout/2 {
		return nil
	}
	return &Failure{Code: codeResourceExhausted, Retryable: true, Name: NameTooManyCalls, Node: in.link.config.Node,
		Message: fmt.Sprintf("node %s has too much to do: the call waited for %v of its %v", in.link.config.Node, waited.Round(time.Microsecond), in.Timeout)}
}

// finish answers for a target that did not, and ends the request.
func (in *Inbound) finish() {
	if !in.answered {
		in.Fail(&Failure{Code: codeInternal, Name: NameNotAnswered, Node: in.link.config.Node, Message: in.Route.Name + " returned without an answer"})
	}
	in.release()
}

// release ends the request: its context, its place among those in flight, and the use of its buffers.
func (in *Inbound) release() {
	l := in.link
	if in.listed {
		l.inbound.remove(in)
	}
	if in.ctx != nil {
		in.ctx.end(context.Canceled)
	}
	in.leave()
	in.begun()
	freeLarge(in.large)
	in.Meta, in.Route, in.link, in.schema = Meta{}, nil, nil, nil
	in.payload, in.large, in.ctx, in.pairs = nil, nil, nil, nil
	in.listed, in.cancelled, in.counted, in.answered, in.unhurried = false, false, false, false, false
	in.copied, in.out = keepSmall(in.copied), keepSmall(in.out)
	if !in.onReader {
		inboundPool.Put(in)
	}
}

// Late reports whether the caller has gone, or its time is over.
func (in *Inbound) Late() bool {
	if !in.listed {
		return false
	}
	t := &in.link.inbound
	t.mu.Lock()
	defer t.mu.Unlock()
	return in.cancelled || in.Timeout > 0 && time.Duration(in.link.now()-in.arrived) > in.Timeout
}

// Context ends when the caller cancels, its timeout is over, the link is lost, or Serve has returned. It carries no
// values. Where the caller can neither cancel nor set a timeout it is the link's Context, which ends with the link only.
func (in *Inbound) Context() context.Context {
	if in.flags&flagCancellable == 0 && in.Timeout == 0 {
		return in.link.context
	}
	t := &in.link.inbound
	t.mu.Lock()
	defer t.mu.Unlock()
	if in.ctx == nil {
		in.ctx = in.link.newContext(in.arrived, in.Timeout)
		if in.cancelled {
			in.ctx.end(context.Canceled)
		}
	}
	return in.ctx
}
