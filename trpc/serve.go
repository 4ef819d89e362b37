package trpc

import (
	"errors"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/subrequest"
	"github.com/sabir-go/sabir/web"
)

// At serves the protocol of tRPC 11 at a path, such as "/trpc", for all actions that callers of the server can reach. It is an option of
// sabir.HTTP: callers authenticate as the server's options say, and pages of other sites are refused unless filter.CORS lets them in. A request's
// body is bounded by BodyLimit of web.Config, and a batch has at most 100 calls, of which 16 run at once.
func At(path string) gateway.HTTPOption {
	return web.Mounted(path, func(site web.Site) (http.Handler, error) { return &server{site}, nil })
}

type server struct{ site web.Site }

// procedure returns the action of a procedure; nil for none.
func (s *server) procedure(name string) *api.Action {
	actions := s.site.API().Actions
	i, found := slices.BinarySearchFunc(actions, name, func(a api.Action, name string) int { return strings.Compare(a.Name, name) })
	if !found || actions[i].Procedure() == "" {
		return nil
	}
	return &actions[i]
}

// ServeHTTP answers a request of a client: one call, a batch of them, or a subscription.
func (s *server) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	w.Header().Set("Vary", "Trpc-Accept, Accept")
	w.Header().Set("Cache-Control", "no-store")
	if r.Method != http.MethodGet && r.Method != http.MethodPost {
		w.Header().Set("Allow", "GET, POST")
		refuse(w, failure(http.StatusMethodNotAllowed, "MethodNotAllowed", "queries and subscriptions use GET, mutations POST"))
		return
	}
	if strings.EqualFold(r.Header.Get("Upgrade"), "websocket") {
		refuse(w, failure(http.StatusBadRequest, "BadInput",
			"WebSocket is not served here: in place of wsLink, use httpSubscriptionLink for subscriptions and httpBatchLink for the other calls"))
		return
	}
	calls, failed := s.read(w, r)
	if failed != nil {
		refuse(w, failed)
		return
	}
	switch {
	case calls.streamed && !calls.batch:
		refuse(w, failure(http.StatusBadRequest, "BadInput", "a streamed answer needs a batch, which may be of one call"))
	case calls.streamed:
		s.streamBatch(w, r, calls)
	case calls.batch:
		s.batch(w, r, calls)
	case calls.list[0].action != nil && calls.list[0].action.Procedure() == api.Subscription:
		s.subscribe(w, r, calls.list[0])
	default:
		s.single(w, r, calls.list[0])
	}
}

// body reads the input of a request with POST.
func (s *server) body(w http.ResponseWriter, r *http.Request) ([]byte, *shape) {
	if subrequest.Encoded(r.Header) {
		return nil, failure(http.StatusUnsupportedMediaType, "UnsupportedMediaType", subrequest.Compressed)
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, s.site.Body))
	if _, over := errors.AsType[*http.MaxBytesError](err); over {
		return nil, failure(http.StatusRequestEntityTooLarge, "InputTooLarge", "the body is larger than the limit of the server")
	}
	if err != nil {
		return nil, failure(http.StatusBadRequest, "BadInput", "the body did not come as announced")
	}
	// The time limit of the body must not end the call: while it runs, net/http reads on to notice when the client goes.
	_ = http.NewResponseController(w).SetReadDeadline(time.Time{})
	return body, nil
}
