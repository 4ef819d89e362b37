package web

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"runtime/debug"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// visit is one request on its way through the face: let in, called, answered. It is the same for the fast engine and for
// net/http.
type visit struct {
	*exchange.Exchange
	*face
	to      *target
	watched bool // the engine lets the caller go at the limit by itself
}

// answer lets the request pass the steps of its target, does what it is for, and lets the answer pass the steps in the
// reverse order. It always leaves an answer in the exchange.
func (f *face) answer(x *exchange.Exchange, to *target, watched bool) {
	v := visit{Exchange: x, face: f, to: to, watched: watched}
	if to.shows {
		x.Keep()
	}
	passed := 0
	defer func() {
		if p := recover(); p != nil {
			v.panicked(p)
		}
	}()
	err := v.enter(to.steps, &passed)
	if err == nil {
		err = v.do()
	}
	if err != nil {
		v.fail(err)
	}
	v.leave(to.steps[:passed])
}

// enter lets the request pass the steps and counts those that saw it.
func (v *visit) enter(steps []exchange.Filter, passed *int) error {
	for i := range steps {
		*passed++
		if before := steps[i].Before; before != nil {
			if err := before(v.Exchange); err != nil {
				return err
			}
		}
	}
	return nil
}

func (v *visit) leave(steps []exchange.Filter) {
	for i := len(steps) - 1; i >= 0; i-- {
		if after := steps[i].After; after != nil {
			after(v.Exchange)
		}
	}
}

func (v *visit) do() error {
	if page := v.to.page; page != nil {
		v.Keep()
		own := *v
		page(&own)
		return nil
	}
	return v.call()
}

// call calls the action and leaves its output in the exchange.
func (v *visit) call() error {
	if int64(len(v.Body)) > v.to.body {
		return v.tooLarge(v.to.body)
	}
	var in sabir.Inbound
	err := v.inbound(&in)
	if err != nil {
		return err
	}
	body := v.Body
	if v.to.binder != nil {
		b := takeBuffer()
		defer b.put()
		if body, err = v.to.binder.Append(b.bytes[:0], v.Exchange); err != nil {
			return err
		}
		b.bytes = body
	}
	v.inFlight.Add(1)
	defer v.inFlight.Add(-1)
	if in.Lent = (*lentExchange)(v.Exchange); !in.Watched {
		v.Keep() // the handler may run on when its caller was answered
	}
	out, err := v.to.action.ServeJSON(in, v.Out[:0], body)
	if err != nil {
		return v.refused(err)
	}
	v.Out, v.Type = out, jsonType
	return nil
}

// refused is the error of a call as its caller may see it: what does not fit the input is told with where it came from.
func (v *visit) refused(err error) error {
	v.Keep() // logs may keep the id
	e := v.public(v.to.action, v.ID, err)
	if v.to.binder != nil {
		e = v.to.sources(e)
	}
	return e
}

// inbound is the call that the request makes, but for its input.
func (v *visit) inbound(in *sabir.Inbound) (err error) {
	if v.to.binder == nil || len(v.Body) > 0 {
		if err := checkJSON(v.Exchange); err != nil {
			return err
		}
	}
	if in.Limit, err = timeout(&v.Header, v.to.limit); err != nil {
		return err
	}
	if in.Metadata, err = metadata(v.Exchange); err != nil {
		return err
	}
	in.Strict = v.to.door.strict
	in.Context, in.RequestID, in.Watched = v.Context, v.ID, v.watched && in.Limit == v.to.limit
	auth.Inbound(v.Exchange, in)
	return nil
}

func (v *visit) tooLarge(limit int64) error {
	return sabir.Errorf(sabir.InvalidArgument, sabir.ErrTooLarge.Name, "the body is larger than the limit of %d bytes", limit)
}

// lentExchange is an exchange as a value of its call's context, as long as the call is under way.
type lentExchange exchange.Exchange

type exchangeKey struct{}

// Value reads nothing of the exchange, so that it does not matter when it is asked.
func (x *lentExchange) Value(key any) any {
	if _, ok := key.(exchangeKey); ok {
		return (*exchange.Exchange)(x)
	}
	return nil
}

// ExchangeOf is the request that a call came in with, and its answer, for middlewares and handlers that set a header or a
// cookie, or ask for more than the input; nil for a call that came another way, on another node, and for streams. It must
// be used by the goroutine of the handler only, and not after the handler returned. What a call of a batch sets in its
// answer's headers goes nowhere.
func ExchangeOf(ctx context.Context) *exchange.Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange.Exchange)
	if x != nil {
		x.Keep()
	}
	return x
}

// panicked answers for a fault of the face or of a filter; a handler's panic is an error long before it could come here.
func (v *visit) panicked(p any) {
	if p == http.ErrAbortHandler {
		panic(p)
	}
	v.Keep()
	v.node.Log().Error("http panicked", "request", v.ID, "path", v.Path, "panic", fmt.Sprint(p), slog.String("stack", string(bytes.TrimSpace(debug.Stack()))))
	v.fail(&sabir.Error{Code: sabir.Internal, Name: sabir.ErrPanic.Name, Message: internalMessage(v.ID)})
}
