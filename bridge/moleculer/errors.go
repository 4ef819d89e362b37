package moleculer

import (
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/validate"
)

// Error is an error as a Moleculer node sent it: what errors.As finds in the error of a call. Where a handler returns the error of a
// nested call, Moleculer nodes get it with its class.
type Error struct {
	Class     string // "MoleculerClientError", "ValidationError", the name of an own class
	Message   string
	Code      int // 0 for none: a plain JavaScript Error has none
	Type      string
	Retryable bool
	Data      any
	Node      string

	text string // the code of an error of Node, such as "ECONNREFUSED"
}

func (e *Error) Error() string { return e.Message }

// wireError is the member error of a packet. Stacks stay on their node.
type wireError struct {
	Name      string `json:"name"`
	Message   string `json:"message"`
	NodeID    string `json:"nodeID,omitempty"`
	Code      any    `json:"code,omitempty"` // a number, but for errors of Node, whose code is a text
	Type      string `json:"type,omitempty"`
	Retryable bool   `json:"retryable"`
	Data      any    `json:"data,omitempty"`
}

// UnmarshalJSON takes what a program may throw, of any kind: without an answer its caller would wait for its time limit.
func (w *wireError) UnmarshalJSON(data []byte) error {
	var of struct {
		Name      loose `json:"name"`
		Message   loose `json:"message"`
		NodeID    loose `json:"nodeID"`
		Code      any   `json:"code"`
		Type      loose `json:"type"`
		Retryable truth `json:"retryable"`
		Data      any   `json:"data"`
	}
	if json.Codec.Decode(data, &of) != nil { // it is no object
		of.Name, of.Message = "Error", loose(data)
	}
	*w = wireError{Name: string(of.Name), Message: string(of.Message), NodeID: string(of.NodeID), Code: of.Code, Type: string(of.Type), Retryable: bool(of.Retryable), Data: of.Data}
	return nil
}

// known are the classes of Moleculer and the errors of the runtime that mean the same.
var known = []struct {
	class string
	code  int
	kind  string // Moleculer's type
	same  *sabir.Error
}{
	{"ServiceNotFoundError", 404, "SERVICE_NOT_FOUND", sabir.ErrActionNotFound},
	{"ServiceNotAvailableError", 404, "SERVICE_NOT_AVAILABLE", sabir.ErrServiceUnavailable},
	{"ValidationError", 422, "VALIDATION_ERROR", sabir.ErrValidationFailed},
	{"ValidationError", 422, "VALIDATION_ERROR", sabir.ErrBadInput},
	{"RequestTimeoutError", 504, "REQUEST_TIMEOUT", sabir.ErrDeadlineExceeded},
	{"RequestSkippedError", 514, "REQUEST_SKIPPED", sabir.ErrDeadlineExceeded},
	{"RequestRejectedError", 503, "REQUEST_REJECTED", sabir.ErrLinkLost},
	{"RequestRejectedError", 503, "REQUEST_REJECTED", sabir.ErrBreakerOpen},
	{"QueueIsFullError", 429, "QUEUE_FULL", sabir.ErrTooManyCalls},
	{"QueueIsFullError", 429, "QUEUE_FULL", sabir.NewError(sabir.CodeResourceExhausted, errname.BulkheadFull, "")},
	{"MaxCallLevelError", 500, "MAX_CALL_LEVEL", sabir.NewError(sabir.CodeFailedPrecondition, errname.TooManyLevels, "")},
}

// codes are the codes of errors that are of no known class, by Moleculer's, which are HTTP statuses.
var codes = map[int]sabir.Code{
	400: sabir.CodeInvalidArgument, 401: sabir.CodeUnauthenticated, 403: sabir.CodePermissionDenied, 404: sabir.CodeNotFound, 408: sabir.CodeDeadlineExceeded,
	409: sabir.CodeAborted, 412: sabir.CodeFailedPrecondition, 422: sabir.CodeInvalidArgument, 429: sabir.CodeResourceExhausted, 499: sabir.CodeCanceled,
	501: sabir.CodeUnimplemented, 502: sabir.CodeUnavailable, 503: sabir.CodeUnavailable, 504: sabir.CodeDeadlineExceeded,
}

// errorFrom is an error of a Moleculer node as callers here have it.
func errorFrom(w *wireError, node string) *sabir.Error {
	if w == nil {
		w = &wireError{Name: "Error", Message: "the node answered that the call failed, and not why"}
	}
	origin := &Error{Class: w.Name, Message: w.Message, Code: number(w.Code), Type: w.Type, Retryable: w.Retryable, Data: w.Data, Node: w.NodeID}
	origin.text, _ = w.Code.(string)
	if origin.Node == "" {
		origin.Node = node
	}
	code, name := codeOf(origin.Code), w.Type
	data := w.Data
	for _, k := range known {
		if k.class == w.Name && (k.class != "ValidationError" || w.Type == k.kind) {
			code, name = k.same.Code, k.same.Name
			if fields := fieldErrors(w.Data); k.class == "ValidationError" && fields != nil {
				data = fields
			}
			break
		}
	}
	if name == "" {
		name = sabir.ErrHandlerFailed.Name
	}
	e := sabir.Errorf(code, name, "%w", origin)
	e.Data, e.Retryable, e.Node = data, w.Retryable, origin.Node
	return e
}

