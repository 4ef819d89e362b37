package actor

import (
	"sync"
	"sync/atomic"
	"time"
)

// entry is one row of the process table: the mailbox of a process, its behaviour and its phase. An entry is used for one
// process after another; the generation in the upper half of id distinguishes them. So code that finds an entry by a PID
// compares id again after locking mu.
//
// A process that sleeps consists of its entry and its state only. Putting an envelope into the mailbox makes it ready, and
// exactly one worker then takes it from the scheduler's list and drains it. That is why the callbacks of one process never run
// at the same time.
type entry struct {
	signals atomic.Uint32 // what the worker looks at before each message; writers hold mu
	waiting atomic.Int32  // messages in the bounded queues (normal and log)
	index   uint32

	mu             sync.Mutex // guards all below, except what only the running worker uses
	phase          phase
	rule           Overflow
	supervised     bool   // its parent ends it when the system stops
	linkedToParent bool   // takes the place of an entry in cold.links, since most processes have this link
	id             uint64 // 0: the entry is free
	generation     uint32
	bound          int32
	normal         queue
	next           *entry     // next in the scheduler's list, or in a readyList
	cold           *coldState // nil for processes without links, monitors or priorities
	behavior       *definition
	parent         PID
	started        time.Duration // when, since the system was made
	settings       *settings
	state          any // *S of the behaviour; used only by the worker that runs the process, without mu
}

// phase is the stage of a process between Spawn and its end.
type phase uint8

const (
	free         phase = iota
	initializing       // Init runs; messages are accepted and wait
	idle               // sleeping: nothing to handle
	ready              // in the scheduler's list
	busy               // a worker drains it
	terminated         // ended; takes no more envelopes
)

// The signals.
const (
	sigQueues  uint32 = 1 << iota // the urgent or the system queue is not empty
	sigKilled                     // end without another callback
	sigWaiters                    // senders wait for space
)

// coldState holds fields that most processes do not need. It is allocated on first use, because there may be millions of
// processes: see TestASleepingProcessTakesAtMost400Bytes. entry.mu guards it.
type coldState struct {
	links     smallMap[PID, struct{}]     // without that to the parent; see entry.linkedToParent
	watches   smallMap[MonitorRef, PID]   // monitors that this process has set
	watched   smallMap[watched, struct{}] // monitors that others have set on this process
	queues    *[4]queue                   // by priority, without normal; nil until something comes with another priority
	rareState *rareState
	trap      trapping
}

// rareState holds fields that few processes need. coldState points to it, so that it costs the others nothing.
type rareState struct {
	spaceFreed chan struct{} // closed when messages were taken from a full mailbox; nil if no sender waits
	name       string
	aliases    smallMap[Alias, struct{}]
	groups     []string                   // that it has joined
	nodes      smallMap[string, struct{}] // that it monitors
	events     *eventState                // its own events and its subscriptions
	context    *lifetime
	later      []Request // calls to be answered later; some may have been answered already
}

// trapping reports whether an Exit comes as a message or ends the process.
type trapping uint8

const (
	trapIfHandled trapping = iota // as a message if the behaviour has a handler for Exit
	trapOn
	trapOff
	trapParent // as a message, even from the parent
)

// takeNormal takes the whole normal queue at once, so that senders and the worker rarely contend for mu. With DropOldest it
// takes only one message, because what has been taken can no longer be dropped. Call it with mu held.
func (s *entry) takeNormal() queue {
	l := s.normal.first
	if s.rule != DropOldest || l == nil {
		whole := s.normal
		s.normal = queue{}
		return whole
	}
	if run, ok := l.body.(splitting); ok && l.left() > 1 {
		l = run.split(1)
	} else {
		s.normal.take()
	}
	return queue{l, l}
}

func (s *entry) ensureCold() *coldState {
	if s.cold == nil {
		s.cold = &coldState{}
	}
	return s.cold
}

func (s *entry) ensureRare() *rareState {
	m := s.ensureCold()
	if m.rareState == nil {
		m.rareState = &rareState{}
	}
	return m.rareState
}

// rareState returns the rareState, or nil if there is none.
func (s *entry) rareState() *rareState {
	if s.cold == nil {
		return nil
	}
	return s.cold.rareState
}

// queueFor returns the queue of a priority other than normal, and makes it if needed.
func (s *entry) queueFor(p Priority) *queue {
	m := s.ensureCold()
	if m.queues == nil {
		m.queues = &[4]queue{}
	}
	return &m.queues[p]
}

// takeFrom removes the first envelope of such a queue; nil if it is empty.
func (s *entry) takeFrom(p Priority) *envelope {
	if !s.waits(p) {
		return nil
	}
	return s.cold.queues[p].take()
}

// waits reports whether such a queue holds an envelope.
func (s *entry) waits(p Priority) bool {
	return s.cold != nil && s.cold.queues != nil && s.cold.queues[p].first != nil
}

// entriesPerSlab is the number of entries that are allocated at once. A slab never moves, so a pointer to an entry stays valid.
const entriesPerSlab = 1024

// processTable holds the entries of a system. Finding one takes no lock: slabs is replaced as a whole when it grows.
type processTable struct {
	slabs atomic.Pointer[[]*[entriesPerSlab]entry]

	mu    sync.Mutex
	used  uint32   // entries that were used at least once; later ones of the last slab are untouched
	freed []uint32 // indexes of entries to reuse
	alive int
	empty chan struct{} // closed when the last process ends; nil if no one waits for that
}

// find returns the entry at an id's index. It may belong to another process by now, so compare id after locking the entry.
func (t *processTable) find(id uint64) *entry {
	slabs := t.slabs.Load()
	index := uint32(id)
	if slabs == nil || int(index/entriesPerSlab) >= len(*slabs) {
		return nil
	}
	return &(*slabs)[index/entriesPerSlab][index%entriesPerSlab]
}

// take reserves an entry; nil if limit of them are in use. Its next id was never given to a process before.
func (t *processTable) take(limit int) *entry {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s *entry
	switch {
	case len(t.freed) > 0:
		s = t.find(uint64(t.freed[len(t.freed)-1]))
		t.freed = t.freed[:len(t.freed)-1]
	case int(t.used) < limit:
		if t.used%entriesPerSlab == 0 {
			t.grow()
		}
		s = t.find(uint64(t.used))
		s.index = t.used
		t.used++
	default:
		return nil
	}
	t.alive++
	return s
}

// grow appends a slab to a copy of the list. Readers of the old list do not look behind its end.
func (t *processTable) grow() {
	var slabs []*[entriesPerSlab]entry
	if old := t.slabs.Load(); old != nil {
		slabs = *old
	}
	slabs = append(slabs, new([entriesPerSlab]entry)) // a reader of the old slice does not see what is behind its end
	t.slabs.Store(&slabs)
}

// give returns an entry for reuse.
func (t *processTable) give(s *entry) {
	t.mu.Lock()
	t.alive--
	if t.alive == 0 && t.empty != nil {
		close(t.empty)
		t.empty = nil
	}
	if s.generation < lastGeneration { // else its ids are used up
		t.freed = append(t.freed, s.index)
	}
	t.mu.Unlock()
}

// emptied returns a channel that is closed when no process is left.
func (t *processTable) emptied() <-chan struct{} {
	t.mu.Lock()
	defer t.mu.Unlock()
	empty := make(chan struct{})
	if t.alive == 0 {
		close(empty)
	} else {
		t.empty = empty
	}
	return empty
}

const lastGeneration = 1<<32 - 1

func (t *processTable) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.alive
}
