package web

import (
	"errors"
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/isolate"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/internal/protocol"
	"github.com/sabir-go/sabir/web/exchange"
)

// addProtocol adds the addresses that a protocol gives to actions: below the prefixes of their groups, and without a prefix for the
// first of these, since clients of gRPC have none.
func (t *table) addProtocol(f *server, p protocol.Protocol, offered []*sabir.Action) error {
	var errs []error
	for a, path := range p.Offer(f.node, offered) {
		for i, d := range f.groupsOf(a) {
			wrapped, err := a.With(d.middlewares...)
			if err != nil {
				errs = append(errs, err)
				continue
			}
			to := &target{routeGroup: d, path: d.prefix + path, action: wrapped, chain: d.chain, needsKeep: d.needsKeep, limit: d.timeout, protocol: p}
			if d.bodyGiven {
				to.body = d.body
			}
			t.protocols[to.path] = to
			if i == 0 {
				t.protocols[path] = to
			}
		}
	}
	return errors.Join(errs...)
}

// serveProtocol answers a request for an action in another protocol. It returns false where the request is for none.
func (s *server) serveProtocol(w http.ResponseWriter, r *http.Request, x *exchange.Exchange) bool {
	if len(s.settings.protocols) == 0 {
		return false
	}
	to := s.tables.get().protocols[x.Path]
	if to == nil {
		return false
	}
	x.Route = to
	v := requestContext{Exchange: x, server: s, to: to, chain: to.chain}
	answer := &responseWriter{w: w}
	letIn := false
	// One goroutine for both, as a goroutine costs more than most filters.
	run := func() error {
		if err := v.runBefore(); err != nil {
			return err
		}
		call, err := v.protocolCall(r)
		if err != nil {
			return err
		}
		letIn = true
		s.headers(w, x)
		s.inFlight.Add(1)
		defer s.inFlight.Add(-1)
		to.protocol.Serve(answer.writer(), r, call)
		return nil
	}
	finish := func(err error) {
		switch {
		case err == nil:
		case !letIn:
			s.refuse(w, r, &v, to.protocol, err)
		case errors.Is(err, http.ErrAbortHandler) || answer.started:
			panic(http.ErrAbortHandler) // nothing else shows that this is not the whole of the answer
		default:
			to.protocol.Refuse(w, r, v.publicFailure(err))
		}
	}
	if r.ProtoMajor == 2 { // net/http has a goroutine for each of its streams, which ends with an error of the stream where the code ends it
		isolate.Run(run, finish)
	} else {
		finish(isolate.Do(run))
	}
	return true
}

// refuseUnknown answers a request of a protocol for an address that does not exist. It returns false where it is of none.
func (s *server) refuseUnknown(w http.ResponseWriter, r *http.Request, x *exchange.Exchange) bool {
	p := s.spokenIn(r)
	if p == nil {
		return false
	}
	v := requestContext{Exchange: x, server: s, to: &target{routeGroup: &s.settings.root, path: x.Path}, chain: s.groupOf(x.Path).chain}
	err := v.pass(func() error {
		return sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrActionNotFound.Name, "nothing is called %.200s here", x.Path)
	})
	s.refuse(w, r, &v, p, err)
	return true
}

// spokenIn is the protocol of a request that is for no action; nil for none.
func (s *server) spokenIn(r *http.Request) protocol.Protocol {
	for _, p := range s.settings.protocols {
		if p.Speaks(r) {
			return p
		}
	}
	return nil
}

// refuse answers with an error, in the protocol's form, after the filters that ran.
func (s *server) refuse(w http.ResponseWriter, r *http.Request, v *requestContext, p protocol.Protocol, err error) {
	e := v.publicFailure(err)
	v.Status, v.Out = e.HTTPStatus(), v.Out[:0]
	isolate.Do(func() error { v.runAfter(); return nil })
	s.headers(w, v.Exchange)
	doNotWaitForBody(w, r)
	p.Refuse(w, r, e)
}

// publicFailure is an error of a filter, or of the code of a protocol, as callers may see it.
func (rc *requestContext) publicFailure(err error) *sabir.Error {
	if failed := rc.panicError(err, rc.logged()); failed != nil {
		err = failed
	}
	return rc.located(err)
}

// protocolCall describes the call to the protocol.
func (rc *requestContext) protocolCall(r *http.Request) (*protocol.Call, error) {
	call := &protocol.Call{Action: rc.to.action, Body: rc.to.body, Until: rc.watchCredentials,
		Public: func(err error) *sabir.Error { return rc.located(rc.publicError(rc.to.action, rc.logged(), err)) }}
	in := &call.Inbound
	var err error
	if in.Metadata, err = metadata(rc.Exchange); err != nil {
		return nil, err
	}
	in.RequestID, in.Limit, in.Strict = rc.ID, rc.to.limit, rc.to.routeGroup.strict
	in.Context, in.Metadata = principal.Inbound(rc.Exchange, r.Context(), in.Metadata)
	return call, nil
}
