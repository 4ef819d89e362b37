package web

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
)

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
