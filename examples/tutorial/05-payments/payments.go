// Package payments charges customers at least once for each order, whatever ends in between.
package payments

import (
	"context"
	"fmt"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

// doc: channel
type Payment struct {
	OrderID string `json:"orderId"`
	Cents   int    `json:"cents"`
}

// Payments is the channel: a name and a type, for publishers and consumers.
var Payments = channel.New[Payment]("shop.payments", channel.Config{KeepFor: 7 * 24 * time.Hour})

// end

// doc: consumer
// New makes the service. It charges with charge, which must recognise an order that it has charged already.
func New(charge func(ctx context.Context, p Payment) error) *sabir.Service {
	s := sabir.NewService("payments")
	consumer := channel.Consumer{Attempts: 5, FirstPause: 10 * time.Millisecond}
	Payments.ConsumeWith(s, consumer, func(ctx context.Context, p Payment) error {
		if p.Cents <= 0 {
			return channel.Reject(fmt.Errorf("order %s costs nothing", p.OrderID)) // trying again is no use
		}
		return charge(ctx, p)
	})
	return s
}

// end
