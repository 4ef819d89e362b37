package web

import (
	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/http1"
)

// The face answers requests from two engines: http1 asks Take and Serve for those it can answer itself, all others come
// through net/http to ServeHTTP. Both lead to answer.

var _ http1.Handler = (*face)(nil)

// Take finds what the request is for, and takes it if that is an action to be called.
func (f *face) Take(x *exchange.Exchange) bool {
	if f.stopping.Load() {
		return false // net/http tells the connection to end
	}
	to, params := f.tables.get().find(x.Method, x.Path, x.Params[:0])
	x.Params = params
	if to == nil || to.page == nil && to.action.Stream || x.Length > to.body {
		return false
	}
	x.Route, x.Limit = to, to.limit
	if x.ID = givenID(&x.Header); x.ID == "" {
		x.MakeID(sabir.AppendRequestID)
	}
	return true
}

// Serve answers a request that was taken.
func (f *face) Serve(x *exchange.Exchange) {
	f.requests.Add(1)
	f.answer(x, x.Route.(*target), true)
}

// Late answers for a handler that has run past its limit.
func (f *face) Late(x *exchange.Exchange) {
	v := visit{Exchange: x, face: f, to: x.Route.(*target)}
	v.fail(sabir.NewError(sabir.DeadlineExceeded, sabir.ErrDeadline.Name, "the deadline passed before "+v.to.name()+" answered"))
}

// Busy answers where too many handlers have run past their limits and are still running.
func (f *face) Busy(x *exchange.Exchange) {
	v := visit{Exchange: x, face: f, to: x.Route.(*target)}
	v.fail(sabir.ErrTooManyAbandoned)
}

func (t *target) name() string {
	if t.action == nil {
		return t.path
	}
	return t.action.Name
}
