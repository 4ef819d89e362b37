package web

import (
	"context"
	"net/http"

	"github.com/sabir-go/sabir/internal/principal"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/httpstream"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/web/exchange"
)

// streamRequest is a request for a stream.
type streamRequest struct {
	server *server
	w      http.ResponseWriter
	r      *http.Request
	x      *exchange.Exchange
	to     *target
}

// ServeStream runs the filters for a stream and serves it. See package streamgateway for who calls it.
func (q *streamRequest) ServeStream() {
	s, w, r, x := q.server, q.w, q.r, q.x
	v := requestContext{Exchange: x, server: s, to: q.to, chain: q.to.chain}
	var call httpstream.Call
	if !v.admit(func() (err error) { call, err = v.streamCall(r); return err }) {
		doNotWaitForBody(w, r)
		write(w, r, x)
		return
	}
	s.headers(w, x)
	s.streams.Serve(w, r, call)
}

func (rc *requestContext) streamCall(r *http.Request) (call httpstream.Call, err error) {
	pairs, err := metadata(rc.Exchange)
	if err != nil {
		return call, err
	}
	if _, err := timeout(&rc.Header, rc.to.limit); err != nil { // a stream has no such limit, but what nobody can read is a mistake here too
		return call, err
	}
	ctx := sabir.WithRequestID(r.Context(), rc.ID)
	for key, value := range pairs {
		ctx = sabir.WithMetadata(ctx, key, value)
	}
	trusted := rc.Answer.Has("Access-Control-Allow-Origin")
	call = httpstream.Call{Origin: func(string) bool { return trusted }, Action: rc.to.action, Context: principal.Context(ctx, rc.Exchange), Problem: rc.problemOf(rc.to.action, rc.logged()), Until: rc.watchCredentials,
		BytesIn: rc.to.rest && rc.to.action.InputsBytes(), BytesOut: rc.to.get && rc.to.action.OutputsBytes()}
	switch {
	case rc.to.binder == nil:
	case rc.to.get:
		call.Input, err = rc.to.binder.Append(nil, rc.Exchange)
	case rc.to.action.InputsBytes():
		call.Context = rc.pathMetadata(call.Context)
	default:
		call.Bind = rc.bindInput
		_, err = rc.bindInput(nil) // what the body cannot mend is wrong before it is read
	}
	return call, err
}

// bindInput is one input of a stream: what the body has of it, and what the address and the headers have.
func (rc *requestContext) bindInput(body []byte) ([]byte, error) {
	x := *rc.Exchange
	x.Body = body
	return rc.to.binder.Append(nil, &x)
}

// pathMetadata adds the path's parameters of an upload, whose inputs are bytes and have no fields.
func (rc *requestContext) pathMetadata(ctx context.Context) context.Context {
	for i, name := range rc.to.names {
		ctx = sabir.WithMetadata(ctx, name, rc.Params[i])
	}
	return ctx
}

// headers copies the headers that filters have set to a response that others write.
func (s *server) headers(w http.ResponseWriter, x *exchange.Exchange) {
	header := w.Header()
	for _, field := range x.Answer.Fields() {
		header.Add(field.Name, field.Value)
	}
	header.Set(requestIDHeader, x.ID)
	header.Set("X-Content-Type-Options", "nosniff")
}

// problemOf returns the function that makes a problem document of a stream's error.
func (rc *requestContext) problemOf(a *sabir.Action, of logged) func(err error) (int, []byte) {
	make := func(err error) (status int, document []byte) {
		var e error = sabir.AsError(err)
		if a != nil {
			public := rc.publicError(a, of, err)
			if rc.to.rest {
				public = rc.to.sources(public)
			}
			e = public
		} else if failed := rc.panicError(err, of); failed != nil {
			e = failed
		}
		p := newProblem(rc.located(e), of.id)
		return p.Status, rc.appendProblem(nil, p, of)
	}
	return func(err error) (status int, document []byte) {
		failed := isolate.Do(func() error {
			status, document = make(err)
			return nil
		})
		if failed != nil { // by a method of the error
			return make(failed)
		}
		return status, document
	}
}

// watchCredentials ends a stream when the caller's credentials end.
func (rc *requestContext) watchCredentials(end func(error)) (stop func()) {
	return principal.Until(rc.Exchange, end)
}
