package web

import (
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// singleHeaders are the headers with one value by their definition that decide how a request is read, by their lengths. X-Request-Id and
// Traceparent are not among them: more than one of these are as none, for a wrong id is no reason to refuse a call.
var singleHeaders = func() (byLength [32][]singleHeader) {
	for i, name := range []string{
		"Authorization", "Content-Type", "Content-Encoding", "Content-Range", "Content-Disposition", // RFC 9110, RFC 6266
		"If-Modified-Since", "If-Unmodified-Since", "If-Range", "Range",
		"Origin", "Sec-Fetch-Site", "Access-Control-Request-Method", "Last-Event-Id", "Sec-Websocket-Key", // Fetch, HTML, RFC 6455
		timeoutHeader,
		"Grpc-Timeout", "Grpc-Encoding", "Connect-Timeout-Ms", "Connect-Protocol-Version", "Connect-Content-Encoding",
		"Mcp-Session-Id", "Mcp-Protocol-Version", "Webhook-Request-Origin",
	} {
		byLength[len(name)] = append(byLength[len(name)], singleHeader{name, 1 << i})
	}
	return byLength
}()

type singleHeader struct {
	name string
	bit  uint32
}

// checkSingle returns an error for a request in which a header with one value comes twice: two readers of it, such as a proxy and this node,
// might each take another (RFC 9110, section 5.3; RFC 6750, section 3.1 for Authorization).
func checkSingle(h *exchange.Header) error {
	seen := uint32(0)
	for _, field := range h.Fields() {
		if len(field.Name) >= len(singleHeaders) {
			continue
		}
		for _, single := range singleHeaders[len(field.Name)] {
			if !strings.EqualFold(field.Name, single.name) {
				continue
			}
			if seen&single.bit != 0 {
				return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the header %s comes more than once: want one", single.name)
			}
			seen |= single.bit
		}
	}
	return nil
}
