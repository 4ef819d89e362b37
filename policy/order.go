package policy

import (
	"slices"
	"time"

	"github.com/sabir-go/sabir"
)

// Stack is several policies in the order that works, whatever the order of the lines that set them. Those that are nil, and a
// Timeout of 0, are left out:
//
//	sabir.Use(policy.Stack{Retry: &policy.Retry{}, Breaker: &policy.Breaker{OpenFor: 5 * time.Second}, Timeout: 2 * time.Second})
//
// From the outside in: Fallback, so that it answers for everything further in; Cached, so that an answer that is there uses up
// neither rate nor a turn; RateLimit, so that a call counts once however often it is tried; Retry, so that the breaker counts each
// attempt; Hedge, so that each of its two counts by itself; Breaker, so that a handler that hangs counts as a failure; Timeout, for each attempt; and Bulkhead, so that a handler that
// outlives its time limit still counts.
type Stack struct {
	Fallback  *Fallback
	Cached    *Cached
	RateLimit *RateLimit
	Retry     *Retry
	Hedge     *Hedge
	Breaker   *Breaker
	Timeout   time.Duration
	Bulkhead  *Bulkhead
}

// Middleware makes the middleware.
func (s Stack) Middleware() sabir.Middleware {
	var all []sabir.Middleware
	add := func(given bool, w sabir.Wrapper) {
		if given {
			all = append(all, w.Middleware())
		}
	}
	add(s.Fallback != nil, s.Fallback)
	add(s.Cached != nil, s.Cached)
	add(s.RateLimit != nil, s.RateLimit)
	add(s.Retry != nil, s.Retry)
	add(s.Hedge != nil, s.Hedge)
	add(s.Breaker != nil, s.Breaker)
	add(s.Timeout != 0, Timeout(s.Timeout))
	add(s.Bulkhead != nil, s.Bulkhead)
	return sabir.Middleware{
		Name: "Stack",
		Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			for _, m := range slices.Backward(all) {
				if m.Local != nil {
					next = m.Local(a, next)
				}
			}
			return next
		},
		Remote: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			for _, m := range slices.Backward(all) {
				next = m.Remote(a, next)
			}
			return next
		},
	}
}

// orderKey is the key of the note with the names of an action's policies so far, from the innermost.
type orderKey struct{}

// inOrder adds a policy around those of an action, and refuses the action if the policy defeats one of those further in.
// Policies are made from the inside out, so what is noted is further in.
func inOrder(a *sabir.Action, name string) bool {
	inside, _ := a.Annotation(orderKey{}).([]string)
	a.Annotate(orderKey{}, append(slices.Clone(inside), name))
	if reason := defeats(a, name, inside); reason != "" {
		a.Reject("policy.%s: %s; policy.Stack has the order that works", name, reason)
		return false
	}
	return true
}

// defeats returns how a policy outside of others would undo them; "" if it does not. An action that is declared Inline, or handled by
// another node, is not let go by a time limit, so only the rest of the rules hold for it.
func defeats(a *sabir.Action, name string, inside []string) string {
	abandons := !a.Inline && !a.Remote
	// The nearest of both policies further in decides: a time limit of the whole call around a breaker with one of its own is fine.
	breaker, timeout, bulkhead := slices.Index(inside, "Breaker"), slices.Index(inside, "Timeout"), slices.Index(inside, "Bulkhead")
	switch {
	case name == "Timeout" && abandons && breaker >= 0 && timeout < 0:
		return "it stands outside policy.Breaker, which then never learns that a handler hangs: put it after the breaker in the list"
	case name == "Bulkhead" && abandons && timeout >= 0 && bulkhead < 0:
		return "it stands outside policy.Timeout, so that handlers which outlive the limit run without counting: put it after the timeout in the list"
	case name == "Cached" && slices.ContainsFunc(inside, func(n string) bool { return n == "FallbackFunc" || n == "FallbackValue" }):
		return "it stands outside policy.Fallback, whose answers it would keep as if they were the action's: put it after the fallback in the list"
	}
	return ""
}
