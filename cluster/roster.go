package cluster

import (
	"slices"
	"strings"
	"sync"
)

// roster is the list of current members. It gives a watch function the changes, one at a time on a goroutine of its own. It
// does not queue changes but compares what watch was given last with the current members, so it holds at most two entries
// for each member however slow watch is.
type roster struct {
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

func newRoster(watch func(Change)) *roster {
	r := &roster{watch: watch, done: make(chan struct{}), current: make(map[string]Member), notified: make(map[string]Member),
		reasons: make(map[string]ChangeKind)}
	r.wake.L = &r.lock
	go r.notifyLoop()
	return r
}

// set adds or replaces a member.
func (r *roster) set(key string, m Member) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if old, known := r.current[key]; known && old.Equal(m) {
		return
	}
	r.current[key] = m
	r.compare(key)
}

// drop removes a member; why is Left or Failed.
func (r *roster) drop(key string, why ChangeKind) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if _, known := r.current[key]; !known {
		return
	}
	delete(r.current, key)
	r.reasons[key] = why
	r.compare(key)
}

func (r *roster) compare(key string) {
	if !r.stopped && !slices.Contains(r.changed, key) {
		r.changed = append(r.changed, key)
		r.wake.Signal()
	}
}

// members lists the current members, by id and then by address.
func (r *roster) members() []Member {
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

// stop waits for the call of watch that is under way, if any; none follows.
func (r *roster) stop() {
	r.lock.Lock()
	r.stopped = true
	r.wake.Signal()
	r.lock.Unlock()
	<-r.done
}

func (r *roster) notifyLoop() {
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
func (r *roster) next() ([]Change, bool) {
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
func (r *roster) difference(key string) []Change {
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
	case here && !last.Equal(now):
		return []Change{{Updated, now}}
	case !here && known:
		return []Change{{why, last}}
	}
	return nil
}
