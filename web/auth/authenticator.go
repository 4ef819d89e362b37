package auth

import (
	"context"
	"errors"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// Authenticator identifies the caller, by one kind of credentials. It is used by many goroutines at once.
type Authenticator interface {
	// Name is the name of the kind, for documents and as the principal's scheme if that is empty: "jwt".
	Name() string
	// Scheme describes the credentials for documents.
	Scheme() exchange.Scheme
	// Authenticate reads the credentials of a request. It returns nil, nil where there are none of its kind, and may set
	// headers of the answer. An error is the answer: a *sabir.Error as it is, another one as ErrBadCredentials without its
	// text. The principal is shared from then on and must not be changed; strings of the exchange must be copied into it.
	Authenticate(x *exchange.Exchange) (*Principal, error)
}

type gate struct {
	authenticators []Authenticator
	optional       bool
	problem        error
}

func newGate(authenticators []Authenticator, optional bool) *gate {
	g := &gate{authenticators: authenticators, optional: optional, problem: problems(authenticators)}
	if len(authenticators) == 0 && !optional {
		g.problem = errors.New("there is no authenticator: nobody could call")
	}
	return g
}

// problems returns what is wrong with the settings of authenticators; nil for nothing.
func problems(authenticators []Authenticator) error {
	var errs []error
	for _, a := range authenticators {
		if checked, ok := a.(interface{ problem() error }); ok {
			errs = append(errs, checked.problem())
		}
	}
	return errors.Join(errs...)
}

// opened keeps what an authenticator makes of its settings when it is first used. The zero value is ready.
type opened[T any] struct{ made atomic.Value }

// opening has each authenticator made once.
var opening sync.Mutex

func (o *opened[T]) get(open func() *T) *T {
	if made, ok := o.made.Load().(*T); ok {
		return made
	}
	opening.Lock()
	defer opening.Unlock()
	made, ok := o.made.Load().(*T)
	if !ok {
		made = open()
		o.made.Store(made)
	}
	return made
}

func (g *gate) filter() exchange.Filter {
	return exchange.Filter{Name: "auth", Before: g.before, After: g.after}
}

func (g *gate) before(x *exchange.Exchange) error {
	if g.problem != nil {
		return because(errAuthMisconfigured, g.problem)
	}
	x.Principal = nil
	for i, a := range g.authenticators {
		p, err := a.Authenticate(x)
		if err != nil {
			return g.refuse(x, i, err)
		}
		if p != nil {
			if err := admit(x, a, p); err != nil {
				return g.refuse(x, i, err)
			}
			return nil
		}
	}
	switch {
	case x.Header.Has("Authorization"):
		return g.refuse(x, nobody, badCredentials(g.unread(x)))
	case g.optional:
		return nil
	}
	return g.refuse(x, nobody, sabir.NewError(ErrNotSignedIn.Code, ErrNotSignedIn.Name, ErrNotSignedIn.Message+": send "+wanted(g.authenticators, x)))
}

// schemeFor describes the credentials that a caller is to send: the cookie of a session has another name where there is no TLS.
func schemeFor(a Authenticator, x *exchange.Exchange) exchange.Scheme {
	scheme := a.Scheme()
	if s, ok := a.(interface { // *Sessions, which would be linked into each program by its name
		cookieName(*exchange.Exchange) string
	}); ok {
		scheme.Name = s.cookieName(x)
	}
	return scheme
}

// wanted names what callers can send, for those who sent nothing that is read here.
func wanted(authenticators []Authenticator, x *exchange.Exchange) string {
	var ways []string
	for _, a := range authenticators {
		ways = append(ways, credentialsOf(schemeFor(a, x)))
	}
	return strings.Join(ways, ", or ")
}

// unread tells why nothing here reads the Authorization header of a request. It repeats nothing of the header, which may be a secret in the wrong
// place.
func (g *gate) unread(x *exchange.Exchange) string {
	token := func(a Authenticator) bool { return a.Scheme().Format == "JWT" }
	if _, bearer, _ := authorization(x, "Bearer"); bearer && slices.ContainsFunc(g.authenticators, token) {
		return "the bearer token that came is no JSON web token: such a one has three parts with dots between them"
	}
	return "nothing here reads the Authorization header that came: send " + wanted(g.authenticators, x)
}

// credentialsOf describes for a caller what a scheme has them send.
func credentialsOf(s exchange.Scheme) string {
	switch {
	case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
		return `the header "Authorization: Basic <name:password in base64>"`
	case s.Type == "http" && strings.EqualFold(s.Scheme, "bearer"):
		return `the header "Authorization: Bearer <token>"`
	case s.Type == "apiKey" && s.In == "cookie":
		return "the cookie " + s.Name + " of a session"
	case s.Type == "apiKey":
		return "the header " + s.Name
	}
	return "a client certificate"
}

func admit(x *exchange.Exchange, a Authenticator, p *Principal) error {
	if p.carried == nil {
		c := *p
		if c.Scheme == "" {
			c.Scheme = a.Name()
		}
		if c.Subject == "" || c.Scheme == systemScheme {
			return sabir.NewError(sabir.CodeInternal, errAuthMisconfigured.Name, "the authenticator "+a.Name()+" found a principal without a subject, or of the reserved scheme")
		}
		ready, err := c.ready()
		if err != nil {
			return because(errAuthMisconfigured, err)
		}
		p = ready
	}
	if !p.Expires.IsZero() && !time.Now().Before(p.Expires.Add(p.leeway)) {
		return badCredentials("the credentials have expired")
	}
	x.Principal = p
	return nil
}

// nobody is the place of the authenticator where none is at fault.
const nobody = -1

// refuse is the answer to wrong or missing credentials; by is the place of the authenticator that found them wrong.
func (g *gate) refuse(x *exchange.Exchange, by int, err error) error {
	e, ok := errors.AsType[*sabir.Error](err)
	switch {
	case ok:
	case errors.Is(err, context.Canceled), errors.Is(err, context.DeadlineExceeded):
		e = sabir.AsError(err)
	default:
		e = because(ErrBadCredentials, err)
	}
	if e.Code == sabir.CodeUnauthenticated {
		g.challenge(x, by)
	}
	return e
}

// challenge describes how to sign in (RFC 9110, section 11.6.1); to a bearer of a bad token also that it is bad (RFC 6750,
// section 3).
func (g *gate) challenge(x *exchange.Exchange, bad int) {
	for i, a := range g.authenticators {
		text := challenge(schemeFor(a, x))
		if i == bad && strings.HasPrefix(text, "Bearer") {
			text += `, error="invalid_token"`
		}
		x.Answer.Add("WWW-Authenticate", text)
	}
}

// after describes how to sign in where an action demanded it.
func (g *gate) after(x *exchange.Exchange) {
	if x.Status == 401 && !x.Answer.Has("WWW-Authenticate") {
		g.challenge(x, nobody)
	}
}

// challenge is a scheme as a challenge. What is sent in a header or cookie of its own has no registered name
// (RFC 9110, section 16.4), but an answer with 401 must have a challenge.
func challenge(s exchange.Scheme) string {
	switch {
	case s.Type == "http" && strings.EqualFold(s.Scheme, "basic"):
		return `Basic realm="sabir", charset="UTF-8"`
	case s.Type == "http" && strings.EqualFold(s.Scheme, "bearer"):
		return `Bearer realm="sabir"`
	case s.Type == "apiKey" && s.In == "cookie":
		return `Cookie realm="sabir", name="` + s.Name + `"`
	case s.Type == "apiKey":
		return `ApiKey realm="sabir", in="` + s.In + `", name="` + s.Name + `"`
	}
	return `Certificate realm="sabir"`
}

// authorization is the credentials of the Authorization header, if that is there once and is of the scheme, which is
// compared without its case (RFC 9110, section 11.1).
func authorization(x *exchange.Exchange, scheme string) (credentials string, ok bool, err error) {
	line, ok, err := only(x, "Authorization")
	if err != nil || !ok {
		return "", false, err
	}
	if strings.ContainsAny(line, "\r\n") { // which decoders of base64 pass over
		return "", false, badCredentials("the Authorization header has a line break")
	}
	given, rest, _ := strings.Cut(line, " ")
	if !strings.EqualFold(given, scheme) {
		return "", false, nil
	}
	return strings.Trim(rest, " "), true, nil
}

// only is the value of a header that is there at most once.
func only(x *exchange.Exchange, name string) (value string, ok bool, err error) {
	for _, field := range x.Header.Fields() {
		if len(field.Name) != len(name) || !strings.EqualFold(field.Name, name) {
			continue
		}
		if ok {
			return "", false, badCredentials("there is more than one " + name + " header")
		}
		value, ok = field.Value, true
	}
	return value, ok, nil
}
