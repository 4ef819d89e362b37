package web

import (
	"bytes"
	"fmt"
	"net/http"
	"runtime/debug"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir"
)

// handler answers the requests of one node.
type handler struct {
	node     *sabir.Node
	access   *access
	limits   limits
	requests atomic.Int64 // that came
	inFlight atomic.Int64 // calls
	stopping atomic.Bool
	guessing sync.Mutex // one at a time looks for similar names
}

func newHandler(n *sabir.Node, a *access, l limits) *handler {
	return &handler{node: n, access: a, limits: l}
}

// exchange is one request and its answer.
type exchange struct {
	*handler
	w    http.ResponseWriter
	r    *http.Request
	id   string // of the request
	sent bool   // the answer's status is out
	read bool   // the body was read, or as much of it as there is
}

// The values of headers that every answer shares. Nobody changes them.
var (
	nosniff     = []string{"nosniff"}
	jsonType    = []string{"application/json"}
	closing     = []string{"close"}
	problemType = []string{"application/problem+json"}
)

// ServeHTTP checks who asks and goes by the path. The order matters: who may not call learns nothing of what there is.
func (h *handler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	x := &exchange{handler: h, w: w, r: r, id: requestID(r.Header)}
	defer x.recover()
	h.requests.Add(1)
	header := w.Header()
	if h.stopping.Load() {
		header["Connection"] = closing
	}
	header[requestIDHeader] = []string{x.id}
	header["X-Content-Type-Options"] = nosniff
	if err := h.access.checkSite(r); err != nil {
		x.fail(err)
		return
	}
	switch r.URL.Path {
	case "/health":
		x.fixed(x.health)
		return
	case "/ready":
		x.fixed(x.ready)
		return
	}
	if err := h.access.checkKey(r); err != nil {
		header.Set("WWW-Authenticate", `Bearer realm="sabir"`)
		x.fail(err)
		return
	}
	if r.URL.Path == "/" {
		x.fixed(x.index)
		return
	}
	x.action()
}

// fixed answers a route that is only read.
func (x *exchange) fixed(get func()) {
	switch x.r.Method {
	case http.MethodGet, http.MethodHead:
		get()
	default:
		x.otherMethod("GET, HEAD, OPTIONS", "this address is only read: use GET")
	}
}

// otherMethod answers OPTIONS with what is allowed, and all the rest with an error that says it too. It sends no CORS
// headers, so browsers let no other site's page call.
func (x *exchange) otherMethod(allow, advice string) {
	x.w.Header().Set("Allow", allow)
	if x.r.Method == http.MethodOptions {
		x.sent = true
		x.w.WriteHeader(http.StatusNoContent)
		return
	}
	x.fail(sabir.Errorf(sabir.Unimplemented, sabir.ErrMethod.Name, "the method is %.20q; %s", x.r.Method, advice))
}

// health tells that the process lives.
func (x *exchange) health() { x.send(http.StatusOK, jsonType, []byte(`{"status":"ok"}`+"\n")) }

// ready tells whether calls should be sent here.
func (x *exchange) ready() {
	if state := x.node.State(); state != sabir.Running {
		x.fail(&sabir.Error{Code: sabir.Unavailable, Name: sabir.ErrUnavailable.Name, Node: x.node.ID(), Retryable: true, Message: "the node is " + state.String()})
		return
	}
	x.send(http.StatusOK, jsonType, []byte(`{"status":"ready"}`+"\n"))
}

// action finds the action that the path names, if callers over HTTP may know of it.
func (x *exchange) action() {
	name, ok := actionName(x.r.URL.Path)
	var a *sabir.Action
	if ok && onlyDollar(x.r.URL.RawPath) {
		a = x.node.Action(name)
	}
	switch {
	case a == nil || !callable(a):
		x.fail(x.notFound(name, a))
	case x.r.Method != http.MethodPost:
		x.otherMethod("POST, OPTIONS", "call an action with POST and a JSON body")
	default:
		x.call(a)
	}
}

// callable tells whether callers over HTTP may know of an action.
func callable(a *sabir.Action) bool { return a.Visibility == sabir.Public }

// actionName turns "/v2/users/get" into "v2.users.get". An action has one address: dots, empty words and a slash at the
// end make it another's.
func actionName(path string) (name string, ok bool) {
	words, ok := strings.CutPrefix(path, "/")
	if !ok || len(path) > maxPath || strings.Contains(path, ".") || strings.Contains(path+"/", "//") {
		return "", false
	}
	return strings.ReplaceAll(words, "/", "."), true
}

// actionPath is actionName's other side.
func actionPath(name string) string { return "/" + strings.ReplaceAll(name, ".", "/") }

// maxPath is more than the longest name that an action can have.
const maxPath = 512

// onlyDollar allows one spelling besides the plain one: shells and libraries like to write /$node as /%24node. Any other
// encoding, above all of a slash, would give an action a second address that a proxy in front does not know.
func onlyDollar(rawPath string) bool {
	return !strings.Contains(strings.ReplaceAll(rawPath, "%24", "$"), "%")
}

// maxGuess bounds the names for which similar ones are looked up: comparing takes the square of their length. So that
// wrong names cannot keep the node busy, only one is looked up at a time, and the others get no advice.
const maxGuess = 100

// notFound is the same for an action that is not public as for one that does not exist.
func (x *exchange) notFound(name string, hidden *sabir.Action) *sabir.Error {
	e := &sabir.Error{Code: sabir.NotFound, Name: sabir.ErrActionNotFound.Name, Node: x.node.ID(), Message: fmt.Sprintf("no action has the address %.200q", x.r.URL.Path)}
	if hidden == nil && x.node.State() != sabir.Running {
		e.Message += " (the node is " + x.node.State().String() + ")"
	}
	if name == "" || len(name) > maxGuess || !x.guessing.TryLock() {
		return e
	}
	defer x.guessing.Unlock()
	near := x.node.Nearest(name, func(a *sabir.Action) bool { return callable(a) && !a.Stream })
	if near == nil {
		return e
	}
	paths := make([]string, len(near))
	for i, n := range near {
		paths[i] = actionPath(n)
	}
	e.Message += "; did you mean " + strings.Join(paths, ", ") + "?"
	e.Data = map[string]any{"nearest": near}
	return e
}

// send writes a whole answer.
func (x *exchange) send(status int, contentType []string, body []byte) {
	header := x.w.Header()
	header["Content-Type"] = contentType
	header["Content-Length"] = []string{itoa(len(body))}
	x.sent = true
	x.w.WriteHeader(status)
	x.w.Write(body) // an error means that the caller is gone
}

// recover answers for a fault of the face itself; a handler's panic is an error long before it could come here.
func (x *exchange) recover() {
	v := recover()
	switch {
	case v == nil:
		return
	case v == http.ErrAbortHandler:
		panic(v)
	}
	x.node.Log().Error("http panicked", "request", x.id, "path", x.r.URL.Path, "panic", fmt.Sprint(v), "stack", string(bytes.TrimSpace(debug.Stack())))
	if x.sent {
		panic(http.ErrAbortHandler) // the answer is broken off, so that the caller cannot take it for whole
	}
	x.fail(&sabir.Error{Code: sabir.Internal, Name: sabir.ErrPanic.Name, Node: x.node.ID(), Message: internalMessage(x.id)})
}
