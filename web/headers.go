package web

import (
	"fmt"
	"mime"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/internal/requestid"
	"github.com/sabir-go/sabir/web/exchange"
)

// The headers that carry what belongs to a call, in the form that net/http keeps them.
const (
	requestIDHeader = "X-Request-Id"
	timeoutHeader   = "X-Request-Timeout"
	metaPrefix      = "X-Meta-"
)

// ownKeys are headers that travel as metadata of the same name in lower case: W3C Trace Context, and Server-Sent Events.
var ownKeys = [...]struct{ header, key string }{{"Traceparent", "traceparent"}, {"Tracestate", "tracestate"}, {"Last-Event-Id", "last-event-id"},
	{"If-Match", ifMatch}, {"If-None-Match", ifNoneMatch}}

// The keys of what package rest checks before a change.
const (
	ifMatch     = "if-match"
	ifNoneMatch = "if-none-match"
)

// ofOneRequest reports whether metadata of the key is for the request alone that it came with, and not for calls of its handler.
func ofOneRequest(key string) bool { return key == ifMatch || key == ifNoneMatch }

const (
	maxRequestID = 128
	maxMetadata  = 32      // pairs of a request
	maxMetaBytes = 8 << 10 // of their keys and values
)

// requestID is the caller's id of the request, or a fresh one where there is none.
func requestID(h *exchange.Header) string {
	if given := givenID(h); given != "" {
		return strings.Clone(given) // for logs, without the rest of its request
	}
	return requestid.New()
}

// givenID returns the client's id for the request if it consists of 1 to 128 printable ASCII characters without spaces,
// otherwise "". The id goes into logs and into a header of the response.
func givenID(h *exchange.Header) string {
	if !h.Has(requestIDHeader) {
		return ""
	}
	given, lines := "", 0
	for value := range h.All(requestIDHeader) {
		given = value
		lines++
	}
	if lines == 1 && len(given) <= maxRequestID && visible(given) {
		return given
	}
	return ""
}

func visible(s string) bool {
	for i := range len(s) {
		if s[i] <= ' ' || s[i] > '~' {
			return false
		}
	}
	return true
}

// timeout returns how long the client waits: X-Request-Timeout as a Go duration ("500ms") or a number of seconds ("2.5"),
// bounded by limit.
func timeout(h *exchange.Header, limit time.Duration) (time.Duration, error) {
	if !h.Has(timeoutHeader) {
		return limit, nil
	}
	text := h.Get(timeoutHeader)
	d, err := time.ParseDuration(text)
	if err != nil {
		if d, err = time.ParseDuration(text + "s"); err != nil {
			d = 0
		}
	}
	if d <= 0 {
		return 0, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name,
			`the header %s says %.40q: want a time above zero such as "500ms", or seconds such as "2.5"`, timeoutHeader, text)
	}
	return min(d, limit), nil
}

// metadata returns the pairs of the X-Meta-<Key> headers, the trace and the position from which a stream is to go on; nil for
// none. HTTP does not distinguish A from a in a header's name, so keys are in lower case, except for characters that are
// percent-encoded. Callers cannot set the keys under which the server itself describes its callers.
func metadata(x *exchange.Exchange) (map[string]string, error) {
	var pairs map[string]string
	size := 0
	for _, f := range x.Header.Fields() {
		key, err := metadataKey(f.Name)
		if err != nil {
			return nil, err
		}
		if key == "" || size > maxMetaBytes || key == admission.MetadataKey && f.Value != admission.SheddableValue {
			continue // who calls from outside may be content to wait, but not go before others
		}
		if ofOneRequest(key) && (x.Method == http.MethodGet || x.Method == http.MethodHead) {
			continue // see usePreconditions
		}
		if !utf8.ValidString(key) || !utf8.ValidString(f.Value) { // which no JSON could carry on
			if !strings.EqualFold(f.Name[:2], "x-") && !ofOneRequest(key) {
				continue // as an unfit traceparent is to be treated (W3C Trace Context, section 4.3)
			}
			return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the header %.100q is not valid UTF-8", f.Name)
		}
		if pairs == nil {
			pairs = make(map[string]string)
		}
		if old, twice := pairs[key]; twice {
			pairs[key] = old + ", " + f.Value // RFC 9110, section 5.3
		} else {
			pairs[key] = strings.Clone(f.Value)
		}
		size += len(key) + len(f.Value)
	}
	if len(pairs) > maxMetadata || size > maxMetaBytes {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name,
			"there is too much metadata: at most %d %s headers of %d bytes together", maxMetadata, metaPrefix, maxMetaBytes)
	}
	return pairs, nil
}

