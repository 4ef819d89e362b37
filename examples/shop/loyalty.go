package shop

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

// Points counts the orders of a customer, and a point for each whole euro of them.
type Points struct {
	Orders int64 `json:"orders"`
	Points int64 `json:"points"`
}

// GetPoints is the input of loyalty.get.
type GetPoints struct {
	UserID string `json:"user_id" validate:"required,startswith=u-,max=16"`
}

// card is the grain of a customer. Nobody starts it: the first order does, on the node that owns its key.
type card struct{ grain.State[Points] }

type (
	purchase struct{ TotalCents int64 }
	balance  struct{}
)

func (c *card) buy(p *actor.Process, bought purchase) (Points, error) {
	c.Value.Orders++
	c.Value.Points += bought.TotalCents / 100
	return c.Value, c.Save(p)
}

func (c *card) balance(*actor.Process, balance) (Points, error) { return c.Value, nil }

var cards = grain.Define("card", grain.OnCall((*card).buy), grain.OnCall((*card).balance))

// newGrains makes the grains of a node. They are in memory, as all data of the shop.
func newGrains(system *actor.System) *grain.Grains {
	return grain.New(system, grain.Config{Store: store.Memory()}, cards)
}

// loyalty counts what customers buy, each on a card of its own.
type loyalty struct{ system *actor.System }

func newLoyalty(system *actor.System) *sabir.Service {
	l := &loyalty{system}
	s := sabir.NewService("loyalty", sabir.Doc("counts points of customers: a grain each"))
	sabir.On(s, "order.created", l.count, sabir.Delivery{Buffer: 1000})
	sabir.Handle(s, "get", l.get, sabir.Doc("tells what a customer has collected"), sabir.Idempotent(), sabir.Route("GET", "/users/{user_id}/points"))
	return s
}

func (l *loyalty) count(ctx context.Context, order Order) error {
	_, err := grain.Call[Points](ctx, l.system, cards.Key(order.UserID), purchase{order.TotalCents})
	return err
}

func (l *loyalty) get(ctx context.Context, in GetPoints) (Points, error) {
	return grain.Call[Points](ctx, l.system, cards.Key(in.UserID), balance{})
}
