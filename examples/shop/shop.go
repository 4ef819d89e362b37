// Package shop is a small application to try Sabir with and to copy from: a chandler's shop with seven services that
// call each other, emit events, publish to a durable channel, run processes and keep grains. Its data is made up, the same at each start, and
// kept in memory.
//
// Each service is one file: its types, a constructor that declares what it offers, and its functions.
package shop

import (
	"context"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/policy"
)

// Shop is the application: a node with the services users, stock, orders, mail, billing, delivery and loyalty, or some of them.
type Shop struct {
	*sabir.Node
	System *actor.System // whose processes are the couriers
	orders *orders       // nil where another node has it
	mail   *mail         // nil where another node has it

	breakers policy.BreakerStates
}

// New makes the shop. The options go to its node, for example sabir.HTTP(":3000"); start it with Start or Run.
func New(options ...sabir.NodeOption) *Shop {
	return NewPart(0, 1, options...)
}

// NewPart makes one of several nodes that are the shop together: the part of that number, from 0. Of three nodes each
// service runs on two, so that one may go; of one or two nodes each has all. Join them to one cluster with sabir.Join.
//
// Every service keeps its own data, as it would not with a database: an order is known to the service that took it.
func NewPart(part, of int, options ...sabir.NodeOption) *Shop {
	shop := &Shop{System: actor.NewSystem(actor.Config{})}
	var services []*sabir.Service
	for i, service := range []func() *sabir.Service{newUsers, shop.openStock, shop.openOrders, shop.openMail, newBilling, shop.openDelivery, shop.openLoyalty} {
		if of < 3 || (part+i)%3 != 0 {
			services = append(services, service())
		}
	}
	own := []sabir.NodeOption{sabir.Serve(sabir.NewModule("shop", services...)), shop.System.Option(), newGrains(shop.System).Option(), channel.Broker("mem://"), sabir.Serve(shop.breakers.Service())}
	shop.Node = sabir.NewNode(append(own, options...)...)
	return shop
}

func (s *Shop) openOrders() (service *sabir.Service) {
	s.orders, service = newOrders()
	return service
}

func (s *Shop) openMail() (service *sabir.Service) {
	s.mail, service = newMail()
	return service
}

func (s *Shop) openStock() *sabir.Service { return newStock(&s.breakers) }

func (s *Shop) openDelivery() *sabir.Service { return newDelivery(s.System) }

func (s *Shop) openLoyalty() *sabir.Service { return newLoyalty(s.System) }

// Stats counts the shop's orders and mails since it was made.
type Stats struct {
	Orders   int64 `json:"orders"`   // placed
	Rejected int64 `json:"rejected"` // orders that were not
	Mails    int64 `json:"mails"`    // sent
}

// Stats may be called at any time, from any goroutine.
func (s *Shop) Stats() (stats Stats) {
	if s.orders != nil {
		stats.Orders, stats.Rejected = s.orders.placed.Load(), s.orders.rejected.Load()
	}
	if s.mail != nil {
		stats.Mails = s.mail.sent.Load()
	}
	return stats
}

// notify emits an event about something that has happened: it is sent though the caller may have ended by now, and if
// it cannot be sent, what happened is not undone and the log records it.
func notify[T any](ctx context.Context, from *sabir.Service, event string, payload T) {
	if err := sabir.Emit(context.WithoutCancel(ctx), from, event, payload); err != nil {
		sabir.NodeFromContext(ctx).Log().Warn("an event was not emitted", "event", event, "error", err)
	}
}
