// Package protocol lets a server of package web answer other protocols for its actions, at addresses of their own: the server finds
// the action, runs the filters and the authentication of its group, and hands the request over.
package protocol

import (
	"net/http"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
)

// Protocol is one such protocol, or several that share addresses. Its methods are called by many goroutines at once.
type Protocol interface {
	// Offer is called with the actions that callers can reach now, by name, when these have changed, one call at a time. It returns
	// the path of each that the protocol offers.
	Offer(node *sabir.Node, actions []*sabir.Action) map[*sabir.Action]string
	// Serve answers a call that the server let in. Its context is that of call.Inbound, and not r's.
	Serve(w http.ResponseWriter, r *http.Request, call *Call)
	// Refuse answers a request that the server did not let in, in the protocol's form of the error.
	Refuse(w http.ResponseWriter, r *http.Request, why *sabir.Error)
	// Speaks reports whether a request for an address that does not exist is one of the protocol, so that Refuse answers it.
	Speaks(r *http.Request) bool
	// Stop ends what would go on for as long as its caller likes. Calls go on to their end.
	Stop()
}

// Call is a request for an action.
type Call struct {
	// Action has the middlewares of its group around it.
	Action *sabir.Action
	// Inbound describes the call, except for its input. Its context has no deadline of the caller's yet, and Limit is the server's.
	Inbound gateway.Inbound
	// Body bounds the bytes of one message; 0 where nobody has set a bound.
	Body int64
	// Public is an error of the call as callers may see it.
	Public func(error) *sabir.Error
	// Until calls end at most once, when the credentials of the caller end, unless stop was called before.
	Until func(end func(error)) (stop func())
}
