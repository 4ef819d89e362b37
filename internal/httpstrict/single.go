package httpstrict

import (
	"fmt"
	"net/http"
	"strings"
)

// singles are the headers with one value by their definition that decide how a request is read, by their lengths. X-Request-Id and
// Traceparent are not among them: more than one of these are as none, for a wrong id is no reason to refuse a call. They are of RFC 9110 and
// RFC 6266, of Fetch, HTML and RFC 6455, and of gRPC, Connect, MCP and CloudEvents. Each has a bit of its own.
var singles = [32][]single{
	5:  {{"Range", 1 << 8}},
	6:  {{"Origin", 1 << 9}},
	8:  {{"If-Range", 1 << 7}},
	12: {{"Content-Type", 1 << 1}, {"Grpc-Timeout", 1 << 15}},
	13: {{"Authorization", 1 << 0}, {"Content-Range", 1 << 3}, {"Last-Event-Id", 1 << 12}, {"Grpc-Encoding", 1 << 16}},
	14: {{"Sec-Fetch-Site", 1 << 10}, {"Mcp-Session-Id", 1 << 20}},
	16: {{"Content-Encoding", 1 << 2}},
	17: {{"If-Modified-Since", 1 << 5}, {"Sec-Websocket-Key", 1 << 13}, {"X-Request-Timeout", 1 << 14}},
	18: {{"Connect-Timeout-Ms", 1 << 17}},
	19: {{"Content-Disposition", 1 << 4}, {"If-Unmodified-Since", 1 << 6}},
	20: {{"Mcp-Protocol-Version", 1 << 21}},
	22: {{"Webhook-Request-Origin", 1 << 22}},
	24: {{"Connect-Protocol-Version", 1 << 18}, {"Connect-Content-Encoding", 1 << 19}},
	29: {{"Access-Control-Request-Method", 1 << 11}},
}

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
