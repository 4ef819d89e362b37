package webhook

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/recent"
	"github.com/sabir-go/sabir/internal/subrequest"
	"github.com/sabir-go/sabir/web"
)

// Receiver says which events [Receive] takes, and what becomes of them.
type Receiver struct {
	// Secrets are those by which senders sign, by the rules of Standard Webhooks: "whsec_" and base64. While one is replaced, both are here. With
	// secrets the signature is the authentication; without any, callers authenticate as the server's options say.
	Secrets []string
	// Prefix is cut off the type of an event, such as "com.example.", and what is left is its name here. An event whose type lacks it is refused.
	Prefix string
	// Events are patterns of the names that are taken, such as "orders.*". The event is emitted with its data, which must be JSON, as the payload.
	Events []string
	// Take takes each event in place of emitting it, such as to publish it on a channel; Events may be left out then. An error with a code of
	// [sabir.Error] is answered with its status: senders come again after 429 and 500 to 599.
	Take func(ctx context.Context, e Event) error
}

// Receive takes CloudEvents at a path, with POST, in the structured or binary form or as a batch. A payload of Standard Webhooks, an object
// with "type", "timestamp" and "data", is taken where it is signed. It answers 204 when every event was taken. An event that comes again, by its source
// and id, is answered so too and left out, while it is among the 10,000 that the node remembers; one that comes while the first is taken waits
// for that. BodyLimit of web.Config bounds a request; a batch has at most 1,000 events.
func Receive(path string, r Receiver) gateway.HTTPOption {
	return web.Mounted(path, func(site web.Site) (http.Handler, error) {
		h := &receiver{Receiver: r, site: site, seen: recent.New[string, bool](10_000), taking: make(map[string]chan struct{})}
		for _, secret := range r.Secrets {
			key, err := keyOf(secret)
			if err != nil {
				return nil, err
			}
			h.keys = append(h.keys, key)
		}
		if len(r.Events) == 0 && r.Take == nil {
			return nil, errors.New(`webhook.Receive: say which events are taken: Events, such as "orders.*", or Take`)
		}
		for _, pattern := range r.Events {
			if err := names.CheckPattern(pattern); err != nil {
				return nil, fmt.Errorf("webhook.Receive: %w", err)
			}
		}
		return h, nil
	})
}

type receiver struct {
	Receiver
	site web.Site
	keys [][]byte

	seen *recent.Cache[string, bool]

	lock   sync.Mutex
	taking map[string]chan struct{} // the events that are taken now; closed when that has ended
}

// Public reports whether senders authenticate by their signatures.
func (h *receiver) Public() bool { return len(h.keys) > 0 }

// ServeHTTP takes the events of a request.
func (h *receiver) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	switch r.Method {
	case http.MethodPost:
	case http.MethodOptions: // a sender asks whether it may (CloudEvents, HTTP 1.1 Web Hooks, section 4)
		w.Header().Set("Allow", "POST")
		if origin := r.Header.Get("Webhook-Request-Origin"); origin != "" {
			w.Header().Set("Webhook-Allowed-Origin", origin)
			w.Header().Set("Webhook-Allowed-Rate", "*")
		}
		return
	default:
		w.Header().Set("Allow", "POST")
		http.Error(w, "events come with POST", http.StatusMethodNotAllowed)
		return
	}
	if subrequest.Encoded(r.Header) {
		http.Error(w, subrequest.Compressed, http.StatusUnsupportedMediaType)
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.site.Body))
	if err != nil {
		status := http.StatusBadRequest
		if _, over := errors.AsType[*http.MaxBytesError](err); over {
			status = http.StatusRequestEntityTooLarge
		}
		http.Error(w, "the body did not come as announced, or is larger than the limit of the server", status)
		return
	}
	header := r.Header
	if len(h.keys) > 0 {
		header = standard(header)
		if err := verify(h.keys, header, time.Now(), body); err != nil {
			http.Error(w, err.Error(), http.StatusUnauthorized)
			return
		}
	}
	events, err := h.read(header, body)
	if err != nil {
		status := http.StatusBadRequest
		if err == errForm || err == errUnsigned {
			status = http.StatusUnsupportedMediaType
		}
		http.Error(w, err.Error(), status)
		return
	}
	for i := range events {
		if err := h.take(r.Context(), &events[i]); err != nil {
			h.refuse(w, r, &events[i], err)
			return
		}
	}
	w.WriteHeader(http.StatusNoContent)
}

