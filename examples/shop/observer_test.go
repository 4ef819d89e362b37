package shop_test

import (
	"context"
	"errors"
	"log/slog"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/examples/shop"
	_ "github.com/sabir-go/sabir/transport/mem"
)

// TestAnObserverSeesTheShopAndIsNoPartOfIt has a node that is client-only: it calls and listens, and others do not count on it.
func TestAnObserverSeesTheShopAndIsNoPartOfIt(t *testing.T) {
	app := open(t, sabir.Join("mem://observed-shop"))
	seen := make(chan shop.Order, 1)
	office := sabir.NewService("office")
	sabir.On(office, "order.created", func(_ context.Context, order shop.Order) error {
		select {
		case seen <- order:
		default: // one is enough
		}
		return nil
	})
	sabir.Handle(office, "open", func(context.Context, struct{}) (bool, error) { return true, nil })
	observer := sabir.NewNode(sabir.NodeID("observer"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(office), sabir.Join("mem://observed-shop", cluster.Config{ClientOnly: true}))
	if err := observer.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := observer.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	for { // the shop learns in a moment that it listens
		changed, listens := app.Changed(), false
		for _, n := range app.Nodes() {
			listens = listens || n.ID == "observer" && n.ClientOnly
		}
		if listens {
			break
		}
		<-changed
	}
	var placed shop.Order
	for got := false; !got; {
		order, err := sabir.Call[shop.Order](t.Context(), observer, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
		if err != nil {
			t.Fatal(err)
		}
		placed = order
		select {
		case order := <-seen:
			got = order.UserID == placed.UserID
		default:
		}
	}
	if _, err := sabir.Call[bool](t.Context(), app.Node, "office.open", struct{}{}); !errors.Is(err, sabir.ErrActionNotFound) {
		t.Errorf("the shop calls what the observer has: %v", err)
	}
	for _, n := range app.Nodes() {
		if n.ID == "observer" && n.Services+n.Actions != 0 {
			t.Errorf("the observer offers %d services", n.Services)
		}
	}
}
