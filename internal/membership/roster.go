package membership

import (
	"slices"
	"strings"
	"sync"
)

// Roster is the list of current members of a [Membership], for those who write one. It gives a watch function the changes, one at a time on a goroutine of its own. It
// does not queue changes but compares what watch was given last with the current members, so it holds at most two entries
// for each member however slow watch is. Its methods may be called
// by many goroutines at once.
type Roster struct {
	watch func(Change)
	done  chan struct{} // closed when watch will not be called again

	lock     sync.Mutex
	wake     sync.Cond
	current  map[string]Member // by key: an id or an address
	notified map[string]Member
	changed  []string // keys to compare, oldest first, each once
	reasons  map[string]ChangeKind
	stopped  bool
}

// NewRoster makes an empty list, and starts the goroutine that calls watch until Stop.
func NewRoster(watch func(Change)) *Roster {
	r := &Roster{watch: watch, done: make(chan struct{}), current: make(map[string]Member), notified: make(map[string]Member),
		reasons: make(map[string]ChangeKind)}
	r.wake.L = &r.lock
	go r.notifyLoop()
	return r
}

// Set adds or replaces a member under a key: its id or its address.
func (r *Roster) Set(key string, m Member) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if old, known := r.current[key]; known && old == m {
		return
	}
	r.current[key] = m
	r.compare(key)
}

// Drop removes a member; why is Left or Failed.
func (r *Roster) Drop(key string, why ChangeKind) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if _, known := r.current[key]; !known {
		return
	}
	delete(r.current, key)
	r.reasons[key] = why
	r.compare(key)
}

func (r *Roster) compare(key string) {
	if !r.stopped && !slices.Contains(r.changed, key) {
		r.changed = append(r.changed, key)
		r.wake.Signal()
	}
}

// Members lists the current members, by id and then by address.
func (r *Roster) Members() []Member {
	r.lock.Lock()
	defer r.lock.Unlock()
	list := make([]Member, 0, len(r.current))
	for _, m := range r.current {
		list = append(list, m)
	}
	slices.SortFunc(list, func(a, b Member) int {
		if c := strings.Compare(a.ID, b.ID); c != 0 {
			return c
		}
		return strings.Compare(a.Addr, b.Addr)
	})
	return list
}

// Stop waits for the call of watch that is under way, if any; none follows.
func (r *Roster) Stop() {
	r.lock.Lock()
	r.stopped = true
	r.wake.Signal()
	r.lock.Unlock()
	<-r.done
}

func (r *Roster) notifyLoop() {
	defer close(r.done)
	for {
		changes, more := r.next()
		if !more {
			return
		}
		for _, c := range changes {
			r.watch(c)
		}
	}
}

// next waits until watch has something to learn, and returns it; false after stop.
func (r *Roster) next() ([]Change, bool) {
	r.lock.Lock()
	defer r.lock.Unlock()
	for {
		for len(r.changed) == 0 && !r.stopped {
			r.wake.Wait()
		}
		if r.stopped {
			return nil, false
		}
		key := r.changed[0]
		r.changed = r.changed[1:]
		if changes := r.difference(key); len(changes) > 0 {
			return changes, true
		}
	}
}

// difference compares a key's member with what watch was given last, and takes it as given.
func (r *Roster) difference(key string) []Change {
	now, here := r.current[key]
	last, known := r.notified[key]
	why := r.reasons[key]
	delete(r.reasons, key)
	if here {
		r.notified[key] = now
	} else {
		delete(r.notified, key)
	}
	switch {
	case here && !known:
		return []Change{{Joined, now}}
	case here && last.ID != "" && last.ID != now.ID: // another node at the same address, or none yet
		return []Change{{Failed, last}, {Joined, now}}
	case here && last != now:
		return []Change{{Updated, now}}
	case !here && known:
		return []Change{{why, last}}
	}
	return nil
}
