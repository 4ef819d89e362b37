package api

import (
	"net/http"

	"github.com/sabir-go/sabir/introspect"
)

// The kinds of procedures that tRPC has.
const (
	Query        = "query"
	Mutation     = "mutation"
	Subscription = "subscription"
)

// Procedure returns the kind of procedure that the action is for clients of tRPC; "" for none.
func (a *Action) Procedure() string {
	switch {
	case a.Many():
		return Subscription
	case a.Stream:
		return ""
	case a.Reads():
		return Query
	}
	return Mutation
}

// Many reports whether the action answers with any number of values.
func (a *Action) Many() bool { return a.Stream && a.Shape != introspect.ClientStream }

// Reads reports whether the action has declared that it changes nothing: by routes with GET and no others, or by a cache.
func (a *Action) Reads() bool {
	for _, r := range a.Routes {
		if r.Method != http.MethodGet && r.Method != http.MethodHead {
			return false
		}
	}
	return len(a.Routes) > 0 || a.CacheFor > 0
}
