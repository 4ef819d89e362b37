package dashboard

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

// The bounds of the events that a browser gets: how many wait for it, how many a second it gets, and how much of a
// payload. What is over is counted and sent as a number.
const (
	maxListeners = 32
	maxWaiting   = 256
	maxPerSecond = 200
	maxPayload   = 16 << 10
)

// passed is an event that went by.
type passed struct {
	At      int64  `json:"at"` // Unix milliseconds
	Event   string `json:"event"`
	Payload string `json:"payload,omitempty"` // JSON, as text: a page that parsed it would lose the digits of large numbers
	Size    int    `json:"size"`              // bytes of the payload
	Cut     string `json:"cut,omitempty"`     // the beginning of a payload that is too long, instead of it
	From    string `json:"from,omitempty"`    // the action or event whose handler emitted it
	Request string `json:"request,omitempty"`

	Node      string   `json:"node,omitempty"` // that emitted it
	Broadcast bool     `json:"broadcast,omitempty"`
	Groups    []string `json:"groups,omitempty"` // that the emitter chose
}

// batch is the content of one message to a browser.
type batch struct {
	Events []passed `json:"events"`
	Missed int      `json:"missed"` // that were too many
}

// listener is one browser that watches events.
type listener struct {
	pattern string
	waiting []passed
	missed  int
	second  int64 // Unix; of count
	count   int
}

// tap listens to all events of the cluster while a browser watches them. It does so with a service of its own that is added
// to the running node, in a group of its own, so it takes no event from other handlers.
type tap struct {
	node *sabir.Node
	name string

	changing sync.Mutex // held while the service is added or removed
	service  *sabir.Service

	mu        sync.Mutex
	listeners map[*listener]struct{}
}

// ownServices is the beginning of the names of the taps' services. Other nodes are not sent services whose names begin
// with "$", so theirs must not.
const ownServices = "sabir-dashboard-"

// taps numbers them, since a node may have several dashboards.
var taps atomic.Int64

func isOwn(service string) bool { return strings.HasPrefix(service, ownServices) }

func newTap(n *sabir.Node) *tap {
	return &tap{node: n, name: fmt.Sprintf("%s%d", ownServices, taps.Add(1)), listeners: make(map[*listener]struct{})}
}

// listen adds a listener; the first one adds the service.
func (t *tap) listen(ctx context.Context, pattern string) (*listener, error) {
	t.changing.Lock()
	defer t.changing.Unlock()
	l := &listener{pattern: pattern}
	t.mu.Lock()
	if len(t.listeners) >= maxListeners {
		t.mu.Unlock()
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, errTooManyListeners.Name, "%d browsers watch events already, which is the most: close one", maxListeners).AsRetryable()
	}
	t.listeners[l] = struct{}{}
	t.mu.Unlock()
	if t.service != nil {
		return l, nil
	}
	s := sabir.NewService(t.name, sabir.Doc("shows events on a dashboard that is being watched"))
	sabir.On(s, "**", t.receive, sabir.Delivery{Group: t.name + "/" + t.node.ID(), BestEffort: true})
	// Others wait for it too, so it does not end with who came first; nor does it wait for long where the node is being changed.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), askLimit)
	defer cancel()
	if err := t.node.Add(ctx, s); err != nil {
		t.drop(l)
		return nil, err
	}
	t.service = s
	return l, nil
}

// leave takes a listener off; the last one removes the service.
func (t *tap) leave(l *listener) {
	t.changing.Lock()
	defer t.changing.Unlock()
	if t.drop(l) > 0 || t.service == nil {
		return
	}
	if t.node.State() == "running" {
		ctx, cancel := context.WithTimeout(context.Background(), askLimit)
		defer cancel()
		if err := t.node.Remove(ctx, t.service); err != nil && t.node.State() == "running" {
			t.node.Log().Warn("the dashboard still listens to events", "error", err)
		}
	}
	t.service = nil
}

func (t *tap) drop(l *listener) (left int) {
	t.mu.Lock()
	defer t.mu.Unlock()
	delete(t.listeners, l)
	return len(t.listeners)
}

// take returns the events that a listener has not sent yet.
func (t *tap) take(l *listener) batch {
	t.mu.Lock()
	defer t.mu.Unlock()
	b := batch{l.waiting, l.missed}
	l.waiting, l.missed = nil, 0
	return b
}

// receive runs on the emitter's goroutine, which has made JSON of the payload: it keeps what some watcher asked for, and never
// waits.
func (t *tap) receive(ctx context.Context, payload json.RawMessage) error {
	info := sabir.InfoFromContext(ctx)
	now := time.Now()
	var wanted []*listener
	t.mu.Lock()
	for l := range t.listeners {
		if names.Match(l.pattern, info.Event) && l.hasRoom(now.Unix()) {
			wanted = append(wanted, l)
		}
	}
	t.mu.Unlock()
	if wanted == nil {
		return nil
	}
	p := passed{At: now.UnixMilli(), Event: info.Event, From: info.CalledBy, Request: info.RequestID,
		Node: info.From, Broadcast: info.Broadcast, Groups: info.Groups}
	p.setPayload(payload)
	t.mu.Lock()
	defer t.mu.Unlock()
	for _, l := range wanted {
		if _, listens := t.listeners[l]; !listens {
			continue
		}
		if len(l.waiting) >= maxWaiting {
			l.missed++
		} else {
			l.waiting = append(l.waiting, p)
		}
	}
	return nil
}

// hasRoom is called with the tap's mu held. It counts what it refuses.
func (l *listener) hasRoom(second int64) bool {
	if l.second != second {
		l.second, l.count = second, 0
	}
	if l.count >= maxPerSecond || len(l.waiting) >= maxWaiting {
		l.missed++
		return false
	}
	l.count++
	return true
}

func (p *passed) setPayload(text []byte) {
	p.Size = len(text)
	if len(text) > maxPayload {
		p.Cut = strings.ToValidUTF8(string(text[:1024]), "")
		return
	}
	p.Payload = string(text)
}
