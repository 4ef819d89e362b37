package web

import (
	"context"
	"fmt"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/httpstrict"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/exchange"
)

// requestContext is one request with the server, the target and the filters that handle it. It is the same for both engines and
// is used by one goroutine at a time.
type requestContext struct {
	*exchange.Exchange
	*server
	to        *target
	chain     []exchange.Filter // that the request passes
	ranBefore int               // how many filters of chain have run Before and not yet After
	watched   bool              // the engine answers at the time limit by itself
}

// handle runs a request: the filters, what the target does, and the filters again in the reverse order. It always leaves a
// response in the exchange, even if a filter or a value's own method ends the goroutine (runtime.Goexit), since the deferred
// runAfter runs then too.
func (s *server) handle(x *exchange.Exchange, to *target, watched bool) {
	v := requestContext{Exchange: x, server: s, to: to, chain: to.chain, watched: watched}
	if to.needsKeep {
		x.Keep()
	}
	defer v.runAfter()
	v.run()
}

// run runs Before of the filters and what the target does. An error becomes the response.
func (rc *requestContext) run() {
	returned := false
	defer func() {
		if !returned {
			rc.panicked(recover())
		}
	}()
	err := rc.runBefore()
	if err == nil {
		err = rc.do()
	}
	if err != nil {
		rc.fail(err)
	}
	returned = true
}

// runBefore runs Before of the filters, in their order, until one fails. It counts them, so that runAfter runs After of these
// and no others. What they let pass is then checked for headers that come twice.
func (rc *requestContext) runBefore() error {
	rc.Proxies = &rc.server.settings.proxies
	for rc.ranBefore < len(rc.chain) {
		before := rc.chain[rc.ranBefore].Before
		rc.ranBefore++
		if before != nil {
			if err := before(rc.Exchange); err != nil {
				return err
			}
		}
	}
	return rc.checkRepeats()
}

// checkRepeats returns an error for a request in which a header with one value comes twice.
func (rc *requestContext) checkRepeats() error {
	var seen httpstrict.Repeats
	for _, field := range rc.Header.Fields() {
		if name := seen.Add(field.Name); name != "" {
			return sabir.NewError(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, httpstrict.RepeatedText(name))
		}
	}
	return nil
}

// runAfter runs After of the filters whose Before has run, the innermost first. If one panics, the response becomes an error
// and the outer filters still run: each may hold something that it releases then.
func (rc *requestContext) runAfter() {
	returned := false
	defer func() {
		if !returned {
			rc.panicked(recover())
			rc.runAfter()
		}
	}()
	for rc.ranBefore > 0 {
		rc.ranBefore--
		if after := rc.chain[rc.ranBefore].After; after != nil {
			after(rc.Exchange)
		}
	}
	returned = true
}

// admit runs Before of the filters, and then prepare if it is not nil, for a request whose response others write: a stream or a
// mounted handler. If it returns false, the exchange holds the complete response.
func (rc *requestContext) admit(prepare func() error) bool {
	err := rc.pass(prepare)
	if err == nil {
		return true
	}
	isolate.Do(func() error {
		defer rc.runAfter()
		rc.fail(err)
		return nil
	})
	return false
}

// pass is admit without an answer: it returns what kept the request out.
func (rc *requestContext) pass(prepare func() error) error {
	return isolate.Do(func() error {
		if err := rc.runBefore(); err != nil || prepare == nil {
			return err
		}
		return prepare()
	})
}

func (rc *requestContext) do() error {
	if page := rc.to.page; page != nil {
		rc.Keep()
		own := *rc
		page(&own)
		return nil
	}
	return rc.call()
}

