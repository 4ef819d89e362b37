package cluster

import (
	"slices"
	"strings"
	"sync"
)

// roster is who is there now, and tells a watch function what changed, one change at a time on a goroutine of its own. It
// keeps no list of changes but compares what was told with what is, so it holds at most two entries a member however slow
// watch is.
type roster struct {
	watch func(Change)
	done  chan struct{} // closed when watch will not be called again

	lock    sync.Mutex
	wake    sync.Cond
	now     map[string]Member // by key: an id or an address
	told    map[string]Member
	changed []string // keys to compare, oldest first, each once
	reasons map[string]ChangeKind
	stopped bool
}

func newRoster(watch func(Change)) *roster {
	r := &roster{watch: watch, done: make(chan struct{}), now: make(map[string]Member), told: make(map[string]Member),
		reasons: make(map[string]ChangeKind)}
	r.wake.L = &r.lock
	go r.tell()
	return r
}

// set says that a member is there, as described.
func (r *roster) set(key string, m Member) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if old, known := r.now[key]; known && old.Equal(m) {
		return
	}
	r.now[key] = m
	r.compare(key)
}

// drop says that a member is gone, and why: Left or Failed.
func (r *roster) drop(key string, why ChangeKind) {
	r.lock.Lock()
	defer r.lock.Unlock()
	if _, known := r.now[key]; !known {
		return
	}
	delete(r.now, key)
	r.reasons[key] = why
	r.compare(key)
}

func (r *roster) compare(key string) {
	if !r.stopped && !slices.Contains(r.changed, key) {
		r.changed = append(r.changed, key)
		r.wake.Signal()
	}
}

// members lists who is there, by id and then by address.
func (r *roster) members() []Member {
	r.lock.Lock()
	defer r.lock.Unlock()
	list := make([]Member, 0, len(r.now))
	for _, m := range r.now {
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

func (r *roster) tell() {
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

// next waits for a key whose member differs from what was told, and is the changes to tell.
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

// difference marks a key as told.
func (r *roster) difference(key string) []Change {
	now, here := r.now[key]
	told, known := r.told[key]
	why := r.reasons[key]
	delete(r.reasons, key)
	if here {
		r.told[key] = now
	} else {
		delete(r.told, key)
	}
	switch {
	case here && !known:
		return []Change{{Joined, now}}
	case here && told.ID != "" && told.ID != now.ID: // another node at the same address, or none yet
		return []Change{{Failed, told}, {Joined, now}}
	case here && !told.Equal(now):
		return []Change{{Updated, now}}
	case !here && known:
		return []Change{{why, told}}
	}
	return nil
}
