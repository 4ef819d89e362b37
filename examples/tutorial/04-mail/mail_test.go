package mail

import (
	"context"
	"testing"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
	orders "github.com/sabir-go/sabir/examples/tutorial/02-orders"
)

func TestAMailIsSentForEachOrder(t *testing.T) {
	sent := make(chan string, 1)
	// doc: node
	node := sabir.NewNode(sabir.Serve(users.New(), orders.New(), New(func(text string) { sent <- text })))
	// end
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	if _, err := orders.Create.Call(t.Context(), node, orders.CreateOrder{UserID: "u-1", Item: "lamp", Count: 2}); err != nil {
		t.Fatal(err)
	}
	if got, want := <-sent, "to u-1: your order o-1 of 2 lamp is accepted"; got != want {
		t.Errorf("%q, want %q", got, want)
	}
}