func number(code any) int {
	f, _ := code.(float64)
	return int(f)
}

func codeOf(status int) sabir.Code {
	code, ok := codes[status]
	switch {
	case ok:
		return code
	case status >= 400 && status < 500:
		return sabir.CodeInvalidArgument
	case status >= 500:
		return sabir.CodeInternal
	}
	return sabir.CodeUnknown
}

// violation is an entry in the data of a ValidationError, as fastest-validator makes them.
type violation struct {
	Type    string `json:"type"`
	Field   string `json:"field"`
	Message string `json:"message"`
	Actual  any    `json:"actual,omitempty"`
	NodeID  string `json:"nodeID,omitempty"`
	Action  string `json:"action,omitempty"`
}

func fieldErrors(data any) (fields validate.Errors) {
	text, err := json.Codec.Append(nil, data)
	var list []violation
	if err != nil || json.Codec.Decode(text, &list) != nil {
		return nil
	}
	for _, v := range list {
		fields = append(fields, validate.FieldError{Path: v.Field, Rule: v.Type, Message: v.Message, Value: v.Actual})
	}
	return fields
}

// errorTo is an error of a call of an action as Moleculer nodes have it.
func errorTo(err error, action, node string) *wireError {
	e := sabir.AsError(err)
	w := &wireError{Message: e.Message, NodeID: e.Node, Retryable: e.Retryable, Data: e.Data}
	if w.NodeID == "" {
		w.NodeID = node
	}
	if origin, ok := errors.AsType[*Error](err); ok {
		w.Name, w.Type, w.Data = origin.Class, origin.Type, origin.Data
		switch {
		case origin.Code != 0:
			w.Code = origin.Code
		case origin.text != "":
			w.Code = origin.text
		}
		return w
	}
	for _, k := range known {
		if k.same.Name == e.Name && k.same.Code == e.Code && !ofNestedCall(e) {
			w.Name, w.Code, w.Type = k.class, k.code, k.kind
			if k.class == "RequestTimeoutError" {
				w.Retryable = true // as it is where the caller's own timer is the first to end
			}
			w.Data = dataFor(err, k.class, action, w.NodeID)
			return w
		}
	}
	status := e.HTTPStatus()
	w.Code, w.Type = status, e.Name
	switch {
	case e.Retryable:
		w.Name = "MoleculerRetryableError"
	case status < 500:
		w.Name = "MoleculerClientError"
	default:
		w.Name = "MoleculerError"
	}
	return w
}

// ofNestedCall reports whether it is another action that is missing: one that the handler called, since an action that is itself missing may be called
// again. Moleculer makes the message of its classes of the action and the node of the call, and would name the one that is there.
func ofNestedCall(e *sabir.Error) bool {
	return !e.Retryable && (e.Name == sabir.ErrActionNotFound.Name || e.Name == sabir.ErrServiceUnavailable.Name)
}

// dataFor is the data from which a Moleculer node makes the message of a class.
func dataFor(err error, class, action, node string) any {
	if class != "ValidationError" {
		return map[string]any{"action": action, "nodeID": node}
	}
	e := sabir.AsError(err)
	fields, failed := sabir.DataAs[validate.Errors](e)
	if failed != nil {
		return []violation{unread(err, violation{Type: e.Name, Message: e.Message, NodeID: node, Action: action})}
	}
	list := make([]violation, len(fields))
	for i := range fields {
		f := &fields[i]
		list[i] = violation{Type: f.Rule, Field: f.Path, Message: f.Message, Actual: f.Value, NodeID: node, Action: action}
	}
	return list
}

// unread adds to a violation which field an input could not be read at, and of which kind it must be, where the error says so.
func unread(err error, v violation) violation {
	bad, ok := errors.AsType[*codec.Error](err)
	if !ok {
		return v
	}
	if v.Field = fieldAt(bad.Pointer); bad.Want != "" {
		v.Type = bad.Want
	}
	return v
}

// fieldAt is the field at a JSON Pointer as Moleculer's validator writes it: "items[2].price" for "/items/2/price". What is a number is taken for the place in a list.
func fieldAt(pointer string) string {
	var b strings.Builder
	for part := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		switch _, err := strconv.ParseUint(part, 10, 32); {
		case err == nil:
			b.WriteString("[" + part + "]")
			continue
		case b.Len() > 0:
			b.WriteByte('.')
		}
		b.WriteString(strings.NewReplacer("~1", "/", "~0", "~").Replace(part))
	}
	return b.String()
}

// append appends the error, without data that has no JSON.
func (w *wireError) append(dst []byte) []byte {
	if out, err := json.Codec.Append(dst, w); err == nil {
		return out
	}
	c := *w
	c.Data = nil
	for _, text := range []*string{&c.Name, &c.Message, &c.NodeID, &c.Type} {
		*text = strings.ToValidUTF8(*text, "\ufffd")
	}
	dst, _ = json.Codec.Append(dst, &c)
	return dst
}

// lost is the error of a call whose node has gone.
func lost(action, node, why string) *sabir.Error {
	e := sabir.NewError(sabir.ErrLinkLost.Code, sabir.ErrLinkLost.Name, fmt.Sprintf("the Moleculer node %s %s before %s answered", node, why, action))
	e.Node = node
	return e
}
