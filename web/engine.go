package web

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/http1"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/requestid"
	"github.com/sabir-go/sabir/web/exchange"
)

// The server answers requests from two engines: http1 asks Take and Serve for those it can answer itself, all others come
// through net/http to ServeHTTP. Both lead to answer.

var _ http1.Handler = (*server)(nil)

// Take accepts a request for the engine if its target is a plain call.
func (s *server) Take(x *exchange.Exchange) bool {
	if s.stopping.Load() {
		return false // net/http makes the connection end
	}
	to, params := s.tables.get().find(x.Method, x.Path, x.Params[:0])
	x.Params = params
	if to == nil || to.page == nil && to.action.Stream || x.Length > to.body {
		return false
	}
	x.Route, x.Limit = to, to.limit
	if x.ID = givenID(&x.Header); x.ID == "" {
		x.MakeID(requestid.Append)
	}
	return true
}

// Serve answers a request that Take has accepted.
func (s *server) Serve(x *exchange.Exchange) {
	s.requests.Add(1)
	to := x.Route.(*target)
	if s.clients != nil {
		leave, ok := s.enter(x, to)
		if !ok {
			return
		}
		defer leave()
	}
	s.handle(x, to, true)
}

// Failed makes the response if Serve did not return, because the call ended its goroutine.
func (s *server) Failed(x *exchange.Exchange) {
	if x.Status == 0 {
		v := requestContext{Exchange: x, server: s, to: x.Route.(*target)}
		v.fail(isolate.Fault(nil))
	}
}

// Late makes the response for a handler that has exceeded its time limit.
func (s *server) Late(x *exchange.Exchange) {
	v := requestContext{Exchange: x, server: s, to: x.Route.(*target)}
	v.fail(sabir.NewError(sabir.CodeDeadlineExceeded, sabir.ErrDeadlineExceeded.Name, "the deadline passed before "+v.to.name()+" answered"))
}

// Full makes the response if there is no space for the body of the request.
func (s *server) Full(x *exchange.Exchange) {
	v := requestContext{Exchange: x, server: s, to: x.Route.(*target)}
	v.fail(s.holdsTooMuch())
}

// errTooManyAbandoned has the name that the runtime uses for calls, so that clients over HTTP know one error for both.
var errTooManyAbandoned = sabir.NewError(sabir.CodeResourceExhausted, errname.TooManyAbandoned, "too many handlers are running past their deadlines").AsRetryable()

// Busy makes the response when too many handlers have exceeded their limits and still run.
func (s *server) Busy(x *exchange.Exchange) {
	v := requestContext{Exchange: x, server: s, to: x.Route.(*target)}
	v.fail(errTooManyAbandoned)
}

func (t *target) name() string {
	if t.action == nil {
		return t.path
	}
	return t.action.Name
}
