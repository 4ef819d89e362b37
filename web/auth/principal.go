package auth

import (
	"context"
	"github.com/sabir-go/sabir/internal/principal"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/web/exchange"
)

func init() {
	principal.Filter = func(authenticators any, optional bool) exchange.Filter {
		return newGate(authenticators.([]Authenticator), optional).filter()
	}
	principal.Wanted = func(authenticators any, x *exchange.Exchange) string {
		return wanted(authenticators.([]Authenticator), x)
	}
	principal.Check = func(authenticators any) error { return problems(authenticators.([]Authenticator)) }
	principal.Inbound, principal.Context, principal.Until = inbound, contextOf, until
}

// systemScheme is the scheme of principals that [AsSystem] makes. No authenticator may use it.
const systemScheme = principal.SystemScheme

// Principal is an authenticated caller.
type Principal struct {
	// Subject identifies the caller: a user's id, the name of a service. It is never empty.
	Subject string `json:"sub"`
	// Roles are compared by Require.
	Roles []string `json:"roles,omitempty"`
	// Scheme is the name of the authenticator that found the principal: "jwt", "key", "basic", "session", "certificate". That of [AsSystem] is "system",
	// which no authenticator may use.
	Scheme string `json:"scheme,omitempty"`
	// Claims holds further facts, such as the claims of a token. It travels with every call, so keep it small.
	Claims map[string]any `json:"claims,omitempty"`

	// Expires is the end of the credentials that the principal was found by: a token's exp, a certificate's NotAfter, the end of
	// a session; zero for never. Requests after it are refused, and streams, events and WebSockets end then. An authenticator of
	// your own sets it; it does not travel with calls.
	Expires time.Time `json:"-"`

	leeway  time.Duration // by which clocks may differ from that of the authenticator that set Expires
	session *sessionOf    // nil for none
	carried *carried      // of one that is on its way; never copied to a user
}

// carried is a principal in the form in which it travels.
type carried struct {
	text     string
	metadata map[string]string // of text alone
}

// Claim is the claim of that name, with dots for claims in claims ("realm_access.realm"); nil for one that is not there. A claim whose whole
// name has dots, such as a URL, comes first.
func (p Principal) Claim(name string) any { return claimAt(p.Claims, name) }

// HasAny reports whether the principal has one of the roles. The system has every role.
func (p Principal) HasAny(roles ...string) bool {
	if p.Scheme == systemScheme {
		return true
	}
	for _, role := range roles {
		if slices.Contains(p.Roles, role) {
			return true
		}
	}
	return false
}

// FromContext is the principal that a handler works for: of its own call, or of the one that it is nested in. The roles and the
// claims are shared with other calls and must not be changed.
//
// On the node where the call came in it takes some ten nanoseconds; on other nodes the principal is read from the call's
// metadata, once for each [Require] around the handler or each From.
func FromContext(ctx context.Context) (Principal, bool) {
	p, _ := principalOf(ctx)
	if p == nil {
		return Principal{}, false
	}
	return p.plain(), true
}

// plain is a copy for the application, which may change it: it has no form to travel in.
func (p *Principal) plain() Principal {
	c := *p
	c.carried = nil
	return c
}

// principalOf finds the principal; nil for none. It goes by the metadata, which nested calls and other nodes get too. A
// principal in the context is only its decoded form; decoded reports that the metadata had to be decoded.
func principalOf(ctx context.Context) (p *Principal, decoded bool) {
	text := sabir.InfoFromContext(ctx).Metadata[principal.MetadataKey]
	if text == "" {
		return nil, false
	}
	if p, ok := ctx.Value(principalKey{}).(*Principal); ok && p.carried.text == text {
		return p, false
	}
	p = &Principal{}
	if err := json.Codec.Decode([]byte(text), p); err != nil || p.Subject == "" {
		return nil, false // none rather than an unknown one
	}
	p.carried = &carried{text: text}
	return p, true
}

type principalKey struct{}

// As returns a context whose calls are made for the principal, here and on other nodes: for tests, and for a node that
// works for a principal other than the caller's. A principal without a subject counts as none, and no guarded action works for
// it. It panics when the claims have no JSON form.
func As(ctx context.Context, p Principal) context.Context {
	if p.Subject == "" {
		return sabir.WithMetadata(ctx, principal.MetadataKey, "")
	}
	ready, err := p.ready()
	if err != nil {
		panic("auth: As: the claims have no JSON form: " + err.Error())
	}
	ctx = context.WithValue(ctx, principalKey{}, ready)
	return sabir.WithMetadata(ctx, principal.MetadataKey, ready.carried.text)
}

// AsSystem returns a context whose calls pass every Require, here and on other nodes, for work that a node does by itself and
// not for a caller. The name identifies that work in logs: "nightly-backup".
func AsSystem(ctx context.Context, name string) context.Context {
	return As(ctx, Principal{Subject: name, Scheme: systemScheme})
}

// ready is a copy that can travel.
func (p *Principal) ready() (*Principal, error) {
	c := *p
	text, err := json.Codec.Append(nil, &c)
	if err != nil {
		return nil, err
	}
	c.carried = &carried{text: string(text), metadata: map[string]string{principal.MetadataKey: string(text)}}
	return &c, nil
}

// caller is x's principal in the form in which it travels; nil for none.
func caller(x *exchange.Exchange) *Principal {
	p, ok := x.Principal.(*Principal)
	if !ok || p == nil || p.Subject == "" {
		return nil
	}
	if p.carried != nil {
		return p
	}
	p, err := p.ready() // set by something else than this package
	if err != nil {
		return nil
	}
	return p
}

// inbound is principal.Inbound.
func inbound(x *exchange.Exchange, ctx context.Context, metadata map[string]string) (context.Context, map[string]string) {
	p := caller(x)
	switch {
	case p == nil:
		delete(metadata, principal.MetadataKey)
		return ctx, metadata
	case metadata == nil:
		metadata = p.carried.metadata
	default:
		metadata[principal.MetadataKey] = p.carried.text
	}
	return context.WithValue(ctx, principalKey{}, p), metadata
}

// contextOf is inbound for a server that calls or opens streams with a context: ctx for x's caller, or without one.
func contextOf(ctx context.Context, x *exchange.Exchange) context.Context {
	p := caller(x)
	if p == nil {
		if sabir.InfoFromContext(ctx).Metadata[principal.MetadataKey] == "" {
			return ctx
		}
		return sabir.WithMetadata(ctx, principal.MetadataKey, "")
	}
	ctx = context.WithValue(ctx, principalKey{}, p)
	return sabir.WithMetadata(ctx, principal.MetadataKey, p.carried.text)
}
