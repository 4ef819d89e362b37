// Package orders is the second service of the tutorial. It calls users.
package orders

import (
	"context"
	"fmt"
	"sync"

	"github.com/sabir-go/sabir"
	users "github.com/sabir-go/sabir/examples/tutorial/01-users"
)

// doc: contract
type CreateOrder struct {
	UserID string `json:"userId" validate:"required"`
	Item   string `json:"item" validate:"required,max=64"`
	Count  int    `json:"count" validate:"min=1,max=100"`
}

type GetOrder struct {
	ID string `json:"id" validate:"required"`
}

type Order struct {
	ID     string `json:"id"`
	UserID string `json:"userId"`
	Item   string `json:"item"`
	Count  int    `json:"count"`
}

// Left is the data of ErrOutOfStock.
type Left struct {
	Left int `json:"left"`
}

var (
	ErrBlocked     = sabir.NewError(sabir.CodePermissionDenied, "UserBlocked", "the user may not order")
	ErrOutOfStock  = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")
	ErrNoSuchOrder = sabir.NewError(sabir.CodeNotFound, "NoSuchOrder", "there is no such order")
)

var (
	Create = sabir.NewAction[CreateOrder, Order]("orders.create",
		sabir.Route("POST", "/orders"), sabir.Errors(ErrBlocked, ErrOutOfStock))
	Get = sabir.NewAction[GetOrder, Order]("orders.get",
		sabir.Route("GET", "/orders/{id}"), sabir.Errors(ErrNoSuchOrder))

	// Created says that an order was accepted.
	Created = sabir.NewEvent[Order]("orders.created")
)

// end

// doc: service
type service struct {
	*sabir.Service
	mu     sync.Mutex
	orders map[string]Order
	left   map[string]int
}

// New makes the service. It starts after users, wherever in the cluster that is.
func New() *sabir.Service {
	s := &service{
		Service: sabir.NewService("orders", sabir.DependsOn(users.Get)),
		orders:  map[string]Order{},
		left:    map[string]int{"compass": 5, "lamp": 100},
	}
	Create.Handle(s.Service, s.create)
	Get.Handle(s.Service, s.get)
	return s.Service
}

// end

// doc: create
func (s *service) create(ctx context.Context, in CreateOrder) (Order, error) {
	user, err := users.Get.Call(ctx, s, users.GetUser{ID: in.UserID})
	if err != nil {
		return Order{}, err // an error of a nested call stays what it is
	}
	if user.Blocked {
		return Order{}, ErrBlocked
	}
	order, err := s.take(in)
	if err != nil {
		return Order{}, err
	}
	if err := Created.Emit(context.WithoutCancel(ctx), s, order); err != nil { // who listens has gone, perhaps: the order stands
		sabir.NodeFromContext(ctx).Log().WarnContext(ctx, "an order was not announced", "order", order.ID, "error", err)
	}
	return order, nil
}

func (s *service) take(in CreateOrder) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if left := s.left[in.Item]; left < in.Count {
		return Order{}, ErrOutOfStock.WithData(Left{left})
	}
	s.left[in.Item] -= in.Count
	order := Order{ID: fmt.Sprintf("o-%d", len(s.orders)+1), UserID: in.UserID, Item: in.Item, Count: in.Count}
	s.orders[order.ID] = order
	return order, nil
}

func (s *service) get(_ context.Context, in GetOrder) (Order, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	order, ok := s.orders[in.ID]
	if !ok {
		return Order{}, ErrNoSuchOrder
	}
	return order, nil
}

// end
