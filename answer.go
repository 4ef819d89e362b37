package sabir

import (
	"context"

	"github.com/sabir-go/sabir/gateway"
)

// SetHeader sets a header of the answer to the call from outside that ctx belongs to: metadata before the output, for callers over
// gRPC, Connect and gRPC-Web (package rpc). A name that ends in "-bin" has bytes in base64 as its value. Call it before the handler
// returns and, in a stream, before it sends its first value; later it has no effect. Where no caller could see it, as in a call of
// another node or in process, it does nothing. The error says why HTTP cannot carry it.
func SetHeader(ctx context.Context, name, value string) error {
	return setAnswer(ctx, name, value, gateway.Answer.SetHeader)
}

// SetTrailer is [SetHeader] for metadata behind the output, which a stream may set until its handler returns.
func SetTrailer(ctx context.Context, name, value string) error {
	return setAnswer(ctx, name, value, gateway.Answer.SetTrailer)
}

func setAnswer(ctx context.Context, name, value string, set func(a gateway.Answer, name, value string)) error {
	if err := gateway.CheckHeader(name, value); err != nil {
		return &Error{Code: CodeInternal, Name: nameBadOutput, Message: err.Error(), cause: err}
	}
	if a := gateway.AnswerFromContext(ctx); a != nil {
		set(a, name, value)
	}
	return nil
}
