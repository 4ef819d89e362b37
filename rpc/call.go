package rpc

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"sync"
	"time"

	"connectrpc.com/connect"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec"
	"github.com/sabir-go/sabir/internal/protocol"
	"github.com/sabir-go/sabir/internal/trailersonly"
)

// call is a request for an action, in the context of its handler.
type call struct {
	*protocol.Call
	control *http.ResponseController
	format  codec.Codec // of the messages
	grpc    bool        // gRPC or gRPC-Web, otherwise Connect
	http1   bool
	answer  answer
	only    *trailersonly.Writer // that the answer is written to; nil where it is not
}

type callKey struct{}

func callOf(ctx context.Context) *call { return ctx.Value(callKey{}).(*call) }

// serveUnary calls the action of the request.
func serveUnary(ctx context.Context, request *connect.Request[frame]) (*connect.Response[frame], error) {
	c := callOf(ctx)
	if c.http1 {
		// The deadline for the request must not end the call: the server reads on to notice when the caller goes.
		c.control.SetReadDeadline(time.Time{})
	}
	in := c.Inbound
	in.Context, in.Answer = ctx, &c.answer
	if deadline, ok := ctx.Deadline(); ok {
		in.Limit = min(in.Limit, max(time.Until(deadline), 1)) // 0 would be no limit
	}
	out, err := c.Action.Serve(in, c.format, nil, request.Msg.data)
	header, trailer := c.answer.close()
	if err != nil {
		failed := c.failure(ctx, err)
		merge(failed.Meta(), header)
		if !c.grpc {
			trailer = asConnectHeader(trailer)
		}
		merge(failed.Meta(), trailer)
		return nil, failed
	}
	response := connect.NewResponse(&frame{out})
	merge(response.Header(), header)
	merge(response.Trailer(), trailer)
	return response, nil
}

// errGone is the error of a call whose caller does not wait for it any more, which is no failure for the log.
var errGone = sabir.NewError(sabir.CodeCanceled, sabir.ErrCanceled.Name, "the caller has gone")

// failure is an error of the call as its caller has it. ctx is that of the request.
func (c *call) failure(ctx context.Context, err error) *connect.Error {
	if ctx.Err() == context.Canceled || err == errGone {
		return toConnect(errGone)
	}
	e := c.Public(err)
	if bad, ok := errors.AsType[*codec.Error](err); ok && c.grpc && bad != nil && e.Name == sabir.ErrBadInput.Name {
		undecodable := *e // which is a fault of the protocol to clients of gRPC, as it is to its own servers
		undecodable.Code = sabir.CodeInternal
		e = &undecodable
	}
	return toConnect(e)
}

// answer keeps the headers and trailers that a handler sets: see [gateway.Answer].
type answer struct {
	mu              sync.Mutex
	header, trailer http.Header
	begun, ended    bool
}

// SetHeader implements [gateway.Answer].
func (a *answer) SetHeader(name, value string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.begun && !a.ended {
		set(&a.header, name, value)
	}
	return nil
}

// SetStatus implements [gateway.Answer]: these protocols have codes instead.
func (a *answer) SetStatus(int) error { return nil }

// SetTrailer implements [gateway.Answer].
func (a *answer) SetTrailer(name, value string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if !a.ended {
		set(&a.trailer, name, value)
	}
	return nil
}

func set(h *http.Header, name, value string) {
	if isReserved(strings.ToLower(name)) {
		return // the protocol's own
	}
	if *h == nil {
		*h = make(http.Header)
	}
	h.Set(name, value)
}

// begin returns the headers, the first time; none can be set afterwards.
func (a *answer) begin() http.Header {
	a.mu.Lock()
	defer a.mu.Unlock()
	h := a.header
	a.begun, a.header = true, nil
	return h
}

// close returns what was set and not sent yet; nothing can be set afterwards.
func (a *answer) close() (header, trailer http.Header) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.ended = true
	return a.header, a.trailer
}

// asConnectHeader is a trailer as unary answers of Connect have it, which is a header. connect-go does this for answers, not for errors.
func asConnectHeader(trailer http.Header) http.Header {
	header := make(http.Header, len(trailer))
	for name, values := range trailer {
		header["Trailer-"+name] = values
	}
	return header
}

func merge(into, from http.Header) {
	for name, values := range from {
		into[name] = append(into[name], values...)
	}
}
