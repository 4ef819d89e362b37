package micro

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/validate"
)

// Error is an error as go-micro has it: what errors.As finds in the error of a call. Where a handler returns the error of a nested call, or one of
// these, clients of go-micro get it as it is.
type Error struct {
	ID     string `json:"id,omitempty"`
	Code   int32  `json:"code,omitempty"` // an HTTP status; 0 for a plain error of Go
	Detail string `json:"detail,omitempty"`
	Status string `json:"status,omitempty"`
}

func (e *Error) Error() string {
	if e.Detail == "" {
		return e.Status
	}
	return e.Detail
}

// codes are the codes of errors by go-micro's, which are HTTP statuses.
var codes = map[int32]sabir.Code{
	400: sabir.CodeInvalidArgument, 401: sabir.CodeUnauthenticated, 403: sabir.CodePermissionDenied, 404: sabir.CodeNotFound, 408: sabir.CodeDeadlineExceeded,
	409: sabir.CodeAborted, 412: sabir.CodeFailedPrecondition, 413: sabir.CodeResourceExhausted, 422: sabir.CodeInvalidArgument, 429: sabir.CodeResourceExhausted, 499: sabir.CodeCanceled,
	500: sabir.CodeInternal, 501: sabir.CodeUnimplemented, 502: sabir.CodeUnavailable, 503: sabir.CodeUnavailable, 504: sabir.CodeDeadlineExceeded,
}

func codeOf(status int32) sabir.Code {
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

// errorFrom reads the header of an error. Its text is the JSON of go-micro's error, or any text where the handler returned a plain error.
func errorFrom(text, node string) *sabir.Error {
	origin := &Error{}
	if json.Codec.Decode([]byte(text), origin) != nil || origin.Code == 0 && origin.ID == "" {
		origin = &Error{Detail: text}
	}
	e := sabir.Errorf(codeOf(origin.Code), origin.ID, "%w", origin)
	switch {
	case strings.HasPrefix(text, "rpc: can't find "), strings.HasPrefix(text, "rpc: service/endpoint request ill-formed"):
		e.Code, e.Name = sabir.ErrActionNotFound.Code, sabir.ErrActionNotFound.Name
	case origin.Code == http.StatusRequestTimeout, origin.ID == "" && origin.Detail == context.DeadlineExceeded.Error(): // the error of its context that a handler returned
		e.Code, e.Name = sabir.ErrDeadlineExceeded.Code, sabir.ErrDeadlineExceeded.Name
	case origin.ID == "":
		e.Name = sabir.ErrHandlerFailed.Name
	}
	e.Node = node
	return e
}

// maxDetail bounds the text of an error in a header.
const maxDetail = 4 << 10

// errorTo is an error of a call as clients of go-micro have it: the name of the error is the id.
func errorTo(err error) *Error {
	if origin, ok := errors.AsType[*Error](err); ok {
		return origin
	}
	e := sabir.AsError(err)
	status := e.HTTPStatus()
	if e.Code == sabir.CodeDeadlineExceeded {
		status = http.StatusRequestTimeout // as go-micro's own
	}
	detail := e.Message
	if fields, err := sabir.DataAs[validate.Errors](e); err == nil && len(fields) > 0 && !strings.Contains(detail, fields[0].Message) {
		detail += ": " + fields.Error()
	}
	return &Error{ID: e.Name, Code: int32(status), Detail: detail, Status: http.StatusText(status)}
}

// header is the value of the header Micro-Error.
func (e *Error) header() string {
	clipped := *e
	clipped.Detail = strings.ToValidUTF8(e.Detail[:min(len(e.Detail), maxDetail)], "")
	clipped.ID = strings.ToValidUTF8(e.ID[:min(len(e.ID), maxDetail)], "")
	if clipped.Code == 0 && clipped.ID == "" {
		return oneLine(clipped.Detail) // a plain error, as go-micro sends it
	}
	text, err := json.Codec.Append(nil, &clipped)
	if err != nil {
		return http.StatusText(http.StatusInternalServerError)
	}
	return oneLine(string(text))
}

// oneLine is a text without the characters that no header can hold.
func oneLine(text string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return ' '
		}
		return r
	}, text)
}

// unreachable is the error of a call that was not sent, and so goes to another node.
func unreachable(action, node string, why error) *sabir.Error {
	e := sabir.Errorf(sabir.ErrServiceUnavailable.Code, sabir.ErrServiceUnavailable.Name, "%s cannot be called: %s cannot be reached: %w", action, node, why).AsRetryable()
	e.Node = node
	return e
}

// lost is the error of a call whose answer did not come.
func lost(action, node string, why error) *sabir.Error {
	e := sabir.NewError(sabir.ErrLinkLost.Code, sabir.ErrLinkLost.Name, fmt.Sprintf("the connection to the go-micro service %s was lost before %s answered: %v", node, action, why))
	e.Node = node
	return e
}
