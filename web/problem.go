package web

import (
	"bytes"
	"context"
	stdjson "encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/internal/subrequest"
	"github.com/sabir-go/sabir/web/auth"
)

// problem is an error as an RFC 9457 document. The members after Detail are extensions from which Client rebuilds the error.
type problem struct {
	Type   string `json:"type"`
	Title  string `json:"title"`
	Status int    `json:"status"`
	Detail string `json:"detail"`

	Code      string `json:"code"`
	Name      string `json:"name"`
	Message   string `json:"message"`
	Data      any    `json:"data,omitempty"`
	Retryable bool   `json:"retryable"`
	Node      string `json:"node,omitempty"`
	RequestID string `json:"requestId,omitempty"`
}

// typePrefix and an error's name are the type of its problem: an identifier, not an address to open.
const typePrefix = "urn:sabir:error:"

func newProblem(e *sabir.Error, id string) problem {
	p := problem{Type: "about:blank", Status: e.HTTPStatus(), Detail: e.Message,
		Code: e.Code.String(), Name: e.Name, Message: e.Message, Data: e.Data, Retryable: e.Retryable, Node: e.Node, RequestID: id}
	if e.Name != "" {
		p.Type = typePrefix + url.PathEscape(e.Name)
	}
	if p.Title = http.StatusText(p.Status); p.Status == 499 {
		p.Title = "Client Closed Request"
	}
	return p
}

// retryAfter is the time that clients are asked to wait before they try again.
const retryAfter = time.Second

// fail makes the response a problem document.
func (rc *requestContext) fail(err error) {
	rc.Keep()
	if failed := rc.panicError(err, rc.logged()); failed != nil {
		err = failed
	}
	p := newProblem(rc.located(err), rc.ID)
	rc.Out = rc.appendProblem(rc.Out[:0], p, rc.logged())
	rc.Status, rc.Type = p.Status, problemType
	if p.Retryable && (p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests) && !rc.Answer.Has("Retry-After") {
		rc.Answer.Set("Retry-After", seconds(retryAfter))
	}
}

// panicError returns the public form of a panic, or of an ended goroutine, in code other than the server's: a filter, an
// authenticator, a mounted handler, a method of a value. The details go to the log. It is nil for other errors, and for a panic
// that package sabir has logged.
func (s *server) panicError(err error, of logged) *sabir.Error {
	if e, ok := err.(*sabir.Error); ok && e.Name == sabir.ErrPanic.Name {
		return nil
	}
	detail, stack, ok := isolate.Panicked(err)
	if !ok {
		return nil
	}
	s.node.Log().Error("http panicked", of.attrs("error", err.Error(), "panic", detail, "stack", string(bytes.TrimSpace(stack)))...)
	return &sabir.Error{Code: sabir.CodeInternal, Name: sabir.ErrPanic.Name, Message: internalMessage(of.id)}
}

// located returns an error of a call or a filter as callers may see it, with the node that they asked. Which other node it came from
// is not for them.
func (s *server) located(err error) *sabir.Error {
	if faults, ok := err.(bind.Errors); ok {
		err = badParameters(faults)
	}
	e := sabir.AsError(err)
	if e.Node != s.node.ID() {
		c := *e
		c.Node, e = s.node.ID(), &c
	}
	return e
}

// located is [server.located] for a caller who may be signed in here. The action that asks for a caller knows no ways to sign in, as it may be on another
// node, and so says only that one is needed.
func (rc *requestContext) located(err error) *sabir.Error {
	e := rc.server.located(err)
	if e.Name != auth.ErrNotSignedIn.Name || e.Message != auth.ErrNotSignedIn.Message || rc.to == nil || rc.to.routeGroup == nil || len(rc.to.routeGroup.authenticators) == 0 {
		return e
	}
	c := *e
	c.Message += ": send " + principal.Wanted(rc.to.routeGroup.authenticators, rc.Exchange)
	return &c
}

// badParameters is the error for what does not fit the path, the query, headers or cookies.
func badParameters(faults bind.Errors) *sabir.Error {
	e := sabir.NewError(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, faults.Error())
	return e.WithData(faults)
}

