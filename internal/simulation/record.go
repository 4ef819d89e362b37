package simulation

import (
	"fmt"
	"sync"

	"github.com/sabir-go/sabir/actor"
)

// record notes which work callers asked for and which handlers did, and finds what contradicts that.
type record struct {
	mu       sync.Mutex
	lastID   int
	handled  map[int]int            // how often a call was handled, by its id
	received map[int]map[string]int // how often a group got an event, by its id
	notes    map[[2]actor.PID]int   // the last number that a worker got from a sender, by both
	accounts map[string][]int       // the payments that were found in the end
	writing  map[*tenure]bool       // handlers of the service that runs once
	newest   uint64                 // token that one of them had
	faults   []string
}

func newRecord() *record {
	return &record{handled: map[int]int{}, received: map[int]map[string]int{}, notes: map[[2]actor.PID]int{}, accounts: map[string][]int{}, writing: map[*tenure]bool{}}
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

// noted notes that a worker has got a message of a sender. Those between two processes keep their order, and come once or not at all.
func (r *record) noted(way [2]actor.PID, number int) {
	r.mu.Lock()
	last := r.notes[way]
	r.notes[way] = number
	r.mu.Unlock()
	if number <= last {
		r.fail("%s got message %d of %s after %d", way[1], number, way[0], last)
	}
}

// account notes what an account has in the end.
func (r *record) account(key string, ids []int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.accounts[key] = ids
}

func (r *record) accountOf(key string) []int {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.accounts[key]
}

// paid is how often an account has a payment.
func (r *record) paid(key string, id int) (times int) {
	for _, other := range r.accountOf(key) {
		if other == id {
			times++
		}
	}
	return times
}

// fail notes what must not be.
func (r *record) fail(format string, args ...any) {
	r.mu.Lock()
	defer r.mu.Unlock()
	if len(r.faults) < 20 {
		r.faults = append(r.faults, fmt.Sprintf(format, args...))
	}
}
