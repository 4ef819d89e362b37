// Package bare answers the two requests of the HTTP comparison with the least that is possible: a parser that knows these
// two addresses, a codec for one type, no router, no limits and no headers but those that an answer must have. All rows of the
// limit use it.
package bare

import (
	"bytes"
	"errors"
	"strconv"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/lab/http/user"
)

// MaxRequest is the greatest request in bytes.
const MaxRequest = 16 << 10

var (
	errTooLarge = errors.New("the request is too large")
	errHead     = errors.New("the head of the request cannot be read")
)

const (
	helloLine  = "GET /hello HTTP/1.1\r\n"
	updateLine = "POST /updateUser HTTP/1.1\r\n"
	jsonHead   = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n"
	hello      = `{"hello":"world"}`
)

// Answer appends the answers to all whole requests in text to dst, and says how much of text they were. An error means that
// the connection is to be closed.
func Answer(dst, text []byte) (answers []byte, used int, err error) {
	date := now()
	for used < len(text) {
		rest := text[used:]
		end := bytes.Index(rest, []byte("\r\n\r\n"))
		if end < 0 {
			return dst, used, tooLarge(rest)
		}
		head, size := rest[:end+2], end+4
		length, ok := contentLength(head)
		if !ok {
			return dst, used, errHead
		}
		if size+length > MaxRequest {
			return dst, used, errTooLarge
		}
		if len(rest) < size+length {
			return dst, used, nil
		}
		dst = one(dst, head, rest[size:size+length], date)
		used += size + length
	}
	return dst, used, nil
}

func tooLarge(text []byte) error {
	if len(text) > MaxRequest {
		return errTooLarge
	}
	return nil
}

func one(dst, head, body []byte, date string) []byte {
	switch {
	case bytes.HasPrefix(head, []byte(updateLine)):
		var u user.Fields
		if u.Read(body) != nil {
			return append(dst, "HTTP/1.1 422 Unprocessable Entity\r\nContent-Length: 0\r\n\r\n"...)
		}
		dst = append(append(append(dst, jsonHead...), date...), "Content-Length: 000\r\n\r\n"...)
		at := len(dst)
		dst = u.AppendUpdated(dst)
		length := strconv.AppendInt(make([]byte, 0, 20), int64(len(dst)-at), 10)
		copy(dst[at-len("000\r\n\r\n"):], "     ")
		if len(length) > len("000") { // names full of escapes
			body := bytes.Clone(dst[at:])
			dst = append(append(dst[:at-len("000\r\n\r\n")], length...), "\r\n\r\n"...)
			return append(dst, body...)
		}
		copy(dst[at-len("\r\n\r\n")-len(length):], length)
		copy(dst[at-len("\r\n\r\n"):], "\r\n\r\n")
		return dst
	case bytes.HasPrefix(head, []byte(helloLine)):
		dst = append(append(append(dst, jsonHead...), date...), "Content-Length: 17\r\n\r\n"...)
		return append(dst, hello...)
	}
	return append(dst, "HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"...)
}

// contentLength is the body's length: 0 where the head has none.
func contentLength(head []byte) (int, bool) {
	const name = "content-length:"
	for line := bytes.IndexByte(head, '\n') + 1; line < len(head); {
		end := line + bytes.IndexByte(head[line:], '\n') + 1
		if c := head[line] | 0x20; c == 'c' && end-line > len(name) && bytes.EqualFold(head[line:line+len(name)], []byte(name)) {
			n, err := strconv.Atoi(string(bytes.TrimSpace(head[line+len(name) : end])))
			return n, err == nil && n >= 0
		}
		line = end
	}
	return 0, true
}

// dated is the Date line of a second.
type dated struct {
	second int64
	line   string
}

var current atomic.Pointer[dated]

func now() string {
	t := time.Now()
	d := current.Load()
	if d == nil || d.second != t.Unix() {
		d = &dated{t.Unix(), "Date: " + t.UTC().Format("Mon, 02 Jan 2006 15:04:05 GMT") + "\r\n"}
		current.Store(d)
	}
	return d.line
}
