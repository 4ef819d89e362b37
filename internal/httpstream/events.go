package httpstream

import (
	"context"
	"encoding/json"
	"errors"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/go-json-experiment/json/jsontext"
	"github.com/gobwas/ws"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/names"
)

// Events is the events that callers over HTTP may listen to. The node takes them by one service, [Events.Service], however
// many callers there are, and hands them on to those that want them. Its methods may be used by many goroutines at once.
type Events struct {
	patterns []string

	mu        sync.RWMutex
	listeners map[*listener]struct{}
}

// listener is one caller.
type listener struct {
	x       *session
	offered []string // patterns of what it may have
	topics  []string // patterns of what it asked for
	box     *outbox
	socket  bool
}

// NewEvents makes the events that the patterns take: "orders.*", "user.created". An error names the pattern that is not valid.
func NewEvents(patterns ...string) (*Events, error) {
	if len(patterns) == 0 {
		return nil, errors.New("web: events: no pattern says which events callers may have")
	}
	var errs []error
	for _, p := range patterns {
		errs = append(errs, names.CheckPattern(p))
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return &Events{patterns: slices.Compact(slices.Sorted(slices.Values(patterns))), listeners: make(map[*listener]struct{})}, nil
}

// Service makes the service by which a node takes the events, of other nodes too. Its handlers are a group of their own on
// each node, so that every node gets what is emitted to one of each group. The name must not begin with "$", since other
// nodes are not sent such services; several servers of one node need several names.
//
// The handlers write an event as JSON on the emitter's goroutine, and wait for no caller.
func (e *Events) Service(name, node string) *sabir.Service {
	s := sabir.NewService(name, sabir.Doc("hands events on to callers over HTTP"))
	for _, p := range e.patterns {
		sabir.On(s, p, e.deliver, sabir.Delivery{Group: name + "/" + node, BestEffort: true})
	}
	return s
}

// Listeners returns the number of callers that listen.
func (e *Events) Listeners() int {
	e.mu.RLock()
	defer e.mu.RUnlock()
	return len(e.listeners)
}

// deliver hands an event on. A listener without space for it is cut off: a listener gets every event, or an error.
func (e *Events) deliver(ctx context.Context, payload json.RawMessage) error {
	info := sabir.InfoFromContext(ctx)
	name := info.Event
	var document, sseHead, frameHead []byte
	var failed error
	e.mu.RLock()
	defer e.mu.RUnlock()
	for l := range e.listeners {
		if !l.wants(name) {
			continue
		}
		if document == nil && failed == nil {
			document, failed = appendEvent(nil, &info, payload)
			sseHead = append(append([]byte("event: "), name...), "\ndata: "...)
			frameHead = appendHead(nil, ws.OpText, len(document))
		}
		switch {
		case failed != nil:
			l.x.fail(failed)
		case len(document) > l.x.limits.Value:
			l.x.fail(sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrMessageTooLarge.Name,
				"the event %s is %d bytes of JSON; over HTTP one has at most %d", name, len(document), l.x.limits.Value))
		case l.socket && !l.box.offer(frameHead, document), !l.socket && !l.box.offer(sseHead, document, doubleLine):
			l.x.fail(ErrTooSlow)
		}
	}
	return failed
}

// wants reports whether the listener gets an event: it asked for it and may have it. A topic that it may ask for can take more than
// that, such as "**", and the node takes events for other listeners too.
func (l *listener) wants(name string) bool {
	takes := func(pattern string) bool { return names.Match(pattern, name) }
	return slices.ContainsFunc(l.topics, takes) && slices.ContainsFunc(l.offered, func(p string) bool { return takes(p) && addresses(p, name) })
}

// addresses reports whether a pattern is meant for an event where it takes the name: the runtime's own, such as "$node.left_out", are for
// operators, and not let out by a pattern such as "**", which was written for the program's own.
func addresses(pattern, event string) bool { return event[0] != '$' || pattern[0] == '$' }

// appendEvent appends an event as JSON in one line: "node" is the node that emitted it, and "broadcast" and "groups" are there where they say something.
func appendEvent(dst []byte, info *sabir.CallInfo, payload json.RawMessage) ([]byte, error) {
	text := slices.Clone(jsontext.Value(payload))
	if err := text.Compact(); err != nil {
		// Package sabir takes a []byte for a document. That it is none shows here.
		if text, err = json.Marshal([]byte(payload)); err != nil {
			return nil, err
		}
	}
	quoted, err := json.Marshal(info.From)
	if err != nil {
		return nil, err
	}
	dst = append(append(append(dst, `{"event":"`...), info.Event...), `","payload":`...)
	dst = append(append(append(dst, text...), `,"node":`...), quoted...)
	if info.Broadcast {
		dst = append(dst, `,"broadcast":true`...)
	}
	if info.Groups != nil {
		groups, err := json.Marshal(info.Groups)
		if err != nil {
			return nil, err
		}
		dst = append(append(dst, `,"groups":`...), groups...)
	}
	return append(dst, '}'), nil
}

