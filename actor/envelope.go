package actor

import (
	"context"
	"math"
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/memory"
	"github.com/sabir-go/sabir/internal/native"
)

// An envelope is one entry of a mailbox: messages of one type from one sender, in the order in which they were sent, or one call, or
// one signal of the runtime. The code that has taken it out of a queue owns it and calls body.free at the end, after which it
// may be used again for other messages.
type envelope struct {
	next     *envelope
	body     body
	from     PID
	at       int32 // messages handled so far
	count    int32
	held     int32           // bytes that memory counts for it
	memory   *memory.Account // of the node that it came from; nil for none
	priority Priority
	call     bool // the body is a *call[T]
	remote   bool // it came from another node, so no one here may wait for space
	known    bool // the sender waits to learn whether it was accepted, whatever the mailbox's rule is: see SendConfirmed
}

// hold counts the bytes of what came from another node until the envelope is freed. It is false where there is no space.
func (l *envelope) hold(bytes int, account *memory.Account) bool {
	bytes = min(bytes, math.MaxInt32)
	if !account.Take(bytes) {
		return false
	}
	l.held, l.memory = int32(bytes), account
	return true
}

func (l *envelope) release() {
	if l.memory != nil {
		l.memory.Give(int(l.held))
		l.held, l.memory = 0, nil
	}
}

// left counts the messages that were not handled yet.
func (l *envelope) left() int32 { return l.count - l.at }

// body is the content of an envelope: a *batch[T] of messages or a *call[T].
type body interface {
	envelope() *envelope
	kind() *kind
	value(i int) any
	free()
}

// kind describes a type of messages to the runtime. There is one for each type in the program, so kinds are compared by
// address.
type kind struct {
	name  string // as on the wire: see typeName
	of    reflect.Type
	typed typedKind
	codec atomic.Pointer[native.Dynamic] // nil until coded has compiled it
}

// typedKind is a *messages[T].
type typedKind interface {
	kind() *kind
	topicValues() topicValues
	// emptyBatch makes an envelope for one message, or for many, which has none yet.
	emptyBatch(one bool) growing
	// emptyCall makes an envelope with a call whose input is zero.
	emptyCall(r Request, ctx context.Context) outgoing
}

// messages makes the envelopes for type T and keeps the pools from which they come.
type messages[T any] struct {
	k      kind
	length int       // capacity of a run
	single sync.Pool // *batch[T] for one message
	runs   sync.Pool // *batch[T] for length messages
	calls  sync.Pool
}

func (m *messages[T]) kind() *kind { return &m.k }

var kinds sync.Map // reflect.Type to typedKind

// messagesOf returns the only messages[T] of the program.
func messagesOf[T any]() *messages[T] {
	t := reflect.TypeFor[T]()
	if known, ok := kinds.Load(t); ok {
		return known.(*messages[T])
	}
	m := &messages[T]{k: kind{name: typeName(t), of: t}, length: min(max(maxRunBytes/max(int(t.Size()), 1), 4), maxRun)}
	m.k.typed = m
	known, _ := kinds.LoadOrStore(t, m)
	return known.(*messages[T])
}

const (
	maxRun      = 128
	maxRunBytes = 16 << 10
)

// batch is the body of an envelope with messages of type T, together with the envelope itself: one allocation for both.
type batch[T any] struct {
	head  envelope
	of    *messages[T]
	items []T
	one   [1]T // array for items of the usual envelope, which has one message
}

// envelopeOf makes an envelope with one message.
func (m *messages[T]) envelopeOf(message T) *batch[T] {
	b := m.ofOne()
	b.items = append(b.items, message)
	b.head.count = 1
	return b
}

// ofOne makes an empty envelope with space for one message.
func (m *messages[T]) ofOne() *batch[T] {
	if b, ok := m.single.Get().(*batch[T]); ok {
		return b
	}
	b := &batch[T]{of: m}
	b.head.body, b.head.priority = b, PriorityNormal
	b.items = b.one[:0]
	return b
}

// run makes an empty envelope with space for many messages.
func (m *messages[T]) run() *batch[T] {
	if b, ok := m.runs.Get().(*batch[T]); ok {
		return b
	}
	b := &batch[T]{of: m, items: make([]T, 0, m.length)}
	b.head.body, b.head.priority = b, PriorityNormal
	return b
}

func (b *batch[T]) envelope() *envelope { return &b.head }
func (b *batch[T]) kind() *kind         { return &b.of.k }
func (b *batch[T]) value(i int) any     { return b.items[i] }
func (b *batch[T]) values() int         { return len(b.items) }
func (b *batch[T]) pointer(i int) any   { return &b.items[i] }
func (b *batch[T]) full() bool          { return len(b.items) == cap(b.items) }

func (m *messages[T]) emptyBatch(one bool) growing {
	if one {
		return m.ofOne()
	}
	return m.run()
}

func (b *batch[T]) grow() any {
	n := len(b.items)
	b.items = b.items[:n+1]
	return &b.items[n]
}

func (b *batch[T]) shrink() {
	n := len(b.items) - 1
	clear(b.items[n:])
	b.items = b.items[:n]
}

// split moves the first n unhandled messages to an envelope of their own.
func (b *batch[T]) split(n int32) *envelope {
	h, part := &b.head, b.of.run()
	part.items = append(part.items, b.items[h.at:h.at+n]...)
	part.head.from, part.head.priority, part.head.remote, part.head.count = h.from, h.priority, h.remote, n
	h.at += n
	return &part.head
}

// splitting is implemented by *batch[T] for every T.
type splitting interface{ split(n int32) *envelope }

// free gives the envelope back to its pool. The caller must hold the only reference to it.
func (b *batch[T]) free() {
	clear(b.items)
	b.items = b.items[:0]
	h := &b.head
	h.release()
	h.next, h.from, h.at, h.count, h.priority, h.remote, h.known = nil, PID{}, 0, 0, PriorityNormal, false, false
	if cap(b.items) == 1 {
		b.of.single.Put(b)
	} else {
		b.of.runs.Put(b)
	}
}

// queue is a linked list of envelopes, first in first out.
type queue struct{ first, last *envelope }

func (q *queue) add(l *envelope) {
	l.next = nil
	if q.last == nil {
		q.first = l
	} else {
		q.last.next = l
	}
	q.last = l
}

// addFirst puts a list of envelopes, which ends with last, before all others.
func (q *queue) addFirst(first, last *envelope) {
	last.next = q.first
	if q.first == nil {
		q.last = last
	}
	q.first = first
}

func (q *queue) take() *envelope {
	l := q.first
	if l != nil {
		q.first = l.next
		if q.first == nil {
			q.last = nil
		}
		l.next = nil
	}
	return l
}

func typeName(t reflect.Type) string {
	if t.PkgPath() == "" || t.Name() == "" {
		return t.String()
	}
	return t.PkgPath() + "." + t.Name()
}
