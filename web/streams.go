package web

import (
	"context"
	"net/http"
	"sync/atomic"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
	"github.com/sabir-go/sabir/web/stream"
)

// open lets a request pass the steps of a stream, and serves it.
func (f *face) open(w http.ResponseWriter, r *http.Request, x *exchange.Exchange, to *target) {
	v := visit{Exchange: x, face: f, to: to}
	passed := 0
	err := v.enter(to.steps, &passed)
	var call stream.Call
	if err == nil {
		call, err = v.streamCall(r)
	}
	if err != nil {
		v.fail(err)
		v.leave(to.steps[:passed])
		write(w, r, x)
		return
	}
	f.headers(w, x)
	f.streams.Serve(w, r, call)
}

func (v *visit) streamCall(r *http.Request) (call stream.Call, err error) {
	pairs, err := metadata(v.Exchange)
	if err != nil {
		return call, err
	}
	ctx := sabir.WithRequestID(r.Context(), v.ID)
	for key, value := range pairs {
		ctx = sabir.WithMetadata(ctx, key, value)
	}
	trusted := v.Answer.Has("Access-Control-Allow-Origin")
	call = stream.Call{Origin: func(string) bool { return trusted }, Action: v.to.action, Context: auth.Context(ctx, v.Exchange), Problem: v.problemOf(v.to.action, v.ID)}
	if v.to.binder != nil && v.to.get {
		call.Input, err = v.to.binder.Append(nil, v.Exchange)
	}
	return call, err
}

// headers puts what the steps have set into an answer that is written by others.
func (f *face) headers(w http.ResponseWriter, x *exchange.Exchange) {
	header := w.Header()
	for _, field := range x.Answer.Fields() {
		header.Add(field.Name, field.Value)
	}
	header.Set(requestIDHeader, x.ID)
	header.Set("X-Content-Type-Options", "nosniff")
}

// problemOf makes the answer of an error of a stream.
func (f *face) problemOf(a *sabir.Action, id string) func(err error) (int, []byte) {
	return func(err error) (int, []byte) {
		e := sabir.AsError(err)
		if a != nil {
			e = f.public(a, id, err)
		}
		p := newProblem(f.located(e), id)
		return p.Status, f.appendProblem(nil, p)
	}
}

// eventsPath is where events can be listened to.
const eventsPath = "/events"

func (f *face) listen(w http.ResponseWriter, r *http.Request, x *exchange.Exchange, to *target) {
	v := visit{Exchange: x, face: f, to: to}
	passed := 0
	if err := v.enter(to.steps, &passed); err != nil {
		v.fail(err)
		v.leave(to.steps[:passed])
		write(w, r, x)
		return
	}
	events, err := f.listening()
	if err != nil {
		v.fail(err)
		write(w, r, x)
		return
	}
	f.headers(w, x)
	f.streams.ServeEvents(w, r, events, stream.Call{Context: auth.Context(sabir.WithRequestID(r.Context(), x.ID), x), Problem: f.problemOf(nil, x.ID)})
}

// faces counts the faces of this process that let callers listen, since each takes events by a service of its own.
var faces atomic.Int64

// listening is the events that callers may listen to, which the node takes from the first of them on.
func (f *face) listening() (*stream.Events, error) {
	f.eventsLock.Lock()
	defer f.eventsLock.Unlock()
	if f.events != nil {
		return f.events, nil
	}
	events, err := stream.NewEvents(f.settings.events...)
	if err != nil {
		return nil, err
	}
	if err := f.node.Add(context.Background(), events.Service("web-events-"+itoa(int(faces.Add(1))), f.node.ID())); err != nil {
		return nil, err
	}
	f.events = events
	return events, nil
}
