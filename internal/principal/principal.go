// Package principal connects servers to package auth: auth sets these functions, so that what only servers call is no part of
// the API that applications see.
package principal

import (
	"context"

	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/web/exchange"
)

// MetadataKey is the metadata under which a principal travels with a call, as JSON. Servers drop or refuse it when it comes
// from outside, such as in a header X-Meta-Sabir.Principal.
const MetadataKey = identity.PrincipalKey

// SystemScheme is the scheme of the principals that auth.AsSystem makes.
const SystemScheme = "system"

type annotation string

// ScopesKey is the key under which auth.Require notes its roles on an action, a []string: empty for any caller who is signed in.
const ScopesKey annotation = "auth.scopes"

// An init function of package auth sets these; they are only read afterwards.
var (
	// Filter asks authenticators, a []auth.Authenticator, in their order, until one knows the caller. Wrong credentials end the
	// request with status 401, and so does it without credentials unless optional.
	Filter func(authenticators any, optional bool) exchange.Filter
	// Check returns what is wrong with the settings of authenticators, a []auth.Authenticator; nil for nothing.
	Check func(authenticators any) error
	// Wanted names what the caller of x can send to be signed in by one of the authenticators, a []auth.Authenticator: `the header X-Api-Key`.
	Wanted func(authenticators any, x *exchange.Exchange) string
	// Inbound makes a server's call one of x's caller: it returns the context and the metadata for it, in the map that it was given
	// if there is one. Without a caller it removes what would name one. A map of its own is shared with other calls. It takes values,
	// not a pointer to what holds them: through a function variable that would move to the heap for each call.
	Inbound func(x *exchange.Exchange, ctx context.Context, metadata map[string]string) (context.Context, map[string]string)
	// Context is Inbound for a server that calls or opens streams with a context.
	Context func(ctx context.Context, x *exchange.Exchange) context.Context
	// Until calls end at most once, on another goroutine, when the credentials of x's caller end. stop must be called.
	Until func(x *exchange.Exchange, end func(error)) (stop func())
)
