package sabir

import (
	"context"
	stdjson "encoding/json"
	"sync"
	"time"
)

// watchers holds the events that wait to be sent to handlers that only watch, see BestEffort of Delivery. The queue of each is there while
// something waits in it.
type watchers struct {
	mu     sync.Mutex
	queues map[string]*watcherQueue // by group, or by node for what is broadcast
}

// watcherQueue holds the events for one group or node, which a goroutine sends one after the other.
type watcherQueue struct {
	events []watchedEvent
	bytes  int
	lost   int
}

type watchedEvent struct {
	ctx     context.Context
	to      *remoteAction
	payload stdjson.RawMessage
}

// Bounds of a queue. An event that its watcher does not take in time is lost too.
const (
	maxWatched      = 1024
	maxWatchedBytes = 4 << 20
	watchedTimeout  = 5 * time.Second
)

func (a *remoteAction) onlyWatches() bool { return a.watches }

// watcher names the queue of events to this target.
func (a *remoteAction) watcher() string {
	if a.group != "" {
		return "group " + a.group
	}
	return "node " + a.providers.Load().nodes[0].id
}

// sendToWatchers has an event sent to the targets that only watch, and returns the others. The payload is written here, since the
// emitter may change it as soon as Emit returns.
func sendToWatchers(ctx context.Context, to []*remoteAction, payload any) (others []*remoteAction) {
	var text stdjson.RawMessage
	failed := convertInto(&text, payload)
	var carried context.Context = &linkContext{Context: context.Background(), metadata: metadataOf(ctx), requestID: requestIDOf(ctx)}
	if o := originAt(ctx, nextLevel(ctx)); o != nil {
		carried = withGroups(carried, o.groups)
	}
	for _, a := range to {
		switch {
		case !a.watches:
			others = append(others, a)
		case failed != nil:
			a.op.node.log.Debug("an event cannot be shown to those who watch", "node", a.op.node.id, "event", a.action.Name, "error", failed)
		default:
			a.op.node.sendLater(watchedEvent{carried, a, text})
		}
	}
	return others
}

// sendLater puts an event into the queue of its watcher.
func (n *Node) sendLater(e watchedEvent) {
	w, name := &n.watchers, e.to.watcher()
	w.mu.Lock()
	defer w.mu.Unlock()
	q := w.queues[name]
	if q == nil {
		q = &watcherQueue{}
		if w.queues == nil {
			w.queues = make(map[string]*watcherQueue)
		}
		w.queues[name] = q
		go n.sendToWatcher(name, q)
	}
	if len(q.events) >= maxWatched || q.bytes+len(e.payload) > maxWatchedBytes || !n.memory.Own().Take(len(e.payload)) {
		q.lost++
		return
	}
	q.events = append(q.events, e)
	q.bytes += len(e.payload)
}

// sendToWatcher sends the events of a queue until it is empty.
func (n *Node) sendToWatcher(name string, q *watcherQueue) {
	for {
		e, more := n.nextWatched(name, q)
		if !more {
			return
		}
		ctx, cancel := context.WithTimeout(e.ctx, watchedTimeout)
		if err := sendEventTo(ctx, e.to, &e.payload); err != nil {
			n.log.Debug("an event did not reach those who watch", "node", n.id, "event", e.to.action.Name, "watcher", name, "error", err)
		}
		cancel()
	}
}

func (n *Node) nextWatched(name string, q *watcherQueue) (watchedEvent, bool) {
	w := &n.watchers
	w.mu.Lock()
	defer w.mu.Unlock()
	if q.lost > 0 && len(q.events) <= maxWatched/2 {
		n.log.Warn("events were lost: those who watch them are too slow", "node", n.id, "watcher", name, "lost", q.lost)
		q.lost = 0
	}
	if n.stateNow() == stateStopped {
		for _, e := range q.events {
			n.memory.Own().Give(len(e.payload))
		}
		q.events = nil
	}
	if len(q.events) == 0 {
		delete(w.queues, name)
		return watchedEvent{}, false
	}
	e := q.events[0]
	q.events[0] = watchedEvent{}
	q.events = q.events[1:]
	q.bytes -= len(e.payload)
	n.memory.Own().Give(len(e.payload))
	return e, true
}
