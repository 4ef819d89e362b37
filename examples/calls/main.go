// Calls shows every way to call an action: by its contract, bound to a Go function, by name with other types, with JSON, several
// at once, and with a time limit.
//
//	go run ./examples/calls
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"time"

	"github.com/sabir-go/sabir"
)

type GetUser struct {
	ID int `json:"id"`
}

type User struct {
	ID    int    `json:"id"`
	Name  string `json:"name"`
	Email string `json:"email"`
}

type GetStock struct {
	Item string `json:"item"`
}

type Stock struct {
	Item string `json:"item"`
	Left int    `json:"left"`
}

// Contracts: the names and types of actions. They stand in a package that the services and their callers import.
var (
	Get        = sabir.NewAction[GetUser, User]("users.get")
	InStock    = sabir.NewAction[GetStock, Stock]("stock.get")
	CountStock = sabir.NewAction[GetStock, Stock]("stock.count")
)

func main() {
	if err := run(context.Background()); err != nil {
		log.Fatal(err)
	}
}

func run(ctx context.Context) error {
	node := sabir.NewNode(sabir.Serve(users(), stock()))
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(ctx)

	// By the contract. A call with other types does not compile.
	user, err := Get.Call(ctx, node, GetUser{ID: 7})
	if err != nil {
		return err
	}
	fmt.Println("call:     ", user.Name)

	// Bound to a node: a function like any other.
	getUser := Get.Bind(node)
	if user, err = getUser(ctx, GetUser{ID: 8}); err != nil {
		return err
	}
	fmt.Println("bind:     ", user.Name)

	// By name, with types that need not be the handler's: fields are matched by their JSON names.
	type contact struct {
		Email string `json:"email"`
	}
	to, err := sabir.Call[contact](ctx, node, "users.get", map[string]any{"id": 7})
	if err != nil {
		return err
	}
	fmt.Println("own types:", to.Email)

	// With a document, for callers that know an action by its name only.
	document, err := sabir.CallJSON(ctx, node, "users.get", []byte(`{"id":7}`))
	if err != nil {
		return err
	}
	fmt.Println("JSON:     ", string(document))

	// Several at once. The error joins those of all calls that failed.
	var pens, ink Stock
	if err := sabir.All(ctx, node, InStock.Into(&pens, GetStock{Item: "pen"}), InStock.Into(&ink, GetStock{Item: "ink"})); err != nil {
		return err
	}
	fmt.Println("all:      ", pens.Left, "pens,", ink.Left, "ink")

	// With a limit, as an option of the call or as the deadline of its context, which nested calls share.
	_, err = CountStock.Call(ctx, node, GetStock{Item: "pen"}, sabir.WithTimeout(10*time.Millisecond))
	fmt.Println("timeout:  ", err)

	short, cancel := context.WithTimeout(ctx, 10*time.Millisecond)
	defer cancel()
	_, err = CountStock.Call(short, node, GetStock{Item: "pen"})
	fmt.Println("deadline: ", errors.Is(err, context.DeadlineExceeded))
	return nil
}

func users() *sabir.Service {
	all := map[int]User{7: {7, "Ada", "ada@example.org"}, 8: {8, "Grace", "grace@example.org"}}
	s := sabir.NewService("users")
	Get.Handle(s, func(_ context.Context, in GetUser) (User, error) {
		user, ok := all[in.ID]
		if !ok {
			return user, sabir.Errorf(sabir.CodeNotFound, "UserNotFound", "there is no user %d", in.ID)
		}
		return user, nil
	})
	return s
}

func stock() *sabir.Service {
	left := map[string]int{"pen": 12, "ink": 3}
	s := sabir.NewService("stock")
	InStock.Handle(s, func(_ context.Context, in GetStock) (Stock, error) {
		return Stock{in.Item, left[in.Item]}, nil
	})
	// Counting by hand takes longer than the caller waits.
	CountStock.Handle(s, func(ctx context.Context, in GetStock) (Stock, error) {
		<-ctx.Done()
		return Stock{}, ctx.Err()
	})
	return s
}
