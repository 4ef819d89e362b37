// Package mail is the third service of the tutorial. It listens to what happens to orders.
package mail

import (
	"context"
	"fmt"

	"github.com/sabir-go/sabir"
	orders "github.com/sabir-go/sabir/examples/tutorial/02-orders"
)

// New makes the service. It gives each mail to send.
func New(send func(text string)) *sabir.Service {
	s := sabir.NewService("mail")
	orders.Created.On(s, func(_ context.Context, o orders.Order) error {
		send(fmt.Sprintf("to %s: your order %s of %d %s is accepted", o.UserID, o.ID, o.Count, o.Item))
		return nil
	}, sabir.Delivery{Buffer: 1000})
	return s
}
