package memory

import (
	"cmp"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/engine"
)

// The bounds of a channel without limits of its own.
const (
	maxCount = 1_000_000
	maxBytes = 256 << 20
	// window is the time that an ID is remembered.
	window = 2 * time.Minute
)

// queue is one channel.
type queue struct {
	mu      sync.Mutex
	spec    engine.Spec
	entries []*entry // by sequence
	last    uint64
	count   int64
	bytes   int64
	ids     map[string]*entry
	groups  map[string]*group
}

// entry is a kept message.
type entry struct {
	kept     engine.Message
	sequence uint64
	at       time.Time
	gone     bool
}

func newQueue() *queue {
	return &queue{ids: make(map[string]*entry), groups: make(map[string]*group)}
}

func (e *entry) size() int64 {
	size := int64(len(e.kept.Data)) + int64(len(e.kept.ID)) + 64
	for name, value := range e.kept.Attributes {
		size += int64(len(name)) + int64(len(value))
	}
	return size
}

func (q *queue) add(m *engine.Outgoing, now time.Time) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.trim(now)
	if q.spec.MaxMessage > 0 && len(m.Data) > q.spec.MaxMessage {
		m.Err = fmt.Errorf("%w: %d bytes, the channel takes %d", engine.ErrTooLarge, len(m.Data), q.spec.MaxMessage)
		return
	}
	if known := q.ids[m.ID]; known != nil && now.Sub(known.at) < window {
		m.Sequence, m.Duplicate = known.sequence, true
		return
	}
	e := &entry{kept: m.Message, sequence: q.last + 1, at: now}
	e.kept = e.message()
	if q.spec.MaxCount == 0 && q.count >= maxCount || q.spec.MaxBytes == 0 && q.bytes+e.size() > maxBytes {
		m.Err = fmt.Errorf("%w: the channel holds %d messages of %d bytes, and mem:// no more than that", engine.ErrFull, q.count, q.bytes)
		return
	}
	q.last++
	q.entries = append(q.entries, e)
	q.count++
	q.bytes += e.size()
	q.ids[m.ID] = e
	q.trim(now)
	m.Sequence = e.sequence
	for _, g := range q.groups {
		g.notify()
	}
}

// trim drops what the limits do not allow, and then what is at the head and gone.
func (q *queue) trim(now time.Time) {
	head := 0
	for ; head < len(q.entries); head++ {
		e := q.entries[head]
		old := q.spec.MaxAge > 0 && now.Sub(e.at) > q.spec.MaxAge
		over := q.spec.MaxCount > 0 && q.count > q.spec.MaxCount || q.spec.MaxBytes > 0 && q.bytes > q.spec.MaxBytes
		if e.gone {
			continue
		}
		if !old && !over {
			break
		}
		q.drop(e)
	}
	q.entries = slices.Delete(q.entries, 0, head)
}

// drop takes a message out; groups that hold it may still finish it.
func (q *queue) drop(e *entry) {
	e.gone = true
	q.count--
	q.bytes -= e.size()
	if q.ids[e.kept.ID] == e {
		delete(q.ids, e.kept.ID)
	}
}

// after finds the first kept message whose place is above the sequence.
func (q *queue) after(sequence uint64) *entry {
	i, _ := slices.BinarySearchFunc(q.entries, sequence+1, func(e *entry, want uint64) int { return cmp.Compare(e.sequence, want) })
	for ; i < len(q.entries); i++ {
		if !q.entries[i].gone {
			return q.entries[i]
		}
	}
	return nil
}

func (q *queue) join(spec engine.GroupSpec) *group {
	q.mu.Lock()
	defer q.mu.Unlock()
	if g := q.groups[spec.Name]; g != nil {
		return g
	}
	g := &group{queue: q, name: spec.Name, held: make(map[uint64]*lease), wake: make(chan struct{})}
	switch {
	case spec.From.New:
		g.cursor = q.last
	case spec.From.Sequence > 0:
		g.cursor = spec.From.Sequence - 1
	case !spec.From.Time.IsZero():
		i, _ := slices.BinarySearchFunc(q.entries, spec.From.Time, func(e *entry, want time.Time) int { return e.at.Compare(want) })
		if i < len(q.entries) {
			g.cursor = q.entries[i].sequence - 1
		} else {
			g.cursor = q.last
		}
	}
	q.groups[spec.Name] = g
	return g
}

func (q *queue) stats(now time.Time) engine.Stats {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.trim(now)
	s := engine.Stats{Messages: uint64(q.count), Bytes: uint64(q.bytes), Last: q.last}
	for _, g := range q.groups {
		s.Groups = append(s.Groups, g.stats())
	}
	slices.SortFunc(s.Groups, func(a, b engine.GroupStats) int { return cmp.Compare(a.Name, b.Name) })
	return s
}
