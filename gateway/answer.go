package gateway

import (
	"context"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/internal/answer"
)

// Answer takes what a handler says to its caller beside its output: see sabir.SetHeader. A [Gateway] sets [Inbound].Answer for a call, which
// gets everything at the call's end, on the goroutine of ServeJSON or Serve, whether it succeeded or not. For a stream it puts one into the
// context by [WithAnswer]; the methods of that are called as the handler says it, perhaps by several goroutines, and also after
// the stream has ended, when they do nothing.
type Answer interface {
	// SetStatus sets the status of HTTP that the handler chose: see sabir.SetStatus. A protocol without it does nothing.
	SetStatus(status int)
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

// CheckHeader returns what is wrong with the name of a header, or with its value, as HTTP has them (RFC 9110, section 5).
func CheckHeader(name, value string) error {
	bad := func(r rune) bool {
		return r <= ' ' || r >= 0x7f || strings.ContainsRune(`()<>@,;:\"/[]?={}`, r)
	}
	if name == "" || strings.ContainsFunc(name, bad) {
		return fmt.Errorf("%.100q is no name of a header", name)
	}
	if strings.ContainsFunc(value, func(r rune) bool { return r < ' ' && r != '\t' || r >= 0x7f }) || strings.Trim(value, " \t") != value {
		return fmt.Errorf("the header %.100q has a value with a control character, an outer space or a character outside ASCII, which HTTP cannot carry", name)
	}
	return nil
}
