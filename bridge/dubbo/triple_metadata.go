package dubbo

import (
	"context"
	stdjson "encoding/json"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/answer"
	"github.com/sabir-go/sabir/internal/inbound"
)

// Headers of Triple.
const (
	headerVersion   = "Tri-Service-Version"
	headerGroup     = "Tri-Service-Group"
	headerTimeout   = "Tri-Service-Timeout" // milliseconds
	headerConsumer  = "Tri-Consumer-Appname"
	headerException = "Tri-Exception-Code" // of an answer that is an exception
	headerNames     = "Tri-Header-Convert" // the names of attachments whose case HTTP/2 has lost
	headerStatus    = "Grpc-Status"
	headerMessage   = "Grpc-Message"
	headerEncoding  = "Grpc-Encoding"
	grpcTimeout     = "Grpc-Timeout"
	applicationKey  = "remote.application"
	// businessException is the code for exceptions of handlers.
	businessException = "3"
)

// ofHTTP are headers, in lower case, that are no attachments: of HTTP, of browsers and of gRPC-Web.
var ofHTTP = []string{"te", "content-type", "content-length", "user-agent", "host", "connection", "accept", "accept-encoding", "transfer-encoding", "expect", "upgrade", "http2-settings",
	"keep-alive", "authorization", "cookie", "set-cookie", "trailer", "date", "server", "origin", "referer", "application",
	"accept-language", "cache-control", "pragma", "priority", "dnt", "range", "x-grpc-web", "x-user-agent"}

// ofProtocols begin the names of headers, in lower case, that are no attachments.
var ofProtocols = []string{":", "grpc-", "tri-", "rest-service-", "connect-", "sec-", "access-control-", "if-"}

// isAttachment reports whether a header, in lower case, is an attachment of the caller.
func isAttachment(name string) bool {
	return !slices.Contains(ofHTTP, name) && !slices.ContainsFunc(ofProtocols, func(begin string) bool { return strings.HasPrefix(name, begin) })
}

// attachmentsOf are those in the headers of a call or an answer. Those whose names end with -bin are bytes, in base64.
func attachmentsOf(h http.Header) map[string]any {
	pairs := make(map[string]any, len(h))
	for name, values := range h {
		key, value := strings.ToLower(name), strings.Join(values, ",")
		if isAttachment(key) && utf8.ValidString(value) {
			pairs[key] = value
		}
	}
	var names map[string]string
	if text, err := url.PathUnescape(h.Get(headerNames)); err != nil || text == "" || stdjson.Unmarshal([]byte(text), &names) != nil {
		return pairs
	}
	for lower, name := range names {
		if value, has := pairs[lower]; has && strings.EqualFold(lower, name) {
			delete(pairs, lower)
			pairs[name] = value
		}
	}
	return pairs
}

// setAttachments writes attachments into headers. What HTTP cannot carry is left out, as Java does it.
func setAttachments(h http.Header, prefix string, pairs map[string]string) {
	names := make(map[string]string)
	for _, name := range slices.Sorted(maps.Keys(pairs)) {
		lower := strings.ToLower(name)
		if !isAttachment(lower) || answer.CheckHeader(name, pairs[name]) != nil {
			continue
		}
		h.Set(prefix+lower, pairs[name])
		if lower != name {
			names[lower] = name
		}
	}
	if len(names) > 0 {
		if text, err := stdjson.Marshal(names); err == nil {
			h.Set(prefix+headerNames, percentEncode(string(text)))
		}
	}
}

// setCallHeaders writes into the headers of a call what goes with it beside its arguments.
func setCallHeaders(ctx context.Context, h http.Header, to calledMethod, application, tag string) {
	m := to.of
	pairs := make(map[string]string)
	for name, value := range sabir.InfoFromContext(ctx).Metadata {
		if !inbound.Reserved(name) && !slices.Contains(ofProtocol, name) && name != applicationKey {
			pairs[name] = value
		}
	}
	if to.token != "" {
		pairs[paramToken] = to.token
	}
	if tag != "" {
		pairs[paramTag] = tag
	}
	setAttachments(h, "", pairs)
	if answer.CheckHeader(headerConsumer, application) == nil {
		h.Set(headerConsumer, application)
	}
	if m.version != "" {
		h.Set(headerVersion, m.version)
	}
	if m.group != "" {
		h.Set(headerGroup, m.group)
	}
	if deadline, ok := ctx.Deadline(); ok {
		h.Set(grpcTimeout, formatTimeout(max(time.Until(deadline), time.Millisecond)))
	}
}

// formatTimeout is a time as gRPC has it: at most eight digits, and a unit.
func formatTimeout(d time.Duration) string {
	if ms := d.Milliseconds(); ms < 1e8 {
		return strconv.FormatInt(ms, 10) + "m"
	}
	return strconv.FormatInt(min(int64(d/time.Second), 1e8-1), 10) + "S"
}

var timeUnits = map[byte]time.Duration{'H': time.Hour, 'M': time.Minute, 'S': time.Second, 'm': time.Millisecond, 'u': time.Microsecond, 'n': time.Nanosecond}

// timeoutOf is the time that a caller waits, the shortest of those that it said; 0 for one that did not say it.
func timeoutOf(h http.Header) (least time.Duration) {
	take := func(text string, unit time.Duration) {
		n, err := strconv.ParseUint(text, 10, 32)
		if err != nil || unit == 0 || len(text) > 8 {
			return
		}
		given := maxTimeout * time.Millisecond
		if n < uint64(given/unit) {
			given = time.Duration(n) * unit
		}
		if given = max(given, 1); least == 0 || given < least {
			least = given
		}
	}
	if text := h.Get(grpcTimeout); text != "" {
		take(text[:len(text)-1], timeUnits[text[len(text)-1]])
	}
	take(h.Get(headerTimeout), time.Millisecond)
	take(h.Get("Tri-Timeout"), time.Millisecond)
	return least
}

// percentEncode encodes a text for a header, as gRPC does it.
func percentEncode(text string) string {
	const digits = "0123456789ABCDEF"
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; c < ' ' || c > '~' || c == '%' {
			b.Write([]byte{'%', digits[c>>4], digits[c&15]})
		} else {
			b.WriteByte(c)
		}
	}
	return b.String()
}

// percentDecode is the reverse. What is not encoded is left as it is.
func percentDecode(text string) string {
	decoded, err := url.PathUnescape(text)
	if err != nil {
		decoded = text
	}
	return strings.ToValidUTF8(decoded, "")
}
