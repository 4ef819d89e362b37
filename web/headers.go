package web

import (
	"context"
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
)

// The headers that carry what belongs to a call, in the form that net/http keeps them.
const (
	requestIDHeader = "X-Request-Id"
	timeoutHeader   = "X-Request-Timeout"
	metaPrefix      = "X-Meta-"
)

// traceHeaders travel as metadata of the same name in lower case (W3C Trace Context).
var traceHeaders = [...]struct{ header, key string }{{"Traceparent", "traceparent"}, {"Tracestate", "tracestate"}}

const (
	maxRequestID  = 128
	maxMetadata   = 32      // pairs of a request
	maxMetaBytes  = 8 << 10 // of their keys and values
	maxTraceBytes = 512     // of a trace header; longer ones are left out (W3C Trace Context, section 3.3.1.5)
)

// requestID is the caller's id of the request if it is one to 128 printable ASCII characters without spaces, else a fresh
// one: it goes into logs and back into a header.
func requestID(h http.Header) string {
	if given := h[requestIDHeader]; len(given) == 1 && given[0] != "" && len(given[0]) <= maxRequestID && visible(given[0]) {
		return given[0]
	}
	return sabir.NewRequestID()
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// timeout is how long the caller is ready to wait, a Go duration ("500ms") or a number of seconds ("2.5"), but limit at
// the most and where nothing is said.
func timeout(h http.Header, limit time.Duration) (time.Duration, *sabir.Error) {
	text := h.Get(timeoutHeader)
	if text == "" {
		return limit, nil
	}
	d, err := time.ParseDuration(text)
	if err != nil {
		if d, err = time.ParseDuration(text + "s"); err != nil {
			d = 0
		}
	}
	if d <= 0 {
		return 0, sabir.Errorf(sabir.InvalidArgument, sabir.ErrBadInput.Name,
			`the header %s says %.40q: want a time above zero such as "500ms", or seconds such as "2.5"`, timeoutHeader, text)
	}
	return min(d, limit), nil
}

// withMetadata puts the pairs of X-Meta-<Key> headers and the trace into the context. HTTP does not tell A from a in a
// header's name, so keys are in lower case, except for what is percent-encoded.
func withMetadata(ctx context.Context, h http.Header) (context.Context, *sabir.Error) {
	pairs, size := 0, 0
	for name, values := range h {
		key, ok := strings.CutPrefix(name, metaPrefix)
		if !ok || key == "" || len(values) == 0 {
			continue
		}
		key, err := url.PathUnescape(strings.ToLower(key))
		if err != nil {
			return ctx, sabir.Errorf(sabir.InvalidArgument, sabir.ErrBadInput.Name, "the header name %.100q has a broken percent-encoding", name)
		}
		value := strings.Join(values, ", ") // RFC 9110, section 5.3
		pairs, size = pairs+1, size+len(key)+len(value)
		if pairs > maxMetadata || size > maxMetaBytes {
			return ctx, sabir.Errorf(sabir.InvalidArgument, sabir.ErrBadInput.Name,
				"there is too much metadata: at most %d %s headers of %d bytes together", maxMetadata, metaPrefix, maxMetaBytes)
		}
		ctx = sabir.WithMetadata(ctx, key, value)
	}
	for _, t := range traceHeaders {
		if v := h[t.header]; len(v) > 0 && len(v[0]) <= maxTraceBytes {
			ctx = sabir.WithMetadata(ctx, t.key, v[0])
		}
	}
	return ctx, nil
}

// setMetadata is withMetadata's other side.
func setMetadata(h http.Header, metadata map[string]string) error {
	for key, value := range metadata {
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.Trim(value, " ") != value {
			return fmt.Errorf("the metadata %q has a value with a control character or an outer space, which HTTP cannot carry", key)
		}
		h[http.CanonicalHeaderKey(metaHeader(key))] = []string{value}
	}
	return nil
}

// metaHeader is the header for a key: what is not a lower-case letter, a digit, "-", "_" or "." is percent-encoded.
func metaHeader(key string) string {
	for _, t := range traceHeaders {
		if key == t.key {
			return t.header
		}
	}
	header := []byte(metaPrefix)
	for i := range len(key) {
		switch c := key[i]; {
		case c >= 'a' && c <= 'z', c >= '0' && c <= '9', c == '-', c == '_', c == '.':
			header = append(header, c)
		default:
			header = fmt.Appendf(header, "%%%02x", c)
		}
	}
	return string(header)
}

// checkJSON tells whether the request says that it brings JSON. Asking for it is also what keeps web pages of other sites
// from posting without a preflight.
func checkJSON(r *http.Request) *sabir.Error {
	if encoding := r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return mediaType("the body is encoded with %.40q: send it as it is", encoding)
	}
	given := r.Header["Content-Type"]
	switch {
	case len(given) == 0 && r.ContentLength == 0:
		return nil
	case len(given) == 0:
		return mediaType(`the body has no type: send "Content-Type: application/json"`)
	case len(given) == 1 && given[0] == "application/json":
		return nil
	}
	kind, parameters, err := mime.ParseMediaType(given[0])
	if err != nil || kind != "application/json" || len(given) > 1 {
		return mediaType(`the body is %.100q: send "Content-Type: application/json"`, strings.Join(given, ", "))
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return mediaType("the body is in %.40q: send UTF-8", charset)
	}
	return nil
}

func mediaType(format string, args ...any) *sabir.Error {
	return sabir.Errorf(sabir.InvalidArgument, sabir.ErrMediaType.Name, format, args...)
}

// seconds is a duration as a Retry-After header has it.
func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
