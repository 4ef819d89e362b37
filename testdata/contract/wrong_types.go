// What the compiler refuses: each line that ends in a comment must be an error.
package contract

import (
	"context"

	"github.com/sabir-go/sabir"
)

type (
	getUser struct{ ID string }
	user    struct{ Name string }
	other   struct{ ID string }
)

var (
	get     = sabir.NewAction[getUser, user]("users.get")
	tail    = sabir.NewStream[getUser, user]("users.tail")
	created = sabir.NewEvent[user]("users.created")
)

func wrong(ctx context.Context, node *sabir.Node, users *sabir.Service) {
	get.Handle(users, func(context.Context, other) (user, error) { return user{}, nil })     // the input of another type
	get.Handle(users, func(context.Context, getUser) (other, error) { return other{}, nil }) // the output
	_, _ = get.Call(ctx, node, other{})                                                      // the input of a call
	_, _ = get.Call(ctx, node, &getUser{})                                                   // a pointer to it
	var out other
	_ = sabir.All(ctx, node, get.Into(&out, getUser{}))                                          // the output of a call
	tail.Handle(users, func(context.Context, *sabir.Stream[user, getUser]) error { return nil }) // the directions of a stream
	_ = created.Emit(ctx, node, getUser{})                                                       // the payload
	created.On(users, func(context.Context, other) error { return nil })                         // what a handler takes
}
