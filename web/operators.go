package web

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/principal"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/exchange"
)

// Roles for Operators of [Config], of callers that no authenticator knows. A token that has a role of such a name does not get in by it.
const (
	// KeyHolder is whoever sends the key of gateway.Key.
	KeyHolder = "holder of gateway.Key"
	// ThisMachine is whoever calls from this machine, directly, a server that listens on this machine only and authenticates nobody,
	// as on a developer's machine. A request that names a proxy does not count.
	ThisMachine = "caller on this machine"
)

// isOperatorAction reports whether the action is one of those for operators, such as $node.info.
func isOperatorAction(a *sabir.Action) bool { return strings.HasPrefix(a.Service, "$") }

// operatorRoles returns the roles of operators that authenticators give.
func (s *settings) operatorRoles() []string {
	return slices.DeleteFunc(slices.Clone(s.operators), func(role string) bool { return role == KeyHolder || role == ThisMachine })
}

// isOperator reports whether the caller of a request is an operator.
func (s *server) isOperator(x *exchange.Exchange) bool {
	switch granted := s.settings.operators; {
	case len(granted) == 0:
		return false
	case s.onlyLocal && slices.Contains(granted, ThisMachine) && fromThisMachine(x):
		return true
	case !s.config.Keys.None() && slices.Contains(granted, KeyHolder) && opens(s.config.Keys, x):
		return true
	}
	p, ok := x.Principal.(*auth.Principal)
	return ok && p != nil && p.Scheme != principal.SystemScheme && p.HasAny(s.settings.operatorRoles()...)
}

// operatorCallers describes who can be an operator here. A role that nobody can have, such as that of callers on this machine where the server
// asks for a key, is not listed among those that somebody can.
func (s *server) operatorCallers() string {
	able := slices.DeleteFunc(slices.Clone(s.settings.operators), func(role string) bool {
		return role == ThisMachine && !s.onlyLocal || role == KeyHolder && s.config.Keys.None()
	})
	if len(able) == 0 {
		return "nobody (operators would be: " + strings.Join(s.settings.operators, ", ") + "; but this server has none of these)"
	}
	return "operators: " + strings.Join(able, ", ")
}

// fromThisMachine reports whether a program of this machine sent the request by itself. A proxy on this machine connects from it
// too, for callers elsewhere; those that are common add one of these headers.
func fromThisMachine(x *exchange.Exchange) bool {
	if slices.ContainsFunc([]string{"X-Forwarded-For", "Forwarded", "Via", "X-Real-Ip"}, x.Header.Has) {
		return false
	}
	return x.Remote.Addr().Unmap().IsLoopback()
}

// operatorsOnly is the filter of the actions for operators. Its error is that of an address that does not exist.
func (s *server) operatorsOnly() exchange.Filter {
	return exchange.Filter{Name: "operators", Before: func(x *exchange.Exchange) error {
		if s.isOperator(x) {
			return nil
		}
		return s.notFound(x.Path)
	}}
}
