package gateway

import (
	"context"

	"github.com/sabir-go/sabir/internal/answer"
)

// Answer takes what a handler says to its caller beside its output: see sabir.Answer. A [Gateway] sets [Inbound].Answer for a call, which
// gets everything at the call's end, on the goroutine of ServeJSON or Serve, whether it succeeded or not. For a stream it puts one into the
// context by [WithAnswer]; the methods of that are called as the handler says it, perhaps by several goroutines, and also after
// the stream has ended, when they do nothing.
type Answer interface {
	// SetStatus sets the status of HTTP that the handler chose. A protocol without it does nothing.
	SetStatus(status int) error
	// SetHeader sets a header, which goes before the output. The error says why it cannot be sent.
	SetHeader(name, value string) error
	// SetTrailer sets a trailer, which goes behind the output. A protocol without trailers sends it as a header or leaves it out.
	SetTrailer(name, value string) error
}

// WithAnswer returns a context whose handlers' headers and trailers a takes. A handler that calls with it gets those of handlers on its own
// node and of foreign servers.
func WithAnswer(ctx context.Context, a Answer) context.Context {
	return context.WithValue(ctx, answer.Key{}, &answer.Given{Taker: a})
}
