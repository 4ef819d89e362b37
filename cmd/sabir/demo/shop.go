// Package demo is a small application to try Sabir with and to copy from: a chandler's shop with four services that
// call each other and emit events. Its data is made up, the same at each start, and kept in memory.
//
// Each service is one file: its types, a constructor that says what it offers, and its functions.
package demo

import (
	"context"

	"github.com/sabir-go/sabir"
)

// Shop is the application: a node with the services users, stock, orders and mail.
type Shop struct {
	*sabir.Node
	orders *orders
	mail   *mail
}

// New makes the shop. The options go to its node, for example sabir.HTTP(":3000"); start it with Start or Run.
func New(options ...sabir.NodeOption) *Shop {
	orders, ordersService := newOrders()
	mail, mailService := newMail()
	services := sabir.NewGroup("shop", newUsers(), newStock(), ordersService, mailService)
	return &Shop{
		Node:   sabir.NewNode(append([]sabir.NodeOption{sabir.Serve(services)}, options...)...),
		orders: orders,
		mail:   mail,
	}
}

// Stats is what the shop did since it was made.
type Stats struct {
	Orders   int64 `json:"orders"`   // placed
	Rejected int64 `json:"rejected"` // orders that were not
	Mails    int64 `json:"mails"`    // sent
}

// Stats may be called at any time, from any goroutine.
func (s *Shop) Stats() Stats {
	return Stats{Orders: s.orders.placed.Load(), Rejected: s.orders.rejected.Load(), Mails: s.mail.sent.Load()}
}

// tell emits an event about something that has happened: it is told though the caller may have given up by now, and if
// it cannot be told, what happened is not undone and the log says so.
func tell[T any](ctx context.Context, from *sabir.Service, event string, payload T) {
	if err := sabir.Emit(context.WithoutCancel(ctx), from, event, payload); err != nil {
		sabir.NodeOf(ctx).Log().Warn("an event was not told", "event", event, "error", err)
	}
}
