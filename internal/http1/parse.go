package http1

import (
	"unsafe"

	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/web/exchange"
)

// verdict is the result of parsing the bytes so far.
type verdict int

const (
	partial verdict = iota // may become a request with more bytes
	whole                  // a complete head
	unusual                // left to net/http
)

// The bounds of heads and bodies of the requests that are answered here.
const (
	maxHead   = 16 << 10 // bytes
	maxFields = 64       // header lines
	maxBody   = 64 << 10 // bytes
)

var methods = [...]string{"GET", "POST", "PUT", "PATCH", "DELETE"}

// preface is the beginning of HTTP/2 (RFC 9113, section 3.4), as far as no method in use does.
const preface = "PRI"

const version = " HTTP/1.1\r\n"

// parse reads the head of the request that b begins with into x. The strings of x are parts of b. It returns the head's
// size in bytes; x.Length is the body's.
func parse(b []byte, x *exchange.Exchange) (size int, v verdict) {
	i, v := parseLine(b, x)
	if v != whole {
		return 0, v
	}
	hosts, lengths, connections := 0, 0, 0
	for fields := 0; ; fields++ {
		if i+1 >= len(b) {
			if i < len(b) && b[i] != '\r' && httpstrict.Class[b[i]]&httpstrict.InToken == 0 {
				return 0, unusual
			}
			return 0, partial
		}
		if b[i] == '\r' {
			if b[i+1] != '\n' || hosts != 1 {
				return 0, unusual
			}
			return i + 2, whole
		}
		if fields == maxFields {
			return 0, unusual
		}
		start := i
		for i < len(b) && httpstrict.Class[b[i]]&httpstrict.InToken != 0 {
			i++
		}
		if i == len(b) {
			return 0, partial
		}
		if i == start || b[i] != ':' { // also a folded line, which begins with a space
			return 0, unusual
		}
		name := text(b[start:i])
		i++
		for i < len(b) && (b[i] == ' ' || b[i] == '\t') {
			i++
		}
		start = i
		i += httpstrict.Plain(b[i:])
		if i == len(b) {
			return 0, partial
		}
		if b[i] != '\r' {
			return 0, unusual
		}
		if i+1 == len(b) {
			return 0, partial
		}
		if b[i+1] != '\n' {
			return 0, unusual
		}
		end := i
		for end > start && (b[end-1] == ' ' || b[end-1] == '\t') {
			end--
		}
		value := text(b[start:end])
		i += 2
		switch len(name) {
		case len("Host"):
			if equalLower(name, "host") {
				if hosts++; !httpstrict.ValidHost(value) {
					return 0, unusual
				}
				x.Host = value
				continue // as in net/http, it is no header any more
			}
		case len("Expect"):
			if equalLower(name, "expect") {
				return 0, unusual
			}
		case len("Upgrade"):
			if equalLower(name, "upgrade") || equalLower(name, "trailer") {
				return 0, unusual
			}
		case len("Connection"):
			if equalLower(name, "connection") {
				if connections++; connections > 1 || !equalLower(value, "keep-alive") {
					return 0, unusual
				}
			}
		case len("Content-Length"):
			if equalLower(name, "content-length") {
				n, ok := digits(value)
				if lengths++; lengths > 1 || !ok || n > maxBody {
					return 0, unusual
				}
				x.Length = int64(n)
			} else if name[len("Content")] == '_' {
				return 0, unusual // perhaps Content_Length: see package httpstrict
			}
		case len("Transfer-Encoding"):
			if equalLower(name, "transfer-encoding") || name[len("Transfer")] == '_' {
				return 0, unusual
			}
		}
		x.Header.Add(name, value)
	}
}

// parseLine reads the request line: the method, a target in origin-form (RFC 9112, section 3.2.1) and the version.
func parseLine(b []byte, x *exchange.Exchange) (size int, v verdict) {
	i := 0
	for _, m := range methods {
		n := min(len(b), len(m))
		if string(b[:n]) != m[:n] {
			continue
		}
		if len(b) < len(m)+2 {
			if len(b) > len(m) && b[len(m)] != ' ' {
				return 0, unusual
			}
			return 0, partial
		}
		if b[len(m)] != ' ' || b[len(m)+1] != '/' {
			return 0, unusual
		}
		x.Method, i = m, len(m)+1
		break
	}
	if i == 0 {
		if len(b) == 0 || string(b) == preface[:2] { // so that the code that hands it over sees what it is
			return 0, partial
		}
		return 0, unusual
	}
	start := i
	for {
		for i < len(b) && httpstrict.Class[b[i]]&httpstrict.InPath != 0 {
			i++
		}
		if i == len(b) {
			return 0, partial
		}
		if b[i] != '%' {
			break
		}
		if i+2 >= len(b) {
			return 0, partial
		}
		if httpstrict.Class[b[i+1]]&httpstrict.Class[b[i+2]]&httpstrict.InHex == 0 {
			return 0, unusual
		}
		i += 3
	}
	x.Path = text(b[start:i])
	if b[i] == '?' {
		i++
		start = i
		for i < len(b) && httpstrict.Class[b[i]]&httpstrict.InQuery != 0 {
			i++
		}
		if i == start && i < len(b) {
			return 0, unusual // "/?" is no more than "/", but net/http distinguishes them
		}
		x.Query = text(b[start:i])
	}
	n := min(len(b)-i, len(version))
	if string(b[i:i+n]) != version[:n] {
		return 0, unusual
	}
	if n < len(version) {
		return 0, partial
	}
	return i + n, whole
}

// text is b as a string without a copy. It is valid until the buffer is written again: see work.
func text(b []byte) string { return unsafe.String(unsafe.SliceData(b), len(b)) }

// equalLower reports whether s equals a lower-case word of letters and "-", ignoring case.
func equalLower(s, word string) bool {
	if len(s) != len(word) {
		return false
	}
	for i := range len(s) {
		if s[i]|0x20 != word[i] {
			return false
		}
	}
	return true
}

// digits is the number that one to seven digits make.
func digits(s string) (n int, ok bool) {
	if s == "" || len(s) > 7 {
		return 0, false
	}
	for i := range len(s) {
		if s[i] < '0' || s[i] > '9' {
			return 0, false
		}
		n = n*10 + int(s[i]-'0')
	}
	return n, true
}

// bytesOf is s as bytes, not to be written.
func bytesOf(s string) []byte { return unsafe.Slice(unsafe.StringData(s), len(s)) }
