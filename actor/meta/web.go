package meta

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
)

// Request is a web request as a process gets it, which may run on another node.
type Request struct {
	Method     string
	URL        string // path and query, as the client sent them
	Host       string
	Header     http.Header
	RemoteAddr string
	Body       []byte
}

// Response is the answer of the process to a Request. A Status of 0 is 200.
type Response struct {
	Status int
	Header http.Header
	Body   []byte
}

// WebConfig holds the settings of Handler. The zero WebConfig is fit for use.
type WebConfig struct {
	// MaxBody bounds the body of a request, in bytes: a longer one is answered with 413. Default: 1 MiB.
	MaxBody int64
	// Requests bounds how many requests wait for an answer at once: one more is answered with 503. Default: 1000.
	Requests int
}

// The defaults of WebConfig.
const (
	defaultMaxBody  = 1 << 20
	defaultRequests = 1000
)

// Handler makes each web request a call to a process, or to a pool of them, with a Request, which it answers with a Response:
//
//	func (s *site) Get(p *actor.Process, r meta.Request) (meta.Response, error)
//
// The call has the request's context: p.Context ends when the client has gone. It waits as long as that, or for
// 5 s where it has no deadline. An error is answered with the HTTP status of its code, see sabir.Code, and its
// name and message in JSON; for one that is not a *sabir.Error only "internal error" is sent.
func Handler[A actor.Address](s *actor.System, to A, config WebConfig) http.Handler {
	h := &webHandler{maxBody: cmp.Or(config.MaxBody, defaultMaxBody), slots: make(chan struct{}, cmp.Or(config.Requests, defaultRequests))}
	h.call = func(ctx context.Context, r Request) (Response, error) { return actor.Call[Response](ctx, s, to, r) }
	return h
}

type webHandler struct {
	call    func(context.Context, Request) (Response, error)
	maxBody int64
	slots   chan struct{}
}

func (h *webHandler) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	select {
	case h.slots <- struct{}{}:
		defer func() { <-h.slots }()
	default:
		w.Header().Set("Retry-After", "1")
		refuse(w, http.StatusServiceUnavailable, "Overloaded", "too many requests wait for an answer")
		return
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, h.maxBody))
	if _, tooLarge := errors.AsType[*http.MaxBytesError](err); tooLarge {
		refuse(w, http.StatusRequestEntityTooLarge, "BodyTooLarge", "the body is too large")
		return
	}
	if err != nil {
		refuse(w, http.StatusBadRequest, "BadBody", "the body could not be read")
		return
	}
	answer, err := h.call(r.Context(), Request{r.Method, r.URL.RequestURI(), r.Host, r.Header, r.RemoteAddr, body})
	if err != nil {
		refuseWith(w, err)
		return
	}
	maps.Copy(w.Header(), answer.Header)
	if answer.Status == 0 {
		answer.Status = http.StatusOK
	}
	if answer.Status < 200 || answer.Status > 999 { // WriteHeader would panic, or wait for another
		refuse(w, http.StatusInternalServerError, "BadStatus", "the process answered with no valid status")
		return
	}
	w.WriteHeader(answer.Status)
	_, _ = w.Write(answer.Body) // the caller may have gone
}

func refuseWith(w http.ResponseWriter, err error) {
	if e, ok := errors.AsType[*sabir.Error](err); ok {
		refuse(w, e.Code.HTTPStatus(), e.Name, e.Message)
		return
	}
	e := sabir.AsError(err) // of a context that ended
	if e.Code == sabir.CodeDeadlineExceeded || e.Code == sabir.CodeCanceled {
		refuse(w, e.Code.HTTPStatus(), e.Name, e.Message)
		return
	}
	refuse(w, http.StatusInternalServerError, "Internal", "internal error")
}

func refuse(w http.ResponseWriter, status int, name, message string) {
	w.Header().Set("Content-Type", "application/json")
	w.WriteHeader(status)
	_ = json.NewEncoder(w).Encode(map[string]string{"name": name, "message": message}) // the caller may have gone
}
