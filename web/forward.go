package web

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/names"
)

// Forward lets callers reach public actions and streams of other nodes of the cluster through this one: those whose full names match one
// of the patterns, such as "users.*" or "orders.get", in any version. Without it a server offers the actions of its own node only, so
// that a new action somewhere in the cluster is not open to callers by that. "**" is all there are and will be.
func Forward(patterns ...string) gateway.HTTPOption {
	return option{name: "Forward", server: func(s *settings) {
		if len(patterns) == 0 {
			s.problem("Forward: name the actions of other nodes, such as \"users.*\"")
		}
		for _, p := range patterns {
			if err := names.CheckPattern(p); err != nil {
				s.problem("Forward: %w", err)
			}
		}
		s.forward = append(s.forward, patterns...)
	}}.add()
}

// forwards reports whether calls of another node's action of that name go through this server.
func (s *settings) forwards(name string) bool {
	match := func(pattern string) bool { return names.Match(pattern, name) }
	if slices.ContainsFunc(s.forward, match) {
		return true
	}
	version, short, _ := strings.Cut(name, ".")
	if len(version) < 2 || version[0] != 'v' || strings.Trim(version[1:], "0123456789") != "" {
		return false
	}
	name = short
	return slices.ContainsFunc(s.forward, match)
}

// offers reports whether callers can reach the action here, with the right credentials.
func (s *server) offers(a *sabir.Action) bool {
	switch {
	case !a.Public():
		return false
	case isOperatorAction(a):
		return len(s.settings.operators) > 0
	}
	return !a.Remote || s.settings.forwards(a.Name)
}
