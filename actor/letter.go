package actor

import (
	"reflect"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/codec/native"
)

// letter is what lies in a mailbox: some messages of one type from one sender, in the order in which they were sent, or a
// signal of the runtime.
type letter struct {
	next  *letter
	body  body
	from  PID
	at    int32 // messages that were handled
	count int32
	lane  Priority
	call  bool // a *call[T]
	away  bool // it came from another node
}

// left is how many of its messages were not handled.
func (l *letter) left() int32 { return l.count - l.at }

// body is what a letter holds: a *batch[T] of messages or a *call[T].
type body interface {
	letter() *letter
	kind() *kind
	value(i int) any
	free()
}

// kind is what the runtime knows of a type of messages. There is one for each type in the program.
type kind struct {
	name  string // as it goes over links, see TypeName
	of    reflect.Type
	typed typedKind
}

// typedKind is a *messages[T].
type typedKind interface {
	kind() *kind
	wireForm
}

// messages makes batches of T.
type messages[T any] struct {
	k      kind
	length int       // of a run: how many messages go together at most
	single sync.Pool // batches with room for one
	runs   sync.Pool // batches with room for length
	calls  sync.Pool
	codec  atomic.Pointer[native.Type[T]] // nil until needed, see coded
}

func (m *messages[T]) kind() *kind { return &m.k }

var kinds sync.Map // reflect.Type to typedKind

// messagesOf finds or makes the one messages[T].
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

// batch is a letter with messages of type T.
type batch[T any] struct {
	head  letter
	of    *messages[T]
	items []T
	one   [1]T // room for the usual letter, which has one message
}

// letterOf makes a letter of one message.
func (m *messages[T]) letterOf(message T) *batch[T] {
	b, ok := m.single.Get().(*batch[T])
	if !ok {
		b = &batch[T]{of: m}
		b.head.body, b.head.lane = b, PriorityNormal
		b.items = b.one[:0]
	}
	b.items = append(b.items, message)
	b.head.count = 1
	return b
}

// run makes an empty letter with room for many messages.
func (m *messages[T]) run() *batch[T] {
	if b, ok := m.runs.Get().(*batch[T]); ok {
		return b
	}
	b := &batch[T]{of: m, items: make([]T, 0, m.length)}
	b.head.body, b.head.lane = b, PriorityNormal
	return b
}

func (b *batch[T]) letter() *letter { return &b.head }
func (b *batch[T]) kind() *kind     { return &b.of.k }
func (b *batch[T]) value(i int) any { return b.items[i] }

// split takes the first n messages that were not handled out of the letter, into one of their own.
func (b *batch[T]) split(n int32) *letter {
	h, part := &b.head, b.of.run()
	part.items = append(part.items, b.items[h.at:h.at+n]...)
	part.head.from, part.head.lane, part.head.away, part.head.count = h.from, h.lane, h.away, n
	h.at += n
	return &part.head
}

// splitting is a *batch[T].
type splitting interface{ split(n int32) *letter }

// free gives the letter back. Nobody may have a reference to it.
func (b *batch[T]) free() {
	clear(b.items)
	b.items = b.items[:0]
	h := &b.head
	h.next, h.from, h.at, h.count, h.lane, h.away = nil, PID{}, 0, 0, PriorityNormal, false
	if cap(b.items) == 1 {
		b.of.single.Put(b)
	} else {
		b.of.runs.Put(b)
	}
}

// lane is letters in the order in which they came.
type lane struct{ first, last *letter }

func (q *lane) add(l *letter) {
	l.next = nil
	if q.last == nil {
		q.first = l
	} else {
		q.last.next = l
	}
	q.last = l
}

// addFirst puts a chain of letters, which ends with last, before all others.
func (q *lane) addFirst(first, last *letter) {
	last.next = q.first
	if q.first == nil {
		q.last = last
	}
	q.first = first
}

func (q *lane) take() *letter {
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
