package web

import (
	"cmp"
	"mime"
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
)

// errorFromResponse makes an error of a response, whatever its bytes are.
func errorFromResponse(where string, status int, contentType string, body []byte) *sabir.Error {
	if kind, _, err := mime.ParseMediaType(contentType); err != nil || kind != problemType {
		return notSabir(where, status, contentType)
	}
	var p problem
	if err := json.Codec.Decode(body, &p); err != nil {
		return notSabir(where, status, contentType)
	}
	e := &sabir.Error{Name: p.Name, Data: p.Data, Retryable: p.Retryable, Node: p.Node}
	if err := e.Code.UnmarshalText([]byte(p.Code)); err != nil || e.Code == sabir.CodeOK {
		e.Code = codeOf(status) // a newer node's, or another server's problem
	}
	if e.Message = cmp.Or(p.Message, p.Detail, p.Title); e.Message == "" {
		e.Message = where + " answered " + itoa(status) + " without saying why"
	}
	return e
}

// codeOf returns the error code for a status, for a response that names none.
func codeOf(status int) sabir.Code {
	switch status {
	case http.StatusUnauthorized, http.StatusProxyAuthRequired:
		return sabir.CodeUnauthenticated
	case http.StatusForbidden:
		return sabir.CodePermissionDenied
	case http.StatusNotFound, http.StatusGone:
		return sabir.CodeNotFound
	case http.StatusConflict:
		return sabir.CodeAborted
	case http.StatusTooManyRequests:
		return sabir.CodeResourceExhausted
	case http.StatusNotImplemented:
		return sabir.CodeUnimplemented
	case http.StatusBadGateway, http.StatusServiceUnavailable:
		return sabir.CodeUnavailable
	case http.StatusGatewayTimeout, http.StatusRequestTimeout:
		return sabir.CodeDeadlineExceeded
	}
	if status >= 400 && status < 500 {
		return sabir.CodeInvalidArgument
	}
	return sabir.CodeUnknown
}
