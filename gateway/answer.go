package gateway

import (
	"context"
	"fmt"
	"strings"
)

// Answer takes what a handler says to its caller beside its output: see sabir.SetHeader. A [Gateway] puts one into [Inbound].Context
// by [WithAnswer]. Its methods may be called by several goroutines, and also after the call has ended, when they do nothing.
type Answer interface {
	// SetHeader sets a header, which goes before the output.
	SetHeader(name, value string)
	// SetTrailer sets a trailer, which goes behind the output. A protocol without trailers sends it as a header or leaves it out.
	SetTrailer(name, value string)
}

type answerKey struct{}

// WithAnswer returns a context whose handlers' headers and trailers a takes.
func WithAnswer(ctx context.Context, a Answer) context.Context {
	return context.WithValue(ctx, answerKey{}, a)
}

// AnswerFromContext is the answer of [WithAnswer]; nil for none.
func AnswerFromContext(ctx context.Context) Answer {
	a, _ := ctx.Value(answerKey{}).(Answer)
	return a
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