func (s *server) appendProblem(dst []byte, p problem, of logged) []byte {
	data := p.Data
	p.Data = nil
	if data != nil {
		// Methods of the data, which its author made, run here. What one of them does must not keep the error from the caller.
		err := isolate.Do(func() (err error) {
			p.Data, err = writeData(data)
			return err
		})
		if err != nil {
			detail, stack, _ := isolate.Panicked(err)
			s.node.Log().Error("the data of an error cannot be written as JSON", of.attrs("error", p.Name, "reason", err, "panic", detail, "stack", string(stack))...)
		}
	}
	out, err := json.Codec.Append(dst, p)
	if err != nil {
		panic(err) // it has nothing that could fail
	}
	return append(out, '\n')
}

// writeData encodes the data of an error as JSON.
func writeData(data any) (any, error) {
	text, err := json.Codec.Append(nil, data)
	if err != nil {
		return nil, err
	}
	return stdjson.RawMessage(text), nil
}

// publicError returns a call's error as outsiders may see it. The author of an *Error meant it for callers. The texts of plain
// Go errors and panics, other nodes and hidden actions were not meant for them: they go to the log.
func (s *server) publicError(a *sabir.Action, of logged, err error) *sabir.Error {
	if failed := s.panicError(err, of); failed != nil {
		return failed
	}
	e := sabir.AsError(err)
	message, data := e.Message, e.Data
	switch e.Name {
	case sabir.ErrHandlerFailed.Name, errname.BadOutput, errname.TooManyLevels, sabir.ErrPanic.Name, sabir.ErrActionNotFound.Name: // the last is of a nested call
		message, data = internalMessage(of.id), nil
	case sabir.ErrDeadlineExceeded.Name:
		message = "the deadline passed before " + a.Name + " answered"
	case sabir.ErrCanceled.Name:
		message = "the caller gave up on " + a.Name
	case sabir.ErrServiceUnavailable.Name, errname.NotANode:
		message, data = a.Name+" is not available now", nil
	case sabir.ErrLinkLost.Name:
		// The call's own node was lost, or one that its handler called or sent an event to: what was begun there may have been done.
		message = "the connection to another node was lost while " + a.Name + " ran"
		if !e.Retryable {
			message += ", which may have done its work"
		}
	case sabir.ErrTooManyCalls.Name, errname.NoCommonCodec, sabir.ErrNoQuorum.Name: // whose texts name the node
		if e.Node != s.node.ID() {
			message = a.Name + " cannot be answered now"
		}
	default:
		if inner := authored(e); inner != nil {
			message = inner.Message
		}
	}
	if message != e.Message {
		s.logHidden(a, of, e)
	}
	return &sabir.Error{Code: e.Code, Name: e.Name, Message: message, Data: data, Retryable: e.Retryable}
}

// authored finds the *Error inside e if e only repeats the text of a plain Go error around it, as sabir.AsError does with
// fmt.Errorf("…%w", err). It is nil if e is the author's own.
func authored(e *sabir.Error) *sabir.Error {
	cause := e.Unwrap()
	if cause == nil || cause.Error() != e.Message {
		return nil
	}
	if _, own := cause.(*sabir.Error); own {
		return nil
	}
	inner, ok := errors.AsType[*sabir.Error](cause)
	if !ok || inner.Code != e.Code || inner.Name != e.Name {
		return nil
	}
	if deeper := authored(inner); deeper != nil {
		return deeper
	}
	return inner
}

func internalMessage(id string) string {
	return "internal error; the node's log tells more under request " + id
}

// logged is a request as lines of the log name it, and its context, which ends when the caller has gone.
type logged struct {
	id, traceparent string
	caller          context.Context
}

func (rc *requestContext) logged() logged {
	return logged{rc.ID, rc.Header.Get("Traceparent"), rc.Context}
}

func (of logged) attrs(more ...any) []any {
	return append(subrequest.Named(of.id, of.traceparent), more...)
}

// logHidden logs what callers do not see. A panic of this node has been logged with its stack, and that a caller has gone is no failure.
func (s *server) logHidden(a *sabir.Action, of logged, e *sabir.Error) {
	if e.Stack() != nil || e.Name == sabir.ErrCanceled.Name && of.caller.Err() != nil {
		return
	}
	attrs := of.attrs("action", a.Name, slog.Group("error", "code", e.Code.String(), "name", e.Name, "message", e.Message, "node", e.Node))
	if cause := e.Unwrap(); cause != nil && cause.Error() != e.Message {
		attrs = append(attrs, "cause", cause.Error())
	}
	s.node.Log().Error("call over http failed", attrs...)
}