// read reads the events. A signed payload that is no CloudEvent is one of Standard Webhooks.
func (h *receiver) read(header http.Header, body []byte) ([]Event, error) {
	if len(h.keys) > 0 && inHeaders(header) {
		return nil, errUnsigned
	}
	events, err := readEvents(header, body)
	if err != errForm || len(h.keys) == 0 {
		return events, err
	}
	var plain struct {
		Type      string          `json:"type"`
		Timestamp time.Time       `json:"timestamp"`
		Data      json.RawMessage `json:"data"`
	}
	if json.Unmarshal(body, &plain) != nil || plain.Type == "" {
		return nil, errForm
	}
	e := Event{ID: header.Get(idHeader), Source: "/webhook", Type: plain.Type, Time: plain.Timestamp, Data: plain.Data}
	return []Event{e}, e.check()
}

// take takes one event, unless it was taken before. One that comes again while it is taken waits for that: a sender that has waited for too long for
// its answer sends the event once more, and the first attempt goes on.
func (h *receiver) take(ctx context.Context, e *Event) error {
	key := strconv.Itoa(len(e.Source)) + e.Source + e.ID
	for {
		ended, known := h.begin(key)
		if known {
			return nil
		}
		if ended == nil {
			break
		}
		select {
		case <-ended:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
	taken := false
	defer func() { h.end(key, taken) }() // also where Take panics
	if err := h.handle(ctx, e); err != nil {
		return err
	}
	taken = true
	return nil
}

// begin marks an event as one that is taken. Where it is already, the channel is closed when that has ended; known says that it was taken before.
func (h *receiver) begin(key string) (ended <-chan struct{}, known bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if _, known := h.seen.Get(key); known {
		return nil, true
	}
	if ended, busy := h.taking[key]; busy {
		return ended, false
	}
	h.taking[key] = make(chan struct{})
	return nil, false
}

func (h *receiver) end(key string, taken bool) {
	h.lock.Lock()
	defer h.lock.Unlock()
	if taken {
		h.seen.Add(key, true)
	}
	close(h.taking[key])
	delete(h.taking, key)
}

func (h *receiver) handle(ctx context.Context, e *Event) error {
	name, has := strings.CutPrefix(e.Type, h.Prefix)
	matches := func(pattern string) bool { return names.Match(pattern, name) }
	if !has || h.Events != nil && (names.Check(name) != nil || !slices.ContainsFunc(h.Events, matches)) {
		return sabir.Errorf(sabir.CodePermissionDenied, sabir.ErrCallerRefused.Name, "events of the type %.100q are not taken here", e.Type)
	}
	if e.Subject != "" {
		ctx = sabir.WithMetadata(ctx, "ce-subject", e.Subject)
	}
	ctx = sabir.WithMetadata(sabir.WithMetadata(ctx, "ce-id", e.ID), "ce-source", e.Source)
	if h.Take != nil {
		return h.Take(ctx, *e)
	}
	if !e.isJSON() {
		return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the data of the event %.100q is not JSON", e.ID)
	}
	data := json.RawMessage(e.Data)
	if data == nil {
		data = json.RawMessage("{}")
	}
	return sabir.Emit(ctx, h.site.Node, name, data)
}

// refuse answers with the status of an error. Only the text of a [sabir.Error] is meant for the sender.
func (h *receiver) refuse(w http.ResponseWriter, r *http.Request, event *Event, err error) {
	e := sabir.AsError(err)
	message := "the event was not taken"
	if e.Name != sabir.ErrHandlerFailed.Name && e.HTTPStatus() < 500 {
		message = e.Message
	} else {
		h.site.Node.Log().Error("webhook: an event was not taken", append(subrequest.NamedBy(r), "event", event.Type, "event_id", event.ID, "error", e)...)
	}
	http.Error(w, message, e.HTTPStatus())
}
