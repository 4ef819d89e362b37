package dashboard

import (
	"bytes"
	"context"
	"maps"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
)

// maxWatchers bounds the browsers that watch at once.
const maxWatchers = 64

// stateEvery is the interval at which the hub checks whether the node stops, which open streams would hold up.
const stateEvery = 100 * time.Millisecond

// catalogLooks: whether there is anything new in the cluster is looked for at each third look.
const catalogLooks = 3

// hub polls the cluster while there are watchers, and sends them the results.
type hub struct {
	node  *sabir.Node
	every time.Duration

	mu        sync.Mutex
	watchers  map[*watcher]struct{}
	stop      context.CancelFunc // nil while there are no watchers
	stopped   chan struct{}      // closed when the last run has ended
	last      []byte             // look, as JSON
	catalog   []byte
	history   []point
	latencies map[string]latencies
	runs      int // how often it began
}

// watcher is one browser's stream. It holds the newest of each kind, so one that reads slowly misses looks, and nothing waits
// for it.
type watcher struct {
	wake    chan struct{} // has one token when there is something to send
	look    []byte
	catalog []byte
	closed  bool // the node stops
}

func newHub(n *sabir.Node, every time.Duration) *hub {
	stopped := make(chan struct{})
	close(stopped)
	return &hub{node: n, every: every, watchers: make(map[*watcher]struct{}), stopped: stopped}
}

// watch adds a watcher; the first one starts the survey of the cluster. The history has the points that were recorded while
// others watched.
func (h *hub) watch() (*watcher, []point, error) {
	h.mu.Lock()
	defer h.mu.Unlock()
	if len(h.watchers) >= maxWatchers {
		return nil, nil, sabir.Errorf(sabir.CodeResourceExhausted, errTooManyWatchers.Name, "%d browsers watch already, which is the most: close one", maxWatchers).AsRetryable()
	}
	w := &watcher{wake: make(chan struct{}, 1), look: h.last, catalog: h.catalog}
	if w.look != nil {
		w.wake <- struct{}{}
	}
	h.watchers[w] = struct{}{}
	if h.stop == nil {
		ctx, stop := context.WithCancel(context.Background())
		before := h.stopped
		h.stop, h.stopped = stop, make(chan struct{})
		h.runs++
		go h.run(ctx, before, h.stopped)
	}
	return w, append([]point{}, h.history...), nil
}

// unwatch takes a watcher off; the last one ends the looking.
func (h *hub) unwatch(w *watcher) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.watchers, w)
	if len(h.watchers) == 0 && h.stop != nil {
		h.stop()
		h.stop, h.last, h.catalog, h.history, h.latencies = nil, nil, nil, nil, nil
	}
}

// take returns the look and the catalog that a watcher has not sent yet.
func (h *hub) take(w *watcher) (look, catalog []byte, closed bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	look, catalog = w.look, w.catalog
	w.look, w.catalog = nil, nil
	return look, catalog, w.closed
}

// run looks until there are no watchers or the node stops. Only one run is under way at a time.
func (h *hub) run(ctx context.Context, before <-chan struct{}, ended chan<- struct{}) {
	defer close(ended)
	<-before
	o := &observer{node: h.node}
	h.look(ctx, o)
	looking := time.NewTicker(h.every)
	defer looking.Stop()
	state := time.NewTicker(stateEvery)
	defer state.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-state.C:
			if state := h.node.State(); state == "stopping" || state == "stopped" {
				h.close()
			}
		case <-looking.C:
			h.look(ctx, o)
		}
	}
}

// close notifies all watchers that the node stops.
func (h *hub) close() {
	h.mu.Lock()
	defer h.mu.Unlock()
	for w := range h.watchers {
		w.closed = true
		w.poke()
	}
}

func (w *watcher) poke() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (h *hub) look(ctx context.Context, o *observer) {
	if h.node.State() != "running" {
		return
	}
	seen, took := o.look(ctx)
	text, err := json.Codec.Append(nil, seen)
	if err != nil {
		h.node.Log().Error("the dashboard cannot write what it saw", "error", err)
		return
	}
	var list []byte
	if o.looks%catalogLooks == 1 {
		if c, err := newCatalog(ctx, h.node); err == nil {
			list, _ = json.Codec.Append(nil, c)
		}
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	if ctx.Err() != nil {
		return // there are no watchers any more
	}
	h.last, h.latencies, h.history = text, maps.Clone(took), append(h.history[:0:0], o.history...)
	changed := list != nil && !bytes.Equal(list, h.catalog)
	if changed {
		h.catalog = list
	}
	for w := range h.watchers {
		w.look = text
		if changed {
			w.catalog = list
		}
		w.poke()
	}
}

// latency returns the latencies of an action's calls at the last look.
func (h *hub) latency(action string) (latencies, bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	l, ok := h.latencies[action]
	return l, ok
}