// begins is the prefix of the names of headers that may be metadata.
var begins = [256]bool{'X': true, 'x': true, 'T': true, 't': true, 'L': true, 'l': true, 'I': true, 'i': true}

// metadataKey returns the metadata key of a header; "" for a header that carries no metadata.
func metadataKey(name string) (string, error) {
	if name == "" || !begins[name[0]] {
		return "", nil
	}
	for _, known := range ownKeys {
		if strings.EqualFold(name, known.header) {
			return known.key, nil
		}
	}
	if len(name) <= len(metaPrefix) || !strings.EqualFold(name[:len(metaPrefix)], metaPrefix) {
		return "", nil
	}
	key, err := url.PathUnescape(strings.ToLower(name[len(metaPrefix):]))
	if err != nil {
		return "", sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the header name %.100q has a broken percent-encoding", name)
	}
	if key == principal.MetadataKey {
		return "", sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the header %.100q says who calls, which only this node can say", name)
	}
	return key, nil
}

// setMetadata is withMetadata's other side.
func setMetadata(h http.Header, metadata map[string]string) error {
	for key, value := range metadata {
		if key == principal.MetadataKey || ofOneRequest(key) {
			continue // the other node authenticates the caller by itself
		}
		if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' || r == 0x7f }) || strings.Trim(value, " ") != value {
			return fmt.Errorf("the metadata %q has a value with a control character or an outer space, which HTTP cannot carry", key)
		}
		h[http.CanonicalHeaderKey(metaHeader(key))] = []string{value}
	}
	return nil
}

// metaHeader is the header for a key: what is not a lower-case letter, a digit, "-", "_" or "." is percent-encoded.
func metaHeader(key string) string {
	for _, t := range ownKeys {
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

// checkJSON returns an error unless the body is declared as JSON. That also keeps pages of other sites from posting without a
// preflight.
func checkJSON(x *exchange.Exchange) error {
	if encoding := x.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return mediaType("the body is encoded with %.40q: send it as it is", encoding)
	}
	given := x.Header.Get("Content-Type")
	switch {
	case given == "application/json":
		return nil
	case given == "" && len(x.Body) == 0 && !x.Header.Has("Content-Type"):
		return nil
	case given == "":
		return mediaType(`the body has no type: send "Content-Type: application/json"`)
	}
	kind, parameters, err := mime.ParseMediaType(given)
	if err != nil || kind != "application/json" {
		return mediaType(`the body is %.100q: send "Content-Type: application/json"`, given)
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return mediaType("the body is in %.40q: send UTF-8", charset)
	}
	return nil
}

// isForm reports whether the body is a form as it stands, and the route takes forms.
func (rc *requestContext) isForm() bool {
	return rc.to.binder != nil && rc.to.binder.TakesForm(rc.Exchange) && !rc.Header.Has("Content-Encoding")
}

func mediaType(format string, args ...any) *sabir.Error {
	return sabir.Errorf(sabir.CodeInvalidArgument, errname.UnsupportedMediaType, format, args...)
}

// seconds is a duration as a Retry-After header has it.
func seconds(d time.Duration) string { return strconv.Itoa(int(d / time.Second)) }