// call calls the action and leaves its output in the exchange.
func (rc *requestContext) call() error {
	if int64(len(rc.Body)) > rc.to.body {
		return rc.tooLarge(rc.to.body)
	}
	var in gateway.Inbound
	err := rc.inbound(&in)
	if err != nil {
		return err
	}
	body := rc.Body
	if rc.to.binder != nil {
		b := takeBuffer()
		defer b.put()
		if body, err = rc.to.binder.Append(b.bytes[:0], rc.Exchange); err != nil {
			return err
		}
		b.bytes = body
	}
	rc.inFlight.Add(1)
	defer rc.inFlight.Add(-1)
	if in.Borrowed = (*borrowedExchange)(rc.Exchange); !in.Watched {
		rc.Keep() // the handler may run on when its caller was answered
	}
	in.Answer = (*answered)(rc.Exchange)
	out, err := rc.to.action.ServeJSON(in, rc.Out[:0], body)
	if err != nil {
		return rc.refused(err)
	}
	rc.Out, rc.Type = out, jsonType
	rc.useStatus()
	rc.completeLinks()
	return rc.usePreconditions()
}

// refused returns a call's error as the caller may see it. If the input was invalid, it reports where in the request each field
// came from.
func (rc *requestContext) refused(err error) error {
	rc.Keep() // logs may keep the id
	e := rc.publicError(rc.to.action, rc.logged(), err)
	if rc.to.rest {
		e = rc.to.sources(e)
	}
	return e
}

// inbound describes the call to the node, except for its input.
func (rc *requestContext) inbound(in *gateway.Inbound) (err error) {
	if (rc.to.binder == nil || len(rc.Body) > 0) && !rc.isForm() {
		if err := checkJSON(rc.Exchange); err != nil {
			return err
		}
	}
	if in.Limit, err = timeout(&rc.Header, rc.to.limit); err != nil {
		return err
	}
	watched := rc.watched && in.Limit == rc.to.limit
	if rc.Waited > in.Limit/2 {
		return rc.tooLate(in.Limit)
	}
	in.Limit -= rc.Waited
	if in.Metadata, err = metadata(rc.Exchange); err != nil {
		return err
	}
	in.Strict = rc.to.routeGroup.strict
	in.Context, in.RequestID, in.Watched = rc.Context, rc.ID, watched
	in.Context, in.Metadata = principal.Inbound(rc.Exchange, in.Context, in.Metadata)
	return nil
}

func (rc *requestContext) tooLarge(limit int64) error {
	return sabir.Errorf(sabir.CodeInvalidArgument, errname.InputTooLarge, "the body is larger than the limit of %d bytes", limit)
}

// tooLate is the error of a call that is not begun, as its caller would have gone before the answer.
func (rc *requestContext) tooLate(limit time.Duration) error {
	e := *sabir.ErrTooManyCalls
	e.Node, e.Retryable = rc.node.ID(), true
	e.Message = fmt.Sprintf("node %s has too much to do: the request waited for %v of its %v", e.Node, rc.Waited, limit)
	return &e
}

// borrowedExchange puts the exchange into the context of its call. It is valid only until the call ends, because the exchange
// is used again.
type borrowedExchange exchange.Exchange

type exchangeKey struct{}

// Value does not read the exchange, so it may be called at any time.
func (x *borrowedExchange) Value(key any) any {
	if _, ok := key.(exchangeKey); ok {
		return (*exchange.Exchange)(x)
	}
	return nil
}

// ExchangeFromContext returns the request that a call came in with, and its response, for middlewares and handlers that set a header or
// a cookie, or need more than the input. It is nil for a call that did not come over HTTP on this node, and for streams. Use it
// on the goroutine of the handler only, and not after the handler has returned. In a batch, cookies are set by the response of
// the batch, and other headers come with the call's own part of it.
func ExchangeFromContext(ctx context.Context) *exchange.Exchange {
	x, _ := ctx.Value(exchangeKey{}).(*exchange.Exchange)
	if x != nil {
		x.Keep()
	}
	return x
}

// panicked makes a response for a panic in the server, a filter or a method of a value; a handler's panic has become an error
// before. p is nil if the goroutine was ended.
func (rc *requestContext) panicked(p any) {
	if p == http.ErrAbortHandler {
		panic(p)
	}
	rc.fail(isolate.Fault(p))
}
