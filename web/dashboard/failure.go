package dashboard

import (
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
)

// failure is an error as the page gets it, in the form of RFC 9457.
type failure struct {
	Type      string `json:"type"`
	Title     string `json:"title"`
	Status    int    `json:"status"`
	Detail    string `json:"detail"`
	Name      string `json:"name"`
	Code      string `json:"code"`
	Node      string `json:"node,omitempty"`
	Data      any    `json:"data,omitempty"`
	Retryable bool   `json:"retryable"`
}

func newFailure(e *sabir.Error) failure {
	return failure{Type: "urn:sabir:error:" + e.Name, Title: http.StatusText(e.HTTPStatus()), Status: e.HTTPStatus(), Detail: e.Message, Name: e.Name, Code: e.Code.String(),
		Node: e.Node, Data: e.Data, Retryable: e.Retryable}
}

func (b *dashboard) fail(w http.ResponseWriter, e *sabir.Error) {
	if e.Code == sabir.CodeResourceExhausted {
		w.Header().Set("Retry-After", "5")
	}
	w.Header().Set("Content-Type", "application/problem+json")
	f := newFailure(e)
	body, err := json.Codec.Append(nil, f)
	if err != nil { // what the author of the error put into it
		f.Data = nil
		body, _ = json.Codec.Append(nil, f)
	}
	w.WriteHeader(f.Status)
	w.Write(body)
}

// send sends a value as JSON.
func (b *dashboard) send(w http.ResponseWriter, v any) {
	body, err := json.Codec.Append(nil, v)
	if err != nil {
		b.fail(w, sabir.AsError(err))
		return
	}
	w.Header().Set("Content-Type", "application/json")
	w.Write(body)
}
