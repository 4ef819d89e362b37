package rpc

import (
	"context"
	"errors"
	"io"
	"net"
	"net/http"
	"strings"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	said "github.com/sabir-go/sabir/internal/answer"
	"github.com/sabir-go/sabir/internal/errname"
)

// Send implements sabir.ForeignNode: it makes a call.
func (p *peer) Send(ctx context.Context, r *sabir.Request) error {
	action := r.Action().Name
	m := p.methods.Load().byAction[action]
	switch {
	case m == nil:
		return sabir.Errorf(sabir.CodeNotFound, sabir.ErrActionNotFound.Name, "the server %s has no %s any more", p.id, action).AsRetryable()
	case m.isStream():
		return sabir.Errorf(sabir.CodeInvalidArgument, errname.StreamWanted, "%s is a stream: use OpenStream or CallStream", action)
	}
	data, err := r.AppendInput(m.in, nil)
	if err != nil {
		return err
	}
	request := connect.NewRequest(&frame{data})
	p.addHeaders(ctx, request.Header())
	response, err := m.client.CallUnary(ctx, request)
	if err != nil {
		err = saidStatus(err)
		if failed, ok := errors.AsType[*connect.Error](err); ok && connect.IsWireError(err) {
			giveAnswer(ctx, nil, failed.Meta())
		}
		return p.failure(ctx, action, err)
	}
	giveAnswer(ctx, response.Header(), response.Trailer())
	return r.DecodeOutput(m.out, response.Msg.data)
}

// Emit implements sabir.ForeignNode. The protocols have no events, so none is offered.
func (p *peer) Emit(context.Context, string, *sabir.Request) error {
	return sabir.Errorf(sabir.CodeUnimplemented, sabir.ErrActionNotFound.Name, "the server %s takes no events", p.id)
}

// addHeaders adds what the server is configured to get, and the metadata of the call.
func (p *peer) addHeaders(ctx context.Context, h http.Header) {
	for name, value := range sabir.InfoFromContext(ctx).Metadata {
		if !isReserved(strings.ToLower(name)) && said.CheckHeader(name, value) == nil {
			h.Set(name, value)
		}
	}
	if id := sabir.InfoFromContext(ctx).RequestID; id != "" {
		h.Set("X-Request-Id", id)
	}
	for name, values := range p.config.Header {
		h[http.CanonicalHeaderKey(name)] = values
	}
}

// failure is an error of the server, or of the way to it, as callers have it.
func (p *peer) failure(ctx context.Context, action string, err error) *sabir.Error {
	err = saidStatus(err)
	var network *net.OpError
	errors.As(err, &network)
	_, isCut := errors.AsType[*cutError](err)
	other, isOther := errors.AsType[*otherAnswer](err)
	code := connect.CodeOf(err)
	switch {
	case connect.IsWireError(err):
		e := fromConnect(err)
		e.Node = p.id
		if e.Code == sabir.CodeUnimplemented {
			p.askForLook() // it may have been replaced by one that has less
		}
		return e
	case ctx.Err() != nil:
		return sabir.AsError(ctx.Err())
	case isOther:
		return sabir.Errorf(sabir.Code(code), sabir.Code(code).String(), "something else than the server %s answered %s, with the status %s of HTTP", p.id, action, other.status)
	case network != nil && network.Op == "dial":
		p.askForLook()
		return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrServiceUnavailable.Name, "%s cannot be called: the server %s cannot be reached: %w", action, p.id, network).AsRetryable()
	case network != nil, isCut, code == connect.CodeUnavailable, code == connect.CodeCanceled: // which a reset is to connect's client
		p.askForLook()
		return sabir.Errorf(sabir.CodeUnavailable, sabir.ErrLinkLost.Name, "the connection to %s was lost before %s answered: %w", p.id, action, err)
	case code == connect.CodeInvalidArgument: // connect's client has decompressed an answer, and the caller's input is not at fault
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the answer of %s from the server %s cannot be read: %w", action, p.id, err)
	}
	e := fromConnect(err)
	e.Node = p.id
	return e
}

// answers is the transport of a server. Of an answer that has begun, connect's client takes a connection that ends for one more mistake of the
// server's: its errors of reading are marked here. So are answers that are not of the protocol, such as those of a proxy whose server is not
// there: to connect's client a connection that is lost and the status 503 are one.
type answers struct {
	*http.Transport
	protocol string
}

func (a answers) RoundTrip(r *http.Request) (*http.Response, error) {
	response, err := a.Transport.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	if isError := a.protocol == overConnect && strings.HasPrefix(response.Header.Get("Content-Type"), "application/json"); response.StatusCode != http.StatusOK && !isError {
		_ = response.Body.Close() // it is a page for people
		return nil, connect.NewError(codeOfStatus(response.StatusCode), &otherAnswer{response.Status})
	}
	response.Body = answerBody{response.Body}
	return response, nil
}

// otherAnswer is an answer that is not of the protocol.
type otherAnswer struct{ status string }

func (e *otherAnswer) Error() string { return "the status of HTTP is " + e.status }

// codeOfStatus is the code that gRPC has for such an answer.
func codeOfStatus(status int) connect.Code {
	switch status {
	case http.StatusBadRequest:
		return connect.CodeInternal
	case http.StatusUnauthorized:
		return connect.CodeUnauthenticated
	case http.StatusForbidden:
		return connect.CodePermissionDenied
	case http.StatusNotFound:
		return connect.CodeUnimplemented
	case http.StatusTooManyRequests, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout:
		return connect.CodeUnavailable
	}
	return connect.CodeUnknown
}

type answerBody struct{ io.ReadCloser }

func (b answerBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if err != nil && err != io.EOF {
		err = &cutError{err}
	}
	return n, err
}

// cutError is an error of reading an answer.
type cutError struct{ error }

func (e *cutError) Unwrap() error { return e.error }

func (p *peer) askForLook() {
	if p.lost != nil {
		p.lost()
	}
	select {
	case p.looks <- struct{}{}:
	default: // one is asked for
	}
}
