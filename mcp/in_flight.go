package mcp

import (
	"bytes"
	"encoding/json"
	"net/http"
	"sync"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/sabir-go/sabir/web/auth"
)

// inFlight has the requests of one client that are not answered yet. A request that its client has cancelled is not answered (the protocol's
// page on cancellation says so, and clients report such an answer as a fault), but the SDK answers all: whoever writes for it asks here.
type inFlight struct {
	cancelled atomic.Int64 // how many of the requests are, so that answers need not be looked at while none is

	mu       sync.Mutex
	requests map[jsonrpc.ID]*request
}

type request struct {
	method    string
	caller    string
	cancelled bool
}

// begin notes a request. It reports false for one under the id of another that is in flight, which the SDK does not serve.
func (f *inFlight) begin(id jsonrpc.ID, method, caller string) bool {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.requests[id] != nil {
		return false
	}
	if f.requests == nil {
		f.requests = make(map[jsonrpc.ID]*request)
	}
	f.requests[id] = &request{method: method, caller: caller}
	return true
}

// cancel notes that a caller has cancelled a request of its own. A session must be begun in any case.
func (f *inFlight) cancel(id jsonrpc.ID, caller string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if r := f.requests[id]; r != nil && r.caller == caller && !r.cancelled && r.method != "initialize" {
		r.cancelled = true
		f.cancelled.Add(1)
	}
}

// end forgets a request, and returns what was known of it; nil for nothing.
func (f *inFlight) end(id jsonrpc.ID) *request {
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests[id]
	if r != nil && r.cancelled {
		f.cancelled.Add(-1)
	}
	delete(f.requests, id)
	return r
}

func (f *inFlight) isCancelled(id jsonrpc.ID) bool {
	if f.cancelled.Load() == 0 {
		return false
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	r := f.requests[id]
	return r != nil && r.cancelled
}

// unwanted reports whether an event of a stream is the answer to a request that was cancelled.
func (f *inFlight) unwanted(event []byte) bool {
	if f.cancelled.Load() == 0 {
		return false
	}
	_, id, ok := answerIn(event)
	return ok && f.isCancelled(id)
}

// answerIn is the message of an event that is the answer to a request.
func answerIn(event []byte) (message []byte, id jsonrpc.ID, ok bool) {
	_, message, found := bytes.Cut(event, []byte("data: "))
	if !found {
		return nil, id, false
	}
	id, ok = answeredID(message)
	return bytes.TrimRight(message, "\n"), id, ok
}

// answeredID reads a message as far as it takes to know which request it answers; false for one that is no answer. Answers are long,
// and the SDK writes the id before the result.
func answeredID(message []byte) (id jsonrpc.ID, ok bool) {
	d := json.NewDecoder(bytes.NewReader(message))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return id, false
	}
	for d.More() {
		name, err := d.Token()
		if err != nil || name == "method" {
			return id, false
		}
		if name == "id" {
			var given any
			if d.Decode(&given) != nil {
				return id, false
			}
			id, err = jsonrpc.MakeID(given)
			return id, err == nil && id.IsValid()
		}
		var other json.RawMessage
		if d.Decode(&other) != nil {
			return id, false
		}
	}
	return id, false
}

// cancelParams is read from the notification of a cancelled request.
type cancelParams struct {
	RequestID scalar `json:"requestId"`
}

// id is the request's; false for a notification that names none.
func (p cancelParams) id() (jsonrpc.ID, bool) {
	id, err := jsonrpc.MakeID(p.RequestID.value)
	return id, err == nil && id.IsValid()
}

const cancelledMethod = "notifications/cancelled"

// follow notes what a message of a session says: requests begin, and requests that were cancelled get no answer. The function that it
// returns forgets the requests.
func (f *inFlight) follow(messages []message, r *http.Request) (end func()) {
	p, _ := auth.FromContext(r.Context())
	var begun []jsonrpc.ID
	for _, m := range messages {
		if m.Method == cancelledMethod {
			if id, ok := m.Params.id(); ok {
				f.cancel(id, p.Subject)
			}
			continue
		}
		if id, err := jsonrpc.MakeID(m.ID.value); err == nil && id.IsValid() && m.Method != "" && f.begin(id, m.Method, p.Subject) {
			begun = append(begun, id)
		}
	}
	return func() {
		for _, id := range begun {
			f.end(id)
		}
	}
}
