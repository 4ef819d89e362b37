package http1

import (
	"net/http"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/web/exchange"
)

// The statuses that an answer can have. The others are for protocols that are not spoken here.
const (
	lowestStatus  = 200
	highestStatus = 599
)

var statusLines = func() (lines [highestStatus + 1]string) {
	for status := lowestStatus; status <= highestStatus; status++ {
		lines[status] = "HTTP/1.1 " + strconv.Itoa(status) + " " + http.StatusText(status) + "\r\n"
	}
	return lines
}()

// fixedLines are the header lines that never change, or once a second.
func fixedLines(now time.Time) string {
	return "X-Content-Type-Options: nosniff\r\nDate: " + now.UTC().Format(http.TimeFormat) + "\r\n"
}

// appendResponse appends the head of x's response, and its body if that is small; a large one is returned in rest for the
// caller to write. last announces that the connection ends after it.
func (s *Server) appendResponse(out []byte, x *exchange.Exchange, last bool) (_ []byte, rest []byte) {
	status := x.Status
	if status == 0 {
		status = http.StatusOK
	}
	if status < lowestStatus || status > highestStatus {
		x.Keep()
		s.log.Error("http handler gave an answer with a status that cannot be", "status", status, "path", x.Path, "request_id", x.ID)
		status, x.Out = http.StatusInternalServerError, x.Out[:0]
	}
	bodied := status != http.StatusNoContent && status != http.StatusNotModified // RFC 9110, sections 15.3.5 and 15.4.5
	out = append(out, statusLines[status]...)
	if x.Type != "" && bodied {
		out = s.appendValue(out, "Content-Type", x.Type, x)
	}
	if bodied {
		out = append(out, "Content-Length: "...)
		out = strconv.AppendInt(out, int64(len(x.Out)), 10)
		out = append(out, '\r', '\n')
	}
	out = append(out, *s.fixed.Load()...)
	if x.ID != "" {
		out = s.appendValue(out, "X-Request-Id", x.ID, x)
	}
	for _, f := range x.Answer.Fields() {
		if owned(f.Name) {
			x.Keep()
			s.log.Warn("http handler set a header that is the server's: it was left out", "header", strings.Clone(f.Name), "path", x.Path, "request_id", x.ID)
			continue
		}
		out = s.appendLine(out, f.Name, f.Value, x)
	}
	if last {
		out = append(out, "Connection: close\r\n"...)
	}
	out = append(out, '\r', '\n')
	if !bodied {
		return out, nil
	}
	if len(x.Out) >= largeOut {
		return out, x.Out
	}
	return append(out, x.Out...), nil
}

// appendLine appends a header line, but not one that would be two, or none.
func (s *Server) appendLine(out []byte, name, value string, x *exchange.Exchange) []byte {
	if !token(name) {
		s.leftOut(name, x)
		return out
	}
	return s.appendValue(out, name, value, x)
}

// appendValue is appendLine for a name that is one.
func (s *Server) appendValue(out []byte, name, value string, x *exchange.Exchange) []byte {
	if httpstrict.Plain(bytesOf(value)) != len(value) {
		s.leftOut(name, x)
		return out
	}
	out = append(out, name...)
	out = append(out, ':', ' ')
	out = append(out, value...)
	return append(out, '\r', '\n')
}

func (s *Server) leftOut(name string, x *exchange.Exchange) {
	x.Keep()
	s.log.Warn("http handler set a header that cannot be written: it was left out", "header", strings.Clone(name), "path", x.Path, "request_id", x.ID)
}

// owned reports whether only the server may set the header: it frames the response, or is set already.
func owned(name string) bool {
	switch len(name) {
	case len("Date"):
		return equalLower(name, "date")
	case len("Trailer"):
		return equalLower(name, "trailer") || equalLower(name, "upgrade")
	case len("Connection"):
		return equalLower(name, "connection")
	case len("Content-Type"):
		return equalLower(name, "content-type") || equalLower(name, "x-request-id")
	case len("Content-Length"):
		return equalLower(name, "content-length")
	case len("Transfer-Encoding"):
		return equalLower(name, "transfer-encoding")
	case len("X-Content-Type-Options"):
		return equalLower(name, "x-content-type-options")
	}
	return false
}

func token(s string) bool {
	for i := range len(s) {
		if httpstrict.Class[s[i]]&httpstrict.InToken == 0 {
			return false
		}
	}
	return s != ""
}
