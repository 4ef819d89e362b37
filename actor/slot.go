package actor

import (
	"sync"
	"sync/atomic"
	"time"
)

// slot is where a process lives: its mailbox, what handles its messages, and where it is in its life. A slot is used for
// one process after another; the generation in its id tells them apart.
//
// A process that sleeps is nothing but its slot and its state. As soon as a letter is put into its mailbox it is ready, and
// one worker takes it out of the crew's list and drains it; so its callbacks run one at a time.
type slot struct {
	signals atomic.Uint32 // what the worker has to look at before the next message
	waiting atomic.Int32  // messages in the lanes that are bounded
	index   uint32

	mu         sync.Mutex // guards all below, except what only the running worker uses
	life       life
	rule       Overflow
	supervised bool   // its end is its parent's business
	bonded     bool   // it is linked with its parent
	id         uint64 // 0: the slot is free
	generation uint32
	bound      int32
	normal     lane
	next       *slot // in the crew's list of those that are ready
	more       *more // what plain processes do not have
	behavior   *definition
	parent     PID
	begun      time.Duration // when, since the system was made
	heritage   *heritage
	state      any // *S of the behaviour; only the worker that runs the process uses it
}

// life is where a process is in its life.
type life uint8

const (
	free  life = iota
	born       // Init runs: letters are taken, and nobody handles them yet
	idle       // it sleeps
	ready      // it is in the crew's list
	busy       // a worker drains it
	dying      // it has ended and takes no more letters
)

// The signals.
const (
	sigLanes   uint32 = 1 << iota // there is something in the urgent or system lane, or in that of the log
	sigKilled                     // it is to end without another callback
	sigWaiters                    // somebody waits for room
)

// more is what a process has beside its mailbox, where it has any of it. There may be very many that do: see
// TestASleepingProcessTakesAtMost400Bytes.
type more struct {
	links   few[PID, struct{}]     // but for its parent, see slot.links
	watches few[Ref, PID]          // what this process monitors
	watched few[watched, struct{}] // who monitors this process
	lanes   *[4]lane               // normal is not used; nil where nothing ever came in the others
	rare    *rare
	trap    trapping
}

// rare is what few processes have.
type rare struct {
	room    chan struct{}
	name    string
	aliases few[Alias, struct{}]
	groups  []string              // that it is in
	nodes   few[string, struct{}] // that it monitors
	events  *eventful             // its own, and those it has subscribed to
	context *lifetime
	later   []Request // calls that are to be answered later, some of which may have been
}

// trapping is whether exits come as messages.
type trapping uint8

const (
	trapIfHandled trapping = iota // they do if the behaviour has a handler for Exit
	trapOn
	trapOff
	trapParent // that of the parent too
)

// takeNormal takes the normal lane whole, so that senders and the worker seldom meet. Where the oldest are to be dropped,
// it takes one message: the others still can be. It runs under mu.
func (s *slot) takeNormal() lane {
	l := s.normal.first
	if s.rule != DropOldest || l == nil {
		whole := s.normal
		s.normal = lane{}
		return whole
	}
	if run, ok := l.body.(splitting); ok && l.left() > 1 {
		l = run.split(1)
	} else {
		s.normal.take()
	}
	return lane{l, l}
}

func (s *slot) extra() *more {
	if s.more == nil {
		s.more = &more{}
	}
	return s.more
}

func (s *slot) rarely() *rare {
	m := s.extra()
	if m.rare == nil {
		m.rare = &rare{}
	}
	return m.rare
}

// rare is what the process has of it; nil for nothing.
func (s *slot) rare() *rare {
	if s.more == nil {
		return nil
	}
	return s.more.rare
}

// lane is where letters with a priority other than the normal go.
func (s *slot) lane(p Priority) *lane {
	m := s.extra()
	if m.lanes == nil {
		m.lanes = &[4]lane{}
	}
	return &m.lanes[p]
}

// takeFrom takes the first letter of such a lane; nil for none.
func (s *slot) takeFrom(p Priority) *letter {
	if !s.waits(p) {
		return nil
	}
	return s.more.lanes[p].take()
}

// waits tells whether there is a letter in such a lane.
func (s *slot) waits(p Priority) bool {
	return s.more != nil && s.more.lanes != nil && s.more.lanes[p].first != nil
}

// slotsPerSlab is how many slots are made at once.
const slotsPerSlab = 1024

// table is the slots of a system. Looking a process up takes no lock.
type table struct {
	slabs atomic.Pointer[[]*[slotsPerSlab]slot]

	mu    sync.Mutex
	used  uint32   // slots that were used at least once
	freed []uint32 // to be used again
	alive int
	empty chan struct{} // closed when nobody is alive; nil where nobody waits for that
}

// find returns the slot of an id, which may be another process's by now: whoever locks the slot has to look.
func (t *table) find(id uint64) *slot {
	slabs := t.slabs.Load()
	index := uint32(id)
	if slabs == nil || int(index/slotsPerSlab) >= len(*slabs) {
		return nil
	}
	return &(*slabs)[index/slotsPerSlab][index%slotsPerSlab]
}

// take takes a free slot, nil where limit of them are in use. Its id is one that no process had before.
func (t *table) take(limit int) *slot {
	t.mu.Lock()
	defer t.mu.Unlock()
	var s *slot
	switch {
	case len(t.freed) > 0:
		s = t.find(uint64(t.freed[len(t.freed)-1]))
		t.freed = t.freed[:len(t.freed)-1]
	case int(t.used) < limit:
		if t.used%slotsPerSlab == 0 {
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

func (t *table) grow() {
	var slabs []*[slotsPerSlab]slot
	if old := t.slabs.Load(); old != nil {
		slabs = *old
	}
	slabs = append(slabs, new([slotsPerSlab]slot)) // who reads the old slice does not see what is behind its end
	t.slabs.Store(&slabs)
}

// give takes a slot back.
func (t *table) give(s *slot) {
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

// emptied is closed as soon as nobody is alive.
func (t *table) emptied() <-chan struct{} {
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

func (t *table) count() int {
	t.mu.Lock()
	defer t.mu.Unlock()
	return t.alive
}
