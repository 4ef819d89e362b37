package shop

import (
	"context"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// Invoice asks a customer to pay for an order.
type Invoice struct {
	OrderID string `json:"order_id" validate:"required"`
	UserID  string `json:"user_id" validate:"required"`
	Cents   int64  `json:"cents" validate:"gte=0"`
}

// Invoices is the durable channel of what is to be charged: an invoice that is in it will be, whatever ends in between. The
// shop's broker is the memory of its process (mem://), which keeps nothing over its end; nats://, redis:// and amqp:// do.
var Invoices = channel.New[Invoice]("shop.invoices", channel.Config{KeepFor: time.Minute, KeepMessages: 10_000})

// GetBilled is the input of billing.total.
type GetBilled struct{}

// Billed counts what was charged.
type Billed struct {
	Invoices int64 `json:"invoices"`
	Cents    int64 `json:"cents"`
	Refused  int64 `json:"refused"` // by the bank, each time it was asked
}

// refuseEvery means that the bank refuses one card of so many. Such an invoice is a dead letter, for somebody to look at: the
// dashboard and "sabir channels dead shop.invoices.dead" show it, and replaying it charges the card, which is good by then.
const refuseEvery = 40

// mostRefused bounds the dead letters of a demo that runs for long.
const mostRefused = 100

// billing charges orders. It hears of them by an event, and charges by the channel, so that no order goes unbilled.
type billing struct {
	service                *sabir.Service
	asked                  atomic.Int64
	charged, cents, denied atomic.Int64
}

// newBilling makes the service billing.
func newBilling() *sabir.Service {
	s := sabir.NewService("billing", sabir.Doc("charges orders, by a durable channel"), sabir.Sends(Invoices))
	b := &billing{service: s}
	sabir.On(s, "order.created", b.invoice, sabir.Delivery{Buffer: 1000})
	Invoices.ConsumeWith(s, channel.Consumer{Attempts: 3, FirstPause: 100 * time.Millisecond}, b.charge)
	sabir.Handle(s, "total", b.total, sabir.Doc("tells what was charged since the start"), sabir.Idempotent(), sabir.Route("GET", "/billing"))
	return s
}

func (b *billing) invoice(ctx context.Context, order Order) error {
	_, err := Invoices.PublishWithID(ctx, b.service, order.ID, Invoice{order.ID, order.UserID, order.TotalCents})
	return err
}

func (b *billing) charge(_ context.Context, i Invoice) error {
	if b.asked.Add(1)%refuseEvery == 0 && b.denied.Load() < mostRefused {
		b.denied.Add(1)
		return channel.Reject(fmt.Errorf("the bank refused the card of %s", i.UserID)) // no use to try again by itself
	}
	b.charged.Add(1)
	b.cents.Add(i.Cents)
	return nil
}

func (b *billing) total(context.Context, GetBilled) (Billed, error) {
	return Billed{b.charged.Load(), b.cents.Load(), b.denied.Load()}, nil
}
