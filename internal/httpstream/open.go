package httpstream

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"

	"github.com/sabir-go/sabir"
	codecjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
)

// values is the caller's end of a stream whose values are JSON or bytes.
type values struct {
	recv      func() ([]byte, error)
	send      func([]byte) error
	closeSend func()
	close     func()
}

// openStream opens the stream of the call.
func (x *session) openStream() (*values, error) {
	// Bytes are bytes on the stream whatever form the request and the answer have: package sabir takes a []byte for the
	// same as a json.RawMessage, so base64 is put on and taken off here.
	open := openAs[json.RawMessage, json.RawMessage]
	switch {
	case x.bytesIn && x.bytesOut:
		open = openAs[[]byte, []byte]
	case x.bytesIn:
		open = openAs[[]byte, json.RawMessage]
	case x.bytesOut:
		open = openAs[json.RawMessage, []byte]
	}
	s, err := open(x.ctx, x.call.Action)
	if err != nil {
		return nil, err
	}
	send := s.send
	s.send = func(value []byte) error {
		x.sends.Add(1)
		defer x.sends.Add(1)
		return send(value)
	}
	return s, nil
}

func openAs[In, Out ~[]byte](ctx context.Context, a *sabir.Action) (*values, error) {
	s, err := sabir.OpenAction[In, Out](ctx, a)
	if err != nil {
		return nil, err
	}
	return &values{
		recv:      func() ([]byte, error) { v, err := s.Recv(); return v, err },
		send:      func(v []byte) error { return s.Send(v) },
		closeSend: s.CloseSend,
		close:     s.Close,
	}, nil
}

// sendJSON sends one value that came as JSON. checked means that it is a whole document for certain, which is tested here where
// nothing else would: a typed handler's input is read into its type before Send returns.
func (x *session) sendJSON(s *values, text []byte, what string, number int, checked bool) error {
	name := func() string {
		if number > 0 {
			return what + strconv.Itoa(number)
		}
		return what
	}
	in := x.call.Action.In
	untyped := in == nil || documentType.AssignableTo(in)
	if (untyped || x.bytesIn) && !checked && !jsontext.Value(text).IsValid() {
		return badInput("%s is not JSON, or not in UTF-8, or has a name twice", name())
	}
	switch {
	case x.bytesIn:
		var value []byte
		if err := codecjson.Codec.Decode(text, &value); err != nil {
			return badInput("%s is not bytes, which are a string in base64", name())
		}
		return s.send(value)
	case untyped:
		return s.send(append([]byte(nil), text...)) // a handler of documents keeps what it gets
	}
	err := s.send(text)
	if e, ok := err.(*sabir.Error); ok && e.Name == sabir.ErrBadInput.Name {
		return badInput("%s: %s", name(), e.Message).WithData(e.Data)
	}
	return err
}

// receiveJSON waits for the next value and gives it as JSON in one line. It is io.EOF after the last.
func (x *session) receiveJSON(s *values) ([]byte, error) {
	value, err := s.recv()
	switch {
	case err != nil:
		return nil, err
	case x.bytesOut:
		text := append(make([]byte, 0, base64.StdEncoding.EncodedLen(len(value))+2), '"')
		value = append(base64.StdEncoding.AppendEncode(text, value), '"')
	default:
		if value, err = x.oneLine(value); err != nil {
			return nil, err
		}
	}
	if len(value) > x.limits.Value {
		return nil, x.tooLargeOut(len(value))
	}
	return value, nil
}

var documentType = reflect.TypeFor[json.RawMessage]()

// oneLine checks documents that the handler made itself or that another node sent. What package sabir has encoded is JSON
// without white space already.
func (x *session) oneLine(text []byte) ([]byte, error) {
	if out := x.call.Action.Out; out != nil && out != documentType {
		return text, nil
	}
	compact := jsontext.Value(text)
	if err := compact.Compact(); err != nil {
		return nil, &sabir.Error{Code: sabir.CodeInternal, Name: errname.BadOutput, Node: x.streams.node.ID(),
			Message: x.call.Action.Name + " sent a document that is not JSON: " + err.Error()}
	}
	return compact, nil
}

func (x *session) tooLargeOut(size int) error {
	return &sabir.Error{Code: sabir.CodeResourceExhausted, Name: sabir.ErrMessageTooLarge.Name, Node: x.streams.node.ID(),
		Message: fmt.Sprintf("%s sent a value of %d bytes of JSON; over HTTP one has at most %d", x.call.Action.Name, size, x.limits.Value)}
}

func badInput(format string, args ...any) *sabir.Error {
	return sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, format, args...)
}

func tooLargeIn(what string, limit int) *sabir.Error {
	return sabir.Errorf(sabir.CodeInvalidArgument, errname.InputTooLarge, "%s is larger than the limit of %d bytes", what, limit)
}

// ended reports whether Send failed because the stream has ended; Recv then returns why.
func ended(err error) bool { return err == io.EOF }
