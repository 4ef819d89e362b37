package web

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/internal/streamgateway"
	"github.com/sabir-go/sabir/web/exchange"
)

// ServeHTTP answers requests that come through net/http.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	if r.Method == "PRI" { // which HTTP/2 begins with, and net/http hands over where what follows is not the rest of it
		w.Header().Set("Connection", "close")
		http.Error(w, "the preface of HTTP/2 is not whole", http.StatusBadRequest)
		return
	}
	if r.URL.Path == "" { // of the target http://host, which stands for http://host/ (RFC 9110, section 4.2.3)
		at := *r.URL
		at.Path = "/"
		r = r.WithContext(r.Context())
		r.URL = &at
	}
	s.requests.Add(1)
	x := exchanges.Get().(*exchange.Exchange)
	defer func() {
		x.Reset()
		x.Context, x.TLS = nil, nil
		exchanges.Put(x)
	}()
	fill(x, r)
	if s.stopping.Load() {
		w.Header().Set("Connection", "close")
	}
	to, params := s.find(x)
	x.Params = params
	leave, ok := s.enter(x, to)
	if !ok {
		doNotWaitForBody(w, r)
		write(w, r, x)
		return
	}
	defer leave()
	switch {
	case to == nil:
		s.serveOther(w, r, x)
	case to.action != nil && to.action.Stream:
		streamgateway.Serve(&streamRequest{s, w, r, x, to})
	default:
		x.Route = to
		account := s.accountOf(r)
		held, whole := s.read(x, w, r, to, account)
		defer account.Give(held)
		if whole {
			s.handleInGoroutine(x, to)
		} else {
			doNotWaitForBody(w, r)
		}
		writeCounted(w, r, x, account)
	}
}

// handleInGoroutine is handle on a goroutine of its own. The connection's goroutine belongs to net/http: if a handler ended it,
// the client would get no response.
func (s *server) handleInGoroutine(x *exchange.Exchange, to *target) {
	a := handlerGoroutines.Get().(*handlerGoroutine)
	a.server, a.x, a.to = s, x, to
	go a.run()
	aborted := <-a.done
	a.server, a.x, a.to = nil, nil, nil
	handlerGoroutines.Put(a)
	if aborted {
		panic(http.ErrAbortHandler)
	}
}

// handlerGoroutine is a reusable set of arguments for handleInGoroutine.
type handlerGoroutine struct {
	server *server
	x      *exchange.Exchange
	to     *target
	done   chan bool // whether the response is to be aborted
}

var handlerGoroutines = sync.Pool{New: func() any { return &handlerGoroutine{done: make(chan bool, 1)} }}

func (a *handlerGoroutine) run() {
	defer func() { a.done <- recover() != nil }() // http.ErrAbortHandler, of all panics, passes through answer
	a.server.handle(a.x, a.to, false)
}

var exchanges = sync.Pool{New: func() any { return new(exchange.Exchange) }}

// fill makes an exchange of a request.
func fill(x *exchange.Exchange, r *http.Request) {
	x.Context, x.Method, x.Path, x.Query, x.Host = r.Context(), r.Method, r.URL.EscapedPath(), r.URL.RawQuery, r.Host
	x.TLS, x.HTTP2, x.Length = r.TLS, r.ProtoMajor == 2, r.ContentLength
	x.Remote, _ = netip.ParseAddrPort(r.RemoteAddr)
	for name, values := range r.Header {
		for _, value := range values {
			x.Header.Add(name, value)
		}
	}
	x.ID = requestID(&x.Header)
}

// clientOf returns the address that a request came from, by the proxies that the server trusts.
func (s *server) clientOf(r *http.Request) netip.Addr {
	var x exchange.Exchange
	fill(&x, r)
	x.Proxies = &s.settings.proxies
	return x.Client()
}

// find returns the target of a request, including the server's own pages.
func (s *server) find(x *exchange.Exchange) (*target, []string) {
	method := x.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	to, params := s.tables.get().find(x.Method, x.Path, x.Params[:0])
	if to == nil && method != x.Method {
		to, params = s.tables.get().find(method, x.Path, x.Params[:0])
	}
	if x.Method == http.MethodHead && to != nil && !to.hasHead() {
		to = nil
	}
	if x.Method == http.MethodGet && x.Header.Has("Upgrade") { // a WebSocket, which begins with GET
		if call := s.streamAt(x.Path); call != nil && (to == nil || len(params) > 0 && !call.rest) { // text goes before a parameter
			return call, nil
		}
	}
	if to == nil && method == http.MethodGet && (x.Path != "/" || s.mounted("/") == nil) {
		to = s.ownPages[strings.ReplaceAll(x.Path, "%24", "$")]
	}
	return to, params
}

// streamAt returns the stream that POST opens at a path, with nothing of its input in the address; nil for none.
func (s *server) streamAt(path string) *target {
	call, _ := s.tables.get().find(http.MethodPost, path, nil)
	if call == nil || call.binder != nil || call.action == nil || !call.action.Stream {
		return nil
	}
	return call
}

// write writes the answer.
func write(w http.ResponseWriter, r *http.Request, x *exchange.Exchange) {
	header := w.Header()
	for _, f := range x.Answer.Fields() {
		header.Add(f.Name, f.Value)
	}
	header.Set(requestIDHeader, x.ID)
	header.Set("X-Content-Type-Options", "nosniff")
	status := x.Status
	if status == 0 {
		status = http.StatusOK
	}
	if x.Type != "" {
		header.Set("Content-Type", x.Type)
	}
	if status != http.StatusNotModified && status != http.StatusNoContent {
		header.Set("Content-Length", itoa(len(x.Out)))
	}
	w.WriteHeader(status)
	if r.Method != http.MethodHead && status != http.StatusNotModified && status != http.StatusNoContent {
		w.Write(x.Out) // an error means that the caller is gone
	}
}

// largeBody is the size in bytes from which a body may be on its way still when its request is refused.
const largeBody = 64 << 10

// doNotWaitForBody has the answer to a request sent although a large body was not read, and the connection closed after it. net/http would send it when the
// rest of the body has come, if that is up to 256 KiB: who is refused would learn so at the end of the time for the body. With EnableFullDuplex, which
// would keep the connection, net/http ends it by a panic (Go 1.26).
func doNotWaitForBody(w http.ResponseWriter, r *http.Request) {
	if r.ProtoMajor == 1 && (r.ContentLength < 0 || r.ContentLength > largeBody) {
		w.Header().Set("Connection", "close")
	}
}

// serveOther answers requests without a target: mounted handlers, events, preflights of browsers, and unknown paths.
func (s *server) serveOther(w http.ResponseWriter, r *http.Request, x *exchange.Exchange) {
	if r.Method == http.MethodOptions && s.preflight(x) {
		write(w, r, x)
		return
	}
	if s.serveProtocol(w, r, x) {
		return
	}
	to := &target{routeGroup: &s.settings.root, path: x.Path, chain: s.groupOf(x.Path).chain, page: (*requestContext).noTarget}
	if len(s.settings.events) > 0 && x.Path == eventsPath && r.Method == http.MethodGet {
		s.settings.listen(s, w, r, x, to)
		return
	}
	if m := s.mounted(x.Path); m != nil {
		s.serveMounted(w, r, x, m)
		return
	}
	if s.refuseUnknown(w, r, x) {
		return
	}
	s.handleInGoroutine(x, to)
	doNotWaitForBody(w, r)
	write(w, r, x)
}
