package auth

import (
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/exchange"
)

// What servers call through internal/principal, for the tests.
const (
	MetadataKey = principal.MetadataKey
	ScopesKey   = principal.ScopesKey
)

var (
	Inbound = inbound
	Context = contextOf
)

func Check(authenticators ...Authenticator) error { return principal.Check(authenticators) }

func Filter(authenticators ...Authenticator) exchange.Filter {
	return principal.Filter(authenticators, false)
}

func Optional(authenticators ...Authenticator) exchange.Filter {
	return principal.Filter(authenticators, true)
}

func Of(x *exchange.Exchange) (Principal, bool) {
	p, _ := x.Principal.(*Principal)
	if p == nil {
		return Principal{}, false
	}
	return p.plain(), true
}
