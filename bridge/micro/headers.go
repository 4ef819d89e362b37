package micro

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/inbound"
)

// The headers of go-micro's messages.
const (
	headerService  = "Micro-Service"
	headerEndpoint = "Micro-Endpoint"
	headerMethod   = "Micro-Method" // the endpoint, as older versions have it
	headerID       = "Micro-Id"
	headerStream   = "Micro-Stream"
	headerTopic    = "Micro-Topic"
	headerError    = "Micro-Error"
	headerFrom     = "Micro-From-Service" // the service that calls
	headerTimeout  = "Timeout"            // ns
	// headerDepth is the bridge's own. go-micro passes it on with the rest of the metadata, so a circle of calls through both sides ends.
	headerDepth   = "Sabir-Depth"
	headerRequest = "X-Request-Id"
)

const maxTimeout = 24 * time.Hour

// header is the header of a message. go-micro's servers look under a second name too.
func header(h http.Header, name string) string {
	if v := h.Get(name); v != "" {
		return v
	}
	return h.Get("X-" + name)
}

// reserved reports whether a header, in lower case, is none of the metadata: those of HTTP and of go-micro itself, credentials, which stay
// on the node that reads them by [Headers], and what only nodes of the cluster may set.
func reserved(name string) bool {
	switch name {
	case "accept", "accept-encoding", "connection", "host", "keep-alive", "te", "trailer", "transfer-encoding", "upgrade", "user-agent", "date", "local", "remote",
		"timeout", "authorization", "cookie", "set-cookie", "x-request-id", "x-content-type":
		return true
	}
	for _, prefix := range []string{"micro-", "x-micro-", "content-", "proxy-", "grpc-", "sabir", ":"} {
		if strings.HasPrefix(name, prefix) {
			return true
		}
	}
	return inbound.Reserved(name)
}

// metadataOf is the metadata of a request. Its names are in lower case here, and go back as HTTP has them. The error is of more than there may be.
func metadataOf(h http.Header) (map[string]string, error) {
	var pairs map[string]string
	size := 0
	for name, values := range h {
		key := strings.ToLower(name)
		if reserved(key) || len(values) == 0 || !utf8.ValidString(values[0]) {
			continue
		}
		if pairs == nil {
			pairs = make(map[string]string)
		}
		size += len(key) + len(values[0])
		pairs[key] = values[0]
	}
	if err := inbound.CheckMetadata(len(pairs), size); err != nil {
		return nil, err
	}
	return pairs, nil
}

// setMetadata adds metadata to the headers of a message, but for what no header can hold.
func setMetadata(h http.Header, pairs map[string]string) {
	for key, value := range pairs {
		if !reserved(strings.ToLower(key)) && validName(key) && validValue(value) {
			h.Set(key, value)
		}
	}
}

func validName(name string) bool {
	for i := range len(name) {
		switch c := name[i]; {
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', strings.IndexByte("!#$%&'*+-.^_`|~", c) >= 0:
		default:
			return false
		}
	}
	return name != ""
}

func validValue(value string) bool {
	for i := range len(value) {
		if c := value[i]; c < ' ' && c != '\t' || c == 0x7f {
			return false
		}
	}
	return true
}

// timeoutOf is the time that the caller waits; 0 where it does not say, or in a form that go-micro would not read either.
func timeoutOf(h http.Header) time.Duration {
	n, err := strconv.ParseUint(h.Get(headerTimeout), 10, 64)
	if err != nil || n == 0 {
		return 0
	}
	return time.Duration(min(n, uint64(maxTimeout)))
}

// depthOf is the depth of the call that a request was made in.
func depthOf(h http.Header) int {
	depth, err := strconv.ParseUint(h.Get(headerDepth), 10, 16)
	if err != nil {
		return 0
	}
	return int(depth)
}

type headersKey struct{}

// Headers are the headers of the request from a client of go-micro that ctx belongs to, Authorization too. They go one hop: nested calls
// have the metadata only. nil for none.
func Headers(ctx context.Context) http.Header {
	h, _ := ctx.Value(headersKey{}).(http.Header)
	return h.Clone()
}
