package shop

import (
	"context"
	"fmt"
	"math/rand/v2"
	"time"

	"golang.org/x/time/rate"

	"github.com/sabir-go/sabir"
)

// Traffic places orders with this shop's node and ignores their results: see the function of that name.
func (s *Shop) Traffic(ctx context.Context, perSecond float64) {
	Traffic(ctx, s.Node, perSecond, func(error) {})
}

// Traffic places orders from a node of the shop's cluster, perSecond of them, until the context ends, and reports each
// what became of it: nil for an order that was taken. It is one customer after the other, so the rate is the most there
// will be. Most orders are good; about one in fifteen comes from a blocked user, asks for what is sold out or is not valid.
// The same orders come in the same order each time.
func Traffic(ctx context.Context, from *sabir.Node, perSecond float64, each func(error)) {
	random := rand.New(rand.NewPCG(1830, 7)) // any seed will do, as long as it is always the same
	pace := rate.NewLimiter(rate.Limit(perSecond), max(1, int(perSecond/100)))
	create := sabir.Bind[CreateOrder, Order](from, "orders.create")
	for pace.Wait(ctx) == nil {
		orderCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), orderTimeout) // an order that was begun is finished
		_, err := create(orderCtx, randomOrder(random))
		cancel()
		each(err)
	}
}

// orderTimeout is the time that a customer waits.
const orderTimeout = 5 * time.Second

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
