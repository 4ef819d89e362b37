package demo

import (
	"context"
	"fmt"
	"math/rand/v2"

	"golang.org/x/time/rate"

	"github.com/sabir-go/sabir"
)

// Traffic places orders, perSecond of them, until the context ends. It is one customer after the other, so the rate is
// the most there will be. Most orders are good; about one in fifteen comes from a blocked user, asks for what is sold
// out or is not valid. The same orders come in the same order each time. What the services answer is their business:
// the shop's Stats and a [Meter] count it.
func (s *Shop) Traffic(ctx context.Context, perSecond float64) {
	random := rand.New(rand.NewPCG(1830, 7)) // any seed will do, as long as it is always the same
	pace := rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond/100)))
	create := sabir.Bind[CreateOrder, Order](s.Node, "orders.create")
	for pace.Wait(ctx) == nil {
		_, _ = create(context.WithoutCancel(ctx), randomOrder(random)) // an order that was begun is finished
	}
}

func randomOrder(random *rand.Rand) CreateOrder {
	items := []string{"rope", "lantern", "compass", "sailcloth", "tar"}
	order := CreateOrder{UserID: fmt.Sprintf("u-%d", 1+random.IntN(seededUsers))}
	for range 1 + random.IntN(3) {
		order.Lines = append(order.Lines, Line{SKU: items[random.IntN(len(items))], Quantity: 1 + random.IntN(4)})
	}
	switch random.IntN(50) {
	case 0:
		order.Lines[0].SKU = "old-chart"
	case 1:
		order.Lines[0].Quantity = 0 // breaks a rule
	}
	return order
}
