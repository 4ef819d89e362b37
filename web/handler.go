package web

import (
	"net/http"
	"net/netip"
	"strings"
	"sync"

	"github.com/sabir-go/sabir/web/exchange"
)

// ServeHTTP answers what came through net/http.
func (f *face) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	f.requests.Add(1)
	x := exchanges.Get().(*exchange.Exchange)
	defer func() {
		x.Reset()
		x.Context, x.TLS = nil, nil
		exchanges.Put(x)
	}()
	fill(x, r)
	if f.stopping.Load() {
		w.Header().Set("Connection", "close")
	}
	to, params := f.find(x)
	x.Params = params
	switch {
	case to == nil:
		f.other(w, r, x)
	case to.action != nil && to.action.Stream:
		f.open(w, r, x, to)
	default:
		x.Route = to
		whole := f.read(x, w, r, to)
		if whole {
			f.answer(x, to, false)
		}
		write(w, r, x)
		if !whole {
			linger(w, r)
		}
	}
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

// find is the target of a request, among the face's own pages too.
func (f *face) find(x *exchange.Exchange) (*target, []string) {
	method := x.Method
	if method == http.MethodHead {
		method = http.MethodGet
	}
	to, params := f.tables.get().find(x.Method, x.Path, x.Params[:0])
	if to == nil && method != x.Method {
		to, params = f.tables.get().find(method, x.Path, x.Params[:0])
	}
	if to == nil && x.Method == http.MethodGet && x.Header.Has("Upgrade") { // a WebSocket, which begins with GET
		if call, _ := f.tables.get().find(http.MethodPost, x.Path, nil); call != nil && call.binder == nil && call.action != nil && call.action.Stream {
			return call, params
		}
	}
	if to == nil && method == http.MethodGet && (x.Path != "/" || f.mounted("/") == nil) {
		to = f.own[strings.ReplaceAll(x.Path, "%24", "$")]
	}
	return to, params
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

// other answers what is no target: what is mounted, events, questions of browsers, and nothing at all.
func (f *face) other(w http.ResponseWriter, r *http.Request, x *exchange.Exchange) {
	if r.Method == http.MethodOptions && f.doorOf(x.Path).preflight(x) {
		write(w, r, x)
		return
	}
	to := &target{door: &f.settings.root, path: x.Path, steps: f.doorOf(x.Path).steps, page: (*visit).nothing}
	if len(f.settings.events) > 0 && x.Path == eventsPath && r.Method == http.MethodGet {
		f.listen(w, r, x, to)
		return
	}
	if m := f.mounted(x.Path); m != nil {
		f.visitMounted(w, r, x, m)
		return
	}
	f.answer(x, to, false)
	write(w, r, x)
	if x.Status >= 400 {
		linger(w, r)
	}
}
