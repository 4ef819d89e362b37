package orders

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
)

func startNode(t *testing.T) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(sabir.Serve(users.New(), New()))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

func TestAnOrderIsTaken(t *testing.T) {
	node := startNode(t)
	order, err := Create.Call(t.Context(), node, CreateOrder{UserID: "u-1", Item: "lamp", Count: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got, err := Get.Call(t.Context(), node, GetOrder{ID: order.ID}); err != nil || got != order {
		t.Errorf("%+v, %v, want %+v", got, err, order)
	}
}

func TestOrdersThatCannotBeAreRefused(t *testing.T) {
	node := startNode(t)
	for name, c := range map[string]struct {
		in   CreateOrder
		want error
	}{
		"of a blocked user":  {CreateOrder{"u-2", "lamp", 1}, ErrBlocked},
		"of an unknown user": {CreateOrder{"u-9", "lamp", 1}, users.ErrNoSuchUser},
		"of nothing":         {CreateOrder{"u-1", "lamp", 0}, sabir.ErrValidationFailed},
		"of too much":        {CreateOrder{"u-1", "compass", 6}, ErrOutOfStock},
	} {
		if _, err := Create.Call(t.Context(), node, c.in); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", name, err, c.want)
		}
	}
}

func TestTheErrorSaysHowManyAreLeft(t *testing.T) {
	node, ctx := startNode(t), t.Context()
	// doc: data
	_, err := Create.Call(ctx, node, CreateOrder{UserID: "u-1", Item: "compass", Count: 6})
	if errors.Is(err, ErrOutOfStock) {
		left, err := sabir.DataAs[Left](err)
		if err != nil || left.Left != 5 {
			t.Errorf("%+v, %v", left, err)
		}
	}
	// end
}

func TestAnOrderIsTakenThoughAListenerDoesNotGetItsEvent(t *testing.T) {
	deaf := sabir.NewService("deaf")
	sabir.On(deaf, "orders.created", func(context.Context, int) error { return nil }) // an order is no number: its emitter gets an error
	node := sabir.NewNode(sabir.Serve(users.New(), New(), deaf), sabir.Logger(slog.New(slog.DiscardHandler)))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.WithoutCancel(t.Context()))

	order, err := Create.Call(t.Context(), node, CreateOrder{UserID: "u-1", Item: "lamp", Count: 1})
	if err != nil {
		t.Fatal(err)
	}
	if kept, err := Get.Call(t.Context(), node, GetOrder{ID: order.ID}); err != nil || kept != order {
		t.Errorf("%+v, %v", kept, err)
	}
}
