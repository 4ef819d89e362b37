package actor

import (
	"context"

	"github.com/sabir-go/sabir"
)

// Handle gives a service an action that a process answers. The call's context goes along, with its deadline, metadata,
// request id and trace, and the process's errors are the caller's:
//
//	orders := sabir.NewService("orders")
//	actor.Handle[Place, Receipt](orders, "place", system, actor.Name{Name: "orders"})
//
// A process calls services by its node, with its own context: sabir.Call[User](p.Context(), p.Node(), "users.get", id).
// Calls of an action wait for the process one after another; where several processes should share them, let the address be
// that of a pool.
func Handle[In, Out any, A Address](service *sabir.Service, name string, s *System, to A, options ...sabir.ActionOption) {
	sabir.Handle(service, name, func(ctx context.Context, in In) (Out, error) {
		return Call[Out](ctx, s, to, in)
	}, options...)
}
