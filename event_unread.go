package sabir

import (
	"context"
	"reflect"
	"sync"
)

// warnedEvents holds what was a warning in the log and will be none again.
type warnedEvents struct {
	mu    sync.Mutex
	names map[string]bool
}

// first reports whether it is asked about the name for the first time.
func (w *warnedEvents) first(name string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.names[name] || len(w.names) == maxEventPlans {
		return false
	}
	if w.names == nil {
		w.names = make(map[string]bool)
	}
	w.names[name] = true
	return true
}

// unreadBy counts the refusals of handlers that cannot read an event's payload in what delivering it failed with.
func unreadBy(err error) int {
	switch e := err.(type) {
	case nil:
	case *Error:
		if e.Name == nameBadInput {
			return 1
		}
	case interface{ Unwrap() []error }:
		sum := 0
		for _, one := range e.Unwrap() {
			sum += unreadBy(one)
		}
		return sum
	}
	return 0
}

// working counts the groups of which a member does not only watch.
func (p *eventPlan) working() int {
	sum := len(p.groups)
	for _, a := range p.remoteGroups {
		if !a.watches {
			sum++
		}
	}
	return sum
}

// warnUnread logs an event that none of its handlers can read, once for each name; most probably emitter and handlers mean different types.
func (n *Node) warnUnread(ctx context.Context, name string, payload reflect.Type, err error) {
	if n.events.warned.first(name) {
		n.log.WarnContext(ctx, "no handler can read the event", "node", n.id, "event", name, "type", payload.String(), "error", AsError(err))
	}
}
