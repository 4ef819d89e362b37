package auth

import (
	"context"
	"errors"
	"github.com/sabir-go/sabir/internal/principal"
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
)

// Require lets only principals call that have one of the roles; without roles, all that are signed in. Others get
// ErrNotSignedIn or ErrNotAllowed. It guards an action, a service's or all of a node's, calls and streams alike, whichever
// way they come: see the package's comment for calls of nodes. Put it before policy.Cache, whose answers would go past it.
//
// On an action or a service it runs after the input was validated; on a node, before.
func Require(roles ...string) sabir.Middleware {
	roles = slices.Clone(roles)
	check := func(_ context.Context, p *Principal, _ *sabir.Request) error {
		if len(roles) == 0 || p.HasAny(roles...) {
			return nil
		}
		return ErrNotAllowed
	}
	return guard("auth.Require", roles, check, func(a *sabir.Action) {
		if slices.Contains(roles, "") {
			a.Reject("auth.Require was given an empty role; without roles it asks for no more than to be signed in")
		}
	})
}

// RequireFunc lets only principals call for which the function returns nil. in points to the action's input; it is nil for
// streams. Its error is the caller's if it is a *sabir.Error; of another, callers only get ErrNotAllowed. It is not asked
// about the system.
//
//	ownOnly := auth.RequireFunc(func(ctx context.Context, p auth.Principal, in any) error {
//		if in, ok := in.(*GetUser); ok && in.ID == p.Subject {
//			return nil
//		}
//		return auth.ErrNotAllowed
//	})
func RequireFunc(allow func(ctx context.Context, p Principal, in any) error) sabir.Middleware {
	check := func(ctx context.Context, p *Principal, r *sabir.Request) error {
		if p.Scheme == systemScheme {
			return nil
		}
		var in any
		if !r.Action().Stream {
			in = r.Input()
		}
		err := allow(ctx, p.plain(), in)
		if err == nil {
			return nil
		}
		if e, ok := errors.AsType[*sabir.Error](err); ok {
			return e
		}
		return because(ErrNotAllowed, err)
	}
	return guard("auth.RequireFunc", nil, check, func(a *sabir.Action) {
		if allow == nil {
			a.Reject("auth.RequireFunc was given nil")
		}
	})
}

func guard(name string, roles []string, check func(context.Context, *Principal, *sabir.Request) error, verify func(*sabir.Action)) sabir.Middleware {
	wrap := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		if strings.HasPrefix(a.Service, "$") && !a.Public() {
			return next // what nodes ask each other, without a principal
		}
		verify(a)
		if noted, _ := a.Annotation(principal.ScopesKey).([]string); len(noted) == 0 { // the innermost is the most specific
			a.Annotate(principal.ScopesKey, append([]string{}, roles...))
		}
		return func(ctx context.Context, r *sabir.Request) error {
			p, decoded := principalOf(ctx)
			if p == nil {
				return ErrNotSignedIn
			}
			if err := check(ctx, p, r); err != nil {
				return err
			}
			if decoded {
				ctx = context.WithValue(ctx, principalKey{}, p)
			}
			return next(ctx, r)
		}
	}
	return sabir.Middleware{Name: name, Local: wrap, Stream: wrap}
}
