package actor

import "slices"

// topicValues is a list of values of a topic, of whatever type they are: a *topicValuesOf[T]. All that a topic does but to hold its values
// is so in a program once, and not for each type of messages.
type topicValues interface {
	len() int
	// run is the capacity of an envelope for many.
	run() int
	// set has the list hold the message at i of an envelope of this type alone, and reports whether there is one.
	set(of body, i int) bool
	// add appends what another list of this type holds.
	add(list topicValues)
	// keep is add, for a list that holds the last n.
	keep(list topicValues, n int)
	// shared returns what the list holds now, which later changes of it do not change; nil for nothing.
	shared() topicValues
	clear()
	// sendRun puts the values from one to another into an envelope.
	sendRun(from PID, first, end int) *envelope
	// give puts them into an envelope for each process, or one envelope for each value and process.
	give(s *System, to []uint64, ready *readyList, from PID, first, end int, together bool)
}

type topicValuesOf[T any] struct {
	of    *messages[T]
	items []T
	slab  []batch[T]
}

func (m *messages[T]) topicValues() topicValues { return &topicValuesOf[T]{of: m} }

func (v *topicValuesOf[T]) len() int { return len(v.items) }
func (v *topicValuesOf[T]) run() int { return v.of.length }

func (v *topicValuesOf[T]) set(of body, i int) bool {
	b, ok := of.(*batch[T])
	if !ok || i >= len(b.items) {
		return false
	}
	v.items = append(v.items[:0], b.items[i])
	return true
}

func (v *topicValuesOf[T]) add(list topicValues) {
	v.items = append(v.items, list.(*topicValuesOf[T]).items...)
}

// keep overwrites nothing in place, so that newcomers share the items.
func (v *topicValuesOf[T]) keep(list topicValues, n int) {
	if len(v.items) == cap(v.items) { // every n values, or every 64
		last := v.items[max(0, len(v.items)-n+1):]
		v.items = append(make([]T, 0, n+max(n, 64)), last...)
	}
	v.add(list)
	if len(v.items) > n {
		v.items = v.items[1:]
	}
}

func (v *topicValuesOf[T]) shared() topicValues {
	if len(v.items) == 0 {
		return nil
	}
	return &topicValuesOf[T]{of: v.of, items: slices.Clip(v.items)}
}

func (v *topicValuesOf[T]) clear() {
	clear(v.items)
	v.items = v.items[:0]
}

func (v *topicValuesOf[T]) sendRun(from PID, first, end int) *envelope {
	b := v.of.run()
	b.items = append(b.items, v.items[first:end]...)
	b.head.from, b.head.count = from, int32(end-first)
	return &b.head
}

func (v *topicValuesOf[T]) give(s *System, to []uint64, ready *readyList, from PID, first, end int, together bool) {
	for _, id := range to {
		if together {
			ready.put(s, id, v.sendRun(from, first, end))
			continue
		}
		for _, value := range v.items[first:end] {
			ready.put(s, id, v.single(from, value))
		}
	}
}

func (v *topicValuesOf[T]) single(from PID, value T) *envelope {
	b, ok := v.of.single.Get().(*batch[T])
	if !ok {
		if len(v.slab) == 0 {
			v.slab = make([]batch[T], envelopeSlab)
		}
		b, v.slab = &v.slab[0], v.slab[1:]
		b.of, b.head.body, b.head.priority = v.of, b, PriorityNormal
		b.items = b.one[:0]
	}
	b.items = append(b.items, value)
	b.head.from, b.head.count = from, 1
	return &b.head
}
