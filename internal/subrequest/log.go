package subrequest

import (
	"net/http"
	"strings"
)

// Named returns the names and values by which lines of the log say which request they are about: its id, and its trace, where the caller has sent one.
func Named(id, traceparent string) []any {
	named := []any{"request_id", id}
	if trace := Trace(traceparent); trace != "" {
		named = append(named, "trace_id", trace)
	}
	return named
}

// NamedBy is [Named] for the request of a mounted handler, which has its id as a header.
func NamedBy(r *http.Request) []any {
	return Named(r.Header.Get("X-Request-Id"), r.Header.Get("Traceparent"))
}

// Trace is the trace that a header names (W3C Trace Context); "" where it names none.
func Trace(traceparent string) string {
	parts := strings.SplitN(traceparent, "-", 5)
	if len(parts) < 4 || len(parts[0]) != 2 || len(parts[1]) != 32 || len(parts[2]) != 16 || parts[0] == "00" && len(parts) > 4 ||
		strings.Trim(parts[1], "0123456789abcdef") != "" || strings.Trim(parts[1], "0") == "" {
		return ""
	}
	return strings.Clone(parts[1]) // the log may keep it longer than the request its headers
}
