package policy

import (
	"context"
	"reflect"

	"github.com/sabir-go/sabir"
)

// FallbackOption is an option of [Fallback] and [FallbackValue].
type FallbackOption func(*fallback)

type fallback struct {
	settings
	when func(*sabir.Error) bool
}

// FallbackIf sets for which errors to fall back, instead of the default of [Fallback]. It is called by many goroutines at
// once.
func FallbackIf(when func(*sabir.Error) bool) FallbackOption {
	return func(c *fallback) {
		c.want(when != nil, "FallbackIf was given nil")
		c.when = when
	}
}

// Fallback answers in place of an action that failed: fn gets the input and the error, and its answer, or its error, is
// the caller's. In and Out must be the action's own types.
//
// It falls back when the service failed or rejected the call: codes Unknown, Internal, Unavailable, DeadlineExceeded,
// DataLoss, ResourceExhausted. It does not for what the caller must learn, such as a failed validation or NotFound, nor
// when the caller gave up. It cannot help once the caller's own deadline passed: the caller has its answer then. Put a
// shorter [Timeout] inside.
//
// The signal sabir.FellBack is sent when fn is called.
func Fallback[In, Out any](fn func(ctx context.Context, in In, err error) (Out, error), options ...FallbackOption) sabir.Middleware {
	c := newFallback("Fallback", options)
	c.want(fn != nil, "the function is nil")
	return c.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		fits(a, "Fallback takes", reflect.TypeFor[In](), a.In)
		fits(a, "Fallback answers with", reflect.TypeFor[Out](), a.Out)
		return c.around(a, next, func(ctx context.Context, r *sabir.Request, err error) error {
			in, ok := r.Input().(*In)
			out, fit := r.Output().(*Out)
			if !ok || !fit { // a call to another node, by a caller with other types: nothing to fall back on
				return err
			}
			answer, err := fn(ctx, *in, err)
			if err == nil {
				*out = answer
			}
			return err
		})
	})
}

// FallbackValue answers with value in place of an action that failed. Out must be the action's own type. What value
// points to is shared by all callers that get it, and must not be changed. For the rest see [Fallback].
func FallbackValue[Out any](value Out, options ...FallbackOption) sabir.Middleware {
	c := newFallback("FallbackValue", options)
	return c.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		fits(a, "FallbackValue answers with", reflect.TypeFor[Out](), a.Out)
		return c.around(a, next, func(_ context.Context, r *sabir.Request, err error) error {
			out, fit := r.Output().(*Out)
			if !fit {
				return err
			}
			*out = value
			return nil
		})
	})
}

func newFallback(name string, options []FallbackOption) *fallback {
	c := &fallback{settings: settings{name: name}, when: helps}
	for _, o := range options {
		o(c)
	}
	return c
}

func helps(e *sabir.Error) bool { return isFailure(e) || e.Code == sabir.CodeResourceExhausted }

// fits refuses an action of other types. Those of another node's action are not known.
func fits(a *sabir.Action, what string, got, want reflect.Type) {
	if want != nil && got != want {
		a.Refuse("policy.%s %v, %s has %v", what, got, a.Name, want)
	}
}

func (c *fallback) around(a *sabir.Action, next sabir.Handler, instead func(context.Context, *sabir.Request, error) error) sabir.Handler {
	return func(ctx context.Context, r *sabir.Request) error {
		err := next(ctx, r)
		if err == nil {
			return nil
		}
		e := sabir.AsError(err)
		if !c.when(e) {
			return err
		}
		a.Signal(sabir.FellBack)
		return instead(ctx, r, e)
	}
}
