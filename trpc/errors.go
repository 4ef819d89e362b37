package trpc

import (
	"encoding/json"
	"net/http"
	"slices"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// shape is an error as clients of tRPC read it.
type shape struct {
	Message string    `json:"message"`
	Code    int       `json:"code"` // of JSON-RPC
	Data    shapeData `json:"data"`
}

// shapeData has tRPC's own members first, and then those of errors of Sabir.
type shapeData struct {
	Code       string          `json:"code"`
	HTTPStatus int             `json:"httpStatus"`
	Path       string          `json:"path,omitempty"`
	Name       string          `json:"name"`
	Retryable  bool            `json:"retryable"`
	Details    json.RawMessage `json:"details,omitempty"`
	RequestID  string          `json:"requestId,omitempty"`
}

// codes are those of tRPC by the status of HTTP, with JSON-RPC's number for each.
var codes = map[int]struct {
	key    string
	number int
}{
	400: {"BAD_REQUEST", -32600}, 401: {"UNAUTHORIZED", -32001}, 402: {"PAYMENT_REQUIRED", -32002}, 403: {"FORBIDDEN", -32003}, 404: {"NOT_FOUND", -32004},
	405: {"METHOD_NOT_SUPPORTED", -32005}, 408: {"TIMEOUT", -32008}, 409: {"CONFLICT", -32009}, 412: {"PRECONDITION_FAILED", -32012},
	413: {"PAYLOAD_TOO_LARGE", -32013}, 415: {"UNSUPPORTED_MEDIA_TYPE", -32015}, 422: {"UNPROCESSABLE_CONTENT", -32022}, 428: {"PRECONDITION_REQUIRED", -32028},
	429: {"TOO_MANY_REQUESTS", -32029}, 499: {"CLIENT_CLOSED_REQUEST", -32099}, 500: {"INTERNAL_SERVER_ERROR", -32603}, 501: {"NOT_IMPLEMENTED", -32603},
	502: {"BAD_GATEWAY", -32603}, 503: {"SERVICE_UNAVAILABLE", -32603}, 504: {"GATEWAY_TIMEOUT", -32603},
}

// failure is an error of the door itself.
func failure(status int, name, message string) *shape {
	return shapeOf(&subrequest.Problem{Status: status, Name: name, Message: message})
}

// shapeOf translates an error of the server.
func shapeOf(p *subrequest.Problem) *shape {
	code, known := codes[p.Status]
	if !known {
		code = codes[http.StatusInternalServerError]
	}
	return &shape{Message: p.Message, Code: code.number, Data: shapeData{Code: code.key, HTTPStatus: p.Status, Name: p.Name, Retryable: p.Retryable,
		Details: p.Data, RequestID: p.RequestID}}
}

// at is the error of the procedure with the name.
func (s *shape) at(path string) *shape {
	s.Data.Path = short(path)
	return s
}

// append writes the error, as the answer to its call.
func (s *shape) append(dst []byte, superjson bool) []byte {
	dst = append(dst, `{"error":`...)
	if text := s.text(); superjson {
		dst = appendSuperjson(dst, text)
	} else {
		dst = append(dst, text...)
	}
	return append(dst, '}')
}

// text is the error as JSON.
func (s *shape) text() []byte {
	text, err := json.Marshal(s)
	if err != nil { // its data has been read as JSON
		panic(err)
	}
	return text
}

// refuse answers a request of which no call can be made.
func refuse(w http.ResponseWriter, s *shape) { respond(w, s.Data.HTTPStatus, s.inBothForms()) }

// inBothForms is the error for a client of which nothing says whether it has the transformer superjson: one that has it reads the member "json", and
// one that has none the others.
func (s *shape) inBothForms() []byte {
	text, err := json.Marshal(struct {
		*shape
		JSON *shape `json:"json"`
	}{s, s})
	if err != nil { // as in text
		panic(err)
	}
	return slices.Concat([]byte(`{"error":`), text, []byte("}"))
}

// Refused is the answer to a request that filters or the authentication of the server have refused.
func (*server) Refused(document []byte) []byte {
	return shapeOf(subrequest.ReadProblem(document)).inBothForms()
}
