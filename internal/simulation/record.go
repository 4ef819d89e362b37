package simulation

import (
	"fmt"
	"sync"
)

// record notes which work callers asked for and which handlers did, and finds what contradicts that.
type record struct {
	mu       sync.Mutex
	lastID   int
	handled  map[int]int            // how often a call was handled, by its id
	received map[int]map[string]int // how often a group got an event, by its id
	faults   []string
}

func newRecord() *record {
	return &record{handled: map[int]int{}, received: map[int]map[string]int{}}
}

func (r *record) id() int {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.lastID++
	return r.lastID
}

// handle notes that a handler has begun with a call.
func (r *record) handle(id int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.handled[id]++
}

func (r *record) handledOf(id int) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.handled[id]
}

// receive notes that a group has got an event.
func (r *record) receive(id int, group string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.received[id] == nil {
		r.received[id] = map[string]int{}
	}
	r.received[id][group]++
}

func (r *record) receivedBy(id int, group string) int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.received[id][group]
}

// fail notes what must not be.
func (r *record) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) < 20 {
		r.faults = append(r.faults, fmt.Sprintf(format, args...))
	}
}