// maxTopics is the most topics of one caller.
const maxTopics = 32

// offeredTo returns the patterns of the events that the caller may have.
func (e *Events) offeredTo(x *session) []string {
	if x.call.Events != nil {
		return x.call.Events
	}
	return e.patterns
}

// topicsOf reads the caller's topics: all where it names none. A topic that can match none of the events that it may have is refused.
func topicsOf(r *http.Request, offered []string) ([]string, error) {
	topics := r.URL.Query()["topic"]
	if len(topics) == 0 {
		return offered, nil
	}
	if len(topics) > maxTopics {
		return nil, badInput("there are %d topics: at most %d", len(topics), maxTopics)
	}
	for _, topic := range topics {
		if err := names.CheckPattern(topic); err != nil {
			return nil, sabir.Errorf(sabir.CodeInvalidArgument, errname.BadName, "%w", err)
		}
		if !slices.ContainsFunc(offered, func(p string) bool { return overlap(p, topic) }) {
			return nil, sabir.Errorf(sabir.CodePermissionDenied, ErrEventNotOffered.Name, "no event that %.100q takes is offered here: there are %s", topic, strings.Join(offered, ", "))
		}
	}
	return topics, nil
}

// overlap reports whether there can be a name that both patterns take.
func overlap(a, b string) bool {
	as, bs := strings.Split(a, "."), strings.Split(b, ".")
	// can[j] is whether as[i:] and bs[j:] overlap, for the i at hand; below for the i after it.
	below := make([]bool, len(bs)+1)
	below[len(bs)] = true
	for _, a := range slices.Backward(as) {
		can := make([]bool, len(bs)+1)
		for j := len(bs) - 1; j >= 0; j-- {
			// Both consume a word, after which each that is "**" may go on.
			if a != bs[j] && !wild(a) && !wild(bs[j]) {
				continue
			}
			can[j] = below[j+1] || a == "**" && can[j+1] || bs[j] == "**" && below[j]
		}
		below = can
	}
	return below[0]
}

func wild(word string) bool { return word == "*" || word == "**" }

// ServeEvents answers a request for events, as SSE or over WebSocket; it returns when the caller has gone or is cut off.
// The query's "topic", which may repeat, sets which events: patterns too; without one, all there are.
//
// What was emitted before is not sent. A caller that reads too slowly is not waited for: with 64 KiB behind it is cut
// off with an error.
func (s *Streams) ServeEvents(w http.ResponseWriter, r *http.Request, e *Events, call Call) {
	x := s.session(w, r, call)
	defer x.fail(nil)
	x.serve(func() error { return x.runEvents(e) }, func() error { return x.runEventSocket(e) })
}

// listen lets events into the box until the function that it returns is called.
func (e *Events) listen(l *listener) (leave func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.listeners[l] = struct{}{}
	return func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		delete(e.listeners, l)
	}
}

func (x *session) runEvents(e *Events) error {
	x.form = sse
	if x.r.Method != http.MethodGet {
		x.w.Header().Set("Allow", "GET")
		return sabir.NewError(sabir.CodeUnimplemented, errname.MethodNotAllowed, "events are only listened to: use GET")
	}
	offered := e.offeredTo(x)
	topics, err := topicsOf(x.r, offered)
	if err != nil {
		return err
	}
	x.control.SetReadDeadline(noDeadline)
	box := newOutbox(x.out)
	leave := e.listen(&listener{x: x, offered: offered, topics: topics, box: box})
	defer leave()
	x.begin()
	if err := x.flush(); err != nil { // a client that sees the head is listening
		return errGone
	}
	broken, _ := x.write(box, true)
	if broken {
		panic(http.ErrAbortHandler)
	}
	x.control.SetWriteDeadline(time.Now().Add(x.limits.Write))
	return nil
}

func (x *session) runEventSocket(e *Events) error {
	if err := x.checkUpgrade(); err != nil {
		return err
	}
	offered := e.offeredTo(x)
	topics, err := topicsOf(x.r, offered)
	if err != nil {
		return err
	}
	k := x.newSocket()
	leave := e.listen(&listener{x: x, offered: offered, topics: topics, box: k.box, socket: true})
	defer leave()
	if err := k.upgrade(); err != nil {
		return err
	}
	var reading sync.WaitGroup
	reading.Go(func() {
		_, err := k.frames.next()
		if err == nil {
			x.fail(&brokenError{ws.StatusPolicyViolation, badInput("events come one way: send no messages")})
		} else {
			x.fail(k.broken(err))
		}
		k.frames.discard()
	})
	k.serve()
	k.part()
	reading.Wait()
	k.conn.Close()
	return nil
}
