package web

import (
	"errors"
	"log/slog"
	"net/http"
	"net/url"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/web/bind"
)

// problem is an error as an RFC 9457 document. The members after Detail are extensions that let Client rebuild the error.
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

// retryAfter is what callers are asked to wait where trying again may help.
const retryAfter = time.Second

// fail makes the answer an error that callers may see.
func (v *visit) fail(err error) {
	v.Keep()
	p := newProblem(v.located(err), v.ID)
	v.Out = v.appendProblem(v.Out[:0], p)
	v.Status, v.Type = p.Status, problemType
	if p.Retryable && (p.Status == http.StatusServiceUnavailable || p.Status == http.StatusTooManyRequests) && !v.Answer.Has("Retry-After") {
		v.Answer.Set("Retry-After", seconds(retryAfter))
	}
}

// located is the error of a call or a filter as callers may see it, with the node where it happened.
func (f *face) located(err error) *sabir.Error {
	if faults, ok := err.(bind.Errors); ok {
		err = badParameters(faults)
	}
	e := sabir.AsError(err)
	if e.Node == "" {
		c := *e
		c.Node, e = f.node.ID(), &c
	}
	return e
}

// badParameters is the error for what does not fit the path, the query, headers or cookies.
func badParameters(faults bind.Errors) *sabir.Error {
	e := sabir.NewError(sabir.InvalidArgument, sabir.ErrBadInput.Name, faults.Error())
	return e.WithData(faults)
}

func (f *face) appendProblem(dst []byte, p problem) []byte {
	out, err := json.Append(dst, p)
	if err != nil { // only data that its author made can do that
		f.node.Log().Error("the data of an error cannot be written as JSON", "request", p.RequestID, "error", p.Name, "reason", err)
		p.Data = nil
		if out, err = json.Append(dst, p); err != nil {
			panic(err)
		}
	}
	return append(out, '\n')
}

// public is what a call's error looks like from outside. What an author wrote into an *Error is meant for callers. What a
// plain Go error or a panic said is not, nor which nodes and hidden actions the call needed: that goes to the log instead.
func (f *face) public(a *sabir.Action, id string, err error) *sabir.Error {
	e := sabir.AsError(err)
	message, data := e.Message, e.Data
	switch e.Name {
	case sabir.ErrHandler.Name, sabir.ErrBadOutput.Name, sabir.ErrTooManyLevels.Name, sabir.ErrPanic.Name, sabir.ErrActionNotFound.Name: // the last is of a nested call
		message, data = internalMessage(id), nil
	case sabir.ErrDeadline.Name:
		message = "the deadline passed before " + a.Name + " answered"
	case sabir.ErrCanceled.Name:
		message = "the caller gave up on " + a.Name
	case sabir.ErrUnavailable.Name, sabir.ErrNotANode.Name:
		message, data = a.Name+" is not available now", nil
	default:
		if inner := authored(e); inner != nil {
			message = inner.Message
		}
	}
	if message != e.Message {
		f.logHidden(a, id, e)
	}
	return &sabir.Error{Code: e.Code, Name: e.Name, Message: message, Data: data, Retryable: e.Retryable, Node: e.Node}
}

// authored finds the *Error that its author made, when e only says in its place what a plain Go error around it says, as
// sabir.AsError makes it of fmt.Errorf("…%w", err). It is nil when e is the author's own.
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

// logHidden writes what callers are not told. A panic of this node is in its log already, with the stack and the request.
func (f *face) logHidden(a *sabir.Action, id string, e *sabir.Error) {
	if e.Stack() != nil {
		return
	}
	attrs := []any{"request", id, "action", a.Name, slog.Group("error", "code", e.Code.String(), "name", e.Name, "message", e.Message)}
	if cause := e.Unwrap(); cause != nil && cause.Error() != e.Message {
		attrs = append(attrs, "cause", cause.Error())
	}
	f.node.Log().Error("call over http failed", attrs...)
}
