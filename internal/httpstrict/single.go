package httpstrict

import (
	"fmt"
	"net/http"
	"strings"
)

// singles are the headers with one value by their definition that decide how a request is read, by their lengths. X-Request-Id and
// Traceparent are not among them: more than one of these are as none, for a wrong id is no reason to refuse a call.
var singles = func() (byLength [32][]single) {
	for i, name := range []string{
		"Authorization", "Content-Type", "Content-Encoding", "Content-Range", "Content-Disposition", // RFC 9110, RFC 6266
		"If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
		"Origin", "Sec-Fetch-Site", "Access-Control-Request-Method", "Last-Event-Id", "Sec-Websocket-Key", // Fetch, HTML, RFC 6455
		"X-Request-Timeout",
		"Grpc-Timeout", "Grpc-Encoding", "Connect-Timeout-Ms", "Connect-Protocol-Version", "Connect-Content-Encoding",
		"Mcp-Session-Id", "Mcp-Protocol-Version", "Webhook-Request-Origin",
	} {
		byLength[len(name)] = append(byLength[len(name)], single{name, 1 << i})
	}
	return byLength
}()

type single struct {
	name string
	bit  uint32
}

// Repeats finds a header with one value that comes twice in a request: two readers of it, such as a proxy and this node, might each take another
// (RFC 9110, section 5.3; RFC 6750, section 3.1 for Authorization). Its zero value has seen no header.
type Repeats uint32

// Add notes a header of the request. It returns the header's name where that has one value and was there before, and "" otherwise.
func (r *Repeats) Add(name string) string {
	if len(name) >= len(singles) {
		return ""
	}
	for _, s := range singles[len(name)] {
		if strings.EqualFold(name, s.name) {
			if uint32(*r)&s.bit != 0 {
				return s.name
			}
			*r |= Repeats(s.bit)
		}
	}
	return ""
}

// RepeatedText says why a request with two of a header with one value is refused.
func RepeatedText(name string) string {
	return "the header " + name + " comes more than once: want one"
}

// withoutRepeats refuses requests in which a header with one value comes twice.
type withoutRepeats struct{ next http.Handler }

func (h withoutRepeats) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	for name, values := range r.Header {
		if len(values) < 2 {
			continue
		}
		var seen Repeats
		seen.Add(name)
		if found := seen.Add(name); found != "" {
			w.Header().Set("Content-Type", "text/plain; charset=utf-8")
			w.WriteHeader(http.StatusBadRequest)
			fmt.Fprintln(w, RepeatedText(found))
			return
		}
	}
	h.next.ServeHTTP(w, r)
}
