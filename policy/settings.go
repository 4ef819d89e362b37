package policy

import (
	"fmt"

	"github.com/sabir-go/sabir"
)

// settings has the name of a policy and the faults of its settings, which are kept until there is an action to refuse.
type settings struct {
	name     string
	problems []error
}

// want notes a problem unless ok.
func (s *settings) want(ok bool, format string, args ...any) {
	if !ok {
		s.problems = append(s.problems, fmt.Errorf(format, args...))
	}
}

// wrapper is the type of Middleware.Local and Remote.
type wrapper = func(a *sabir.Action, next sabir.Handler) sabir.Handler

// checked wraps only if the options are good.
func (s *settings) checked(wrap wrapper) wrapper {
	return func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		for _, problem := range s.problems {
			a.Reject("policy.%s: %w", s.name, problem)
		}
		if len(s.problems) > 0 || !inOrder(a, s.name) {
			return next
		}
		return wrap(a, next)
	}
}

// middleware wraps local and remote calls alike.
func (s *settings) middleware(wrap wrapper) sabir.Middleware {
	return sabir.Middleware{Name: s.name, Local: s.checked(wrap), Remote: s.checked(wrap)}
}
