// Package exchange is one HTTP request and its answer, the same whichever engine brought it: the fast one of package http1
// or net/http. Whatever looks at requests without streaming, above all a [Filter], is written against it once.
package exchange

import (
	"context"
	"crypto/tls"
	"net/netip"
	"strings"
	"time"
	"unsafe"
)

// Exchange is one request and its answer. It belongs to one goroutine at a time and is used again for the next request, so
// neither it nor its lists and bytes may be kept after the answer. Its strings may, unless it is Borrowed: nothing writes to them
// again, though one can keep up to 16 KiB alive that came with it. Filters, and callers of web.ExchangeFromContext, never see one that
// is Borrowed.
type Exchange struct {
	// Context ends when the caller goes or the server lets it go.
	Context context.Context
	Method  string         // "GET"
	Path    string         // without the query, as it was sent, not decoded
	Query   string         // behind the "?", as it was sent
	Host    string         // of the Host header, or HTTP/2's authority
	Header  Header         // of the request
	Length  int64          // of the body, as the request announces it; -1 where it does not
	Body    []byte         // all of it, when the call is answered; used again, so copy what is to be kept
	Remote  netip.AddrPort // of the connection's other end; invalid where it has none, as over a Unix socket
	Proxies *Proxies       // that the server trusts; see Client
	TLS     *tls.ConnectionState
	HTTP2   bool
	// Borrowed reports that the strings of the request lie in a buffer that is written again after the answer. See Keep.
	Borrowed bool

	// Route is set by the server to the target of the method and the path. Only the server knows its type.
	Route any
	// Params are the parts of the path that the route's pattern names, in its order, decoded.
	Params []string
	// Principal is set by the authentication, to an *auth.Principal that must not be changed; nil for an anonymous caller.
	Principal any
	// ID is the request's id, in the answer's X-Request-Id and in logs.
	ID string
	// Limit is the time that the call may take. The caller has an answer then, whatever the handler does. 0 is the server's
	// usual limit.
	Limit time.Duration

	// Waited is for how long the request had come and was not read, where the server has more to do than it can; 0 where that is not
	// known. The call's time has begun by then.
	Waited time.Duration

	// Status is the answer's status; 0 means 200.
	Status int
	// Type is the answer's Content-Type.
	Type string
	// Answer has the other headers of the answer. Content-Length, Date, Connection and X-Request-Id are the server's.
	Answer Header
	// Out is the answer's body. Append to Out[:0] to use its capacity.
	Out []byte

	idRoom [idRoom]byte
}

// idRoom is the length of an id that MakeID has space for, a UUID's.
const idRoom = 36

// Filter is a step that requests take before the call and answers after it. Filters are given to a whole server or to a group
// of routes; the first is the outermost. A nil function costs nothing.
type Filter struct {
	// Name identifies it in errors and listings.
	Name string
	// Before may look at the request and set headers of the answer. An error is the answer: a *sabir.Error as it is. Filters
	// further in and the call are left out then. It runs when the head of the request is there, before its body is waited for.
	Before func(x *Exchange) error
	// After may change the answer, also one that is an error. It is called for each filter whose Before was called, in
	// the reverse order. For an answer that is streamed it is not called.
	After func(x *Exchange)
	// Preflight answers an OPTIONS request that browsers send before a call of another site, and returns true if it did.
	Preflight func(x *Exchange) bool
	// ReadsPrincipal says that Before reads Principal. A server that has the filter before its authentication does not start.
	ReadsPrincipal bool
	// Problem is the error in the filter's settings; nil for none. A server with such a filter does not start.
	Problem error
}

// Filterer makes a filter: a [Filter] itself, or a value with settings, such as filter.RateLimit{Rate: 50, Burst: 100}.
type Filterer interface {
	Filter() Filter
}

// Filter returns f, so that a Filter is a [Filterer].
func (f Filter) Filter() Filter { return f }

// Reset makes x ready for the next request. It keeps buffers and the fields that belong to the connection.
func (x *Exchange) Reset() {
	x.Header.empty()
	x.Answer.empty()
	x.Method, x.Path, x.Query, x.Host, x.ID, x.Type = "", "", "", "", "", ""
	x.Length, x.Limit, x.Waited, x.Status, x.HTTP2, x.Borrowed = 0, 0, 0, 0, false, false
	x.Route, x.Principal, x.Body, x.Proxies = nil, nil, nil, nil
	x.Params, x.Out = x.Params[:0], x.Out[:0]
}

// MakeID sets ID to what add appends to the empty list it is given. It takes no memory for up to 36 bytes: x is Borrowed then.
func (x *Exchange) MakeID(add func(dst []byte) []byte) {
	id := add(x.idRoom[:0])
	x.ID, x.Borrowed = unsafe.String(unsafe.SliceData(id), len(id)), true
}

// Keep moves the strings of a request that is Borrowed to where they stay for good. For others it does nothing. It must be called
// before anything keeps one of them, or gives one to others that may.
func (x *Exchange) Keep() {
	if !x.Borrowed {
		return
	}
	x.Borrowed = false
	size := len(x.Path) + len(x.Query) + len(x.Host) + len(x.ID)
	for _, f := range x.Header.fields {
		size += len(f.Name) + len(f.Value)
	}
	for _, p := range x.Params {
		size += len(p)
	}
	buffer := make([]byte, 0, size) // of which each string becomes a part
	keep := func(s *string) {
		start := len(buffer)
		buffer = append(buffer, *s...)
		*s = unsafe.String(unsafe.SliceData(buffer[start:]), len(*s))
	}
	for _, s := range []*string{&x.Path, &x.Query, &x.Host, &x.ID} {
		keep(s)
	}
	for i := range x.Header.fields {
		keep(&x.Header.fields[i].Name)
		keep(&x.Header.fields[i].Value)
	}
	for i := range x.Params {
		keep(&x.Params[i])
	}
}

// Cookie is the value of a cookie of the request as it was sent; "" where there is none.
func (x *Exchange) Cookie(name string) string {
	for _, field := range x.Header.Fields() {
		if !equal(field.Name, "Cookie") {
			continue
		}
		for line := field.Value; line != ""; {
			var pair string
			pair, line, _ = strings.Cut(line, ";")
			if key, value, ok := strings.Cut(strings.TrimSpace(pair), "="); ok && key == name {
				return strings.Trim(value, `"`)
			}
		}
	}
	return ""
}
