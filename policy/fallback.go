package policy

import (
	"cmp"
	"context"
	"reflect"
	"slices"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
)

// Fallback answers in place of an action that failed. [FallbackFunc] and [FallbackValue] make it.
//
// It falls back when the service failed or rejected the call: codes Unknown, Internal, Unavailable, DeadlineExceeded,
// DataLoss, ResourceExhausted. It does not for what the caller must learn, such as a failed validation or NotFound, nor
// when the caller gave up. It cannot help once the caller's own deadline passed: the caller has its answer then. Put a
// shorter [Timeout] inside.
//
// The signal "fallback" is sent for each call that it answers.
type Fallback struct {
	settings settings
	when     func(*sabir.Error) bool // nil for helps
	in, out  reflect.Type            // nil in: takes any input
	instead  func(context.Context, *sabir.Request, error) error
}

// FallbackFunc calls fn with the input and the error of a failed call. Its answer, or its error, is
// the caller's. In and Out must be the action's own types.
func FallbackFunc[In, Out any](fn func(ctx context.Context, in In, err error) (Out, error)) Fallback {
	f := Fallback{settings: settings{name: "FallbackFunc"}, in: reflect.TypeFor[In](), out: reflect.TypeFor[Out]()}
	f.settings.want(fn != nil, "the function is nil")
	f.instead = func(ctx context.Context, r *sabir.Request, err error) error {
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
	}
	return f
}

// FallbackValue answers with value. Out must be the action's own type. What value
// points to is shared by all callers that get it, and must not be changed.
func FallbackValue[Out any](value Out) Fallback {
	f := Fallback{settings: settings{name: "FallbackValue"}, out: reflect.TypeFor[Out]()}
	f.instead = func(_ context.Context, r *sabir.Request, err error) error {
		out, fit := r.Output().(*Out)
		if !fit {
			return err
		}
		*out = value
		return nil
	}
	return f
}

// If returns a Fallback for the errors that when accepts, instead of the default. Many goroutines call when at once.
func (f Fallback) If(when func(*sabir.Error) bool) Fallback {
	f.settings.problems = slices.Clone(f.settings.problems)
	f.settings.want(when != nil, "If was given nil")
	f.when = when
	return f
}

// Middleware makes the middleware.
func (f Fallback) Middleware() sabir.Middleware {
	f.settings.name = cmp.Or(f.settings.name, "Fallback")
	f.settings.want(f.out != nil, "it is empty: make it by FallbackFunc or FallbackValue")
	if f.when == nil {
		f.when = helps
	}
	return f.settings.middleware(func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if f.in != nil {
			fits(a, f.settings.name+" takes", f.in, a.In)
		}
		fits(a, f.settings.name+" answers with", f.out, a.Out)
		return func(ctx context.Context, r *sabir.Request) error {
			err := next(ctx, r)
			if err == nil {
				return nil
			}
			e := sabir.AsError(err)
			if !f.when(e) {
				return err
			}
			a.Signal(signal.FellBack)
			return f.instead(ctx, r, e)
		}
	})
}

func helps(e *sabir.Error) bool { return isFailure(e) || e.Code == sabir.CodeResourceExhausted }

// fits refuses an action of other types. Those of another node's action are not known.
func fits(a *sabir.Action, what string, got, want reflect.Type) {
	if want != nil && got != want {
		a.Reject("policy.%s %v, %s has %v", what, got, a.Name, want)
	}
}
