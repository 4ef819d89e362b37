package httpstream

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/isolate"
)

// input sends a session's inputs. It returns nil when they have ended as they should.
type input func(s *values) error

// openInput finds out what the request brings, and reads what has to be known before the stream opens. A nil input means
// that there is none.
func (x *session) openInput() (input, error) {
	if x.r.Body == nil || x.r.Body == http.NoBody || x.r.ContentLength == 0 {
		x.control.SetReadDeadline(noDeadline) // one of the server's would look as if the caller had gone
		if x.call.Input != nil {
			return x.one(x.call.Input), nil
		}
		if x.call.Bind != nil && !x.bytesIn {
			text, err := x.call.Bind(nil)
			return x.one(text), err
		}
		return nil, nil
	}
	x.body.set = x.control.SetReadDeadline
	x.body.expired = func() { // not by a deadline: net/http would take the caller for gone
		x.fail(badInput("the body did not come in time: nothing for %s", x.limits.Read))
		x.body.interrupt()
	}
	if x.call.Input != nil { // which may have been made of the body, and then that was read
		_, err := x.document()
		return x.one(x.call.Input), err
	}
	if encoding := x.r.Header.Get("Content-Encoding"); encoding != "" && !strings.EqualFold(encoding, "identity") {
		return nil, wrongType("the body is encoded with %.40q: send it as it is", encoding)
	}
	kind, parameters, err := mime.ParseMediaType(x.r.Header.Get("Content-Type"))
	if err != nil {
		return nil, wrongType("the body's Content-Type is %.100q: send one of application/json, application/x-ndjson%s", x.r.Header.Get("Content-Type"), x.uploadTypes())
	}
	if charset, ok := parameters["charset"]; ok && !strings.EqualFold(charset, "utf-8") {
		return nil, wrongType("the body is in %.40q: send UTF-8", charset)
	}
	switch kind {
	case "application/json":
		return x.document()
	case "application/x-ndjson", "application/ndjson":
		x.body.renew(0)
		return x.lines, nil
	case "application/octet-stream", "multipart/form-data":
		if !x.bytesIn {
			return nil, wrongType("%s takes no files: its inputs are JSON, so send application/json or application/x-ndjson", x.call.Action.Name)
		}
		if kind == "multipart/form-data" {
			return x.uploadForm(parameters["boundary"])
		}
		return x.uploadBody()
	}
	return nil, wrongType("the body is %.100q: send one of application/json, application/x-ndjson%s", kind, x.uploadTypes())
}

func (x *session) uploadTypes() string {
	if x.bytesIn {
		return ", application/octet-stream, multipart/form-data"
	}
	return ""
}

func wrongType(format string, args ...any) *sabir.Error {
	return sabir.Errorf(sabir.CodeInvalidArgument, errname.UnsupportedMediaType, format, args...)
}

// feed runs the input. If it fails, the stream ends, so that a handler never takes a part for the whole.
func (x *session) feed(in input, s *values) {
	isolate.Run(func() error { return in(s) }, func(err error) {
		switch {
		case err == nil:
			x.body.finish()
			s.closeSend()
		case !ended(err):
			x.fail(err)
		}
	})
}

// one is an input of one value.
func (x *session) one(text []byte) input {
	return func(s *values) error { return x.sendJSON(s, text, "the input", 0, false) }
}

// document reads the one value that is the body.
func (x *session) document() (input, error) {
	limit := x.limits.Value
	if x.r.ContentLength > int64(limit) {
		return nil, tooLargeIn("the body", limit)
	}
	x.body.renew(x.limits.Read)
	text, err := x.readAll(io.LimitReader(x.r.Body, int64(limit)+1))
	switch {
	case err != nil:
		return nil, x.badBody(err)
	case len(text) > limit:
		return nil, tooLargeIn("the body", limit)
	}
	x.body.finish()
	all, err := x.bind(text)
	return func(s *values) error {
		defer x.in.Remove(cap(text))
		return x.one(all)(s)
	}, err
}

// bind is one input of the body with what the address and the headers have of it.
func (x *session) bind(text []byte) ([]byte, error) {
	if x.call.Bind == nil {
		return text, nil
	}
	return x.call.Bind(text)
}

// readAll reads all of r, and counts it as it comes.
func (x *session) readAll(r io.Reader) (text []byte, err error) {
	for {
		if len(text) == cap(text) {
			before := cap(text)
			text = append(text, 0)[:len(text)]
			x.in.Add(cap(text) - before)
		}
		n, err := r.Read(text[len(text):cap(text)])
		text = text[:len(text)+n]
		if err == io.EOF {
			return text, nil
		}
		if err != nil {
			return text, err
		}
	}
}

// lines sends each line of the body. There is no limit of the silence between them: a caller that waits for answers may have
// nothing to send.
func (x *session) lines(s *values) error {
	lines := newLineReader(x.r.Body, x.limits.Value, x.in)
	for {
		line, err := lines.next()
		switch {
		case err == io.EOF:
			return nil
		case err == errLineTooLong:
			return tooLargeIn(fmt.Sprintf("the body's line %d", lines.number), x.limits.Value)
		case err != nil:
			return x.badBody(err)
		}
		if line, err = x.bind(line); err != nil {
			return err
		}
		if err := x.sendJSON(s, line, "the body's line ", lines.number, false); err != nil {
			return err
		}
	}
}

// badBody is the error of a body that did not come as announced.
func (x *session) badBody(err error) error {
	if x.r.Context().Err() != nil {
		return errGone
	}
	if errors.Is(err, bufio.ErrTooLong) {
		return tooLargeIn("the head of a part of the form", partHead)
	}
	return badInput("the body ends before its announced length, or its chunks are malformed")
}
