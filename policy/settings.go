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

// eventWrapper is the type of Middleware.Event and Subscription.
type eventWrapper = func(s *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler

// subscription wraps a handler of events only if the options are good.
func (s *settings) subscription(wrap eventWrapper) eventWrapper {
	return func(sub *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
		for _, problem := range s.problems {
			sub.Reject("policy.%s: %w", s.name, problem)
		}
		if len(s.problems) > 0 {
			return next
		}
		return wrap(sub, next)
	}
}

// forHandlers is the middleware of a policy that only a handler of events or a consumer of a channel can have.
func (s *settings) forHandlers(wrap eventWrapper) sabir.Middleware {
	const misplaced = "policy.%s is for one handler of events or one consumer of a channel: give it to sabir.On or channel.Consumer"
	call := func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		a.Reject(misplaced, s.name)
		return next
	}
	return sabir.Middleware{Name: s.name, Local: call, Remote: call, Stream: call,
		Event: func(sub *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
			sub.Reject(misplaced, s.name)
			return next
		},
		Subscription: s.subscription(wrap),
	}
}
