// HTTP is an API for orders: REST forms, rules, a declared error, an action for clerks only, a stream, events, a page for
// browsers, documentation and a dashboard. It runs until Ctrl-C and prints where.
//
//	go run ./examples/http
//	curl localhost:3000/orders -H 'Content-Type: application/json' -d '{"item":"rope","quantity":2}'
//	curl localhost:3000/orders/1
//	curl -N localhost:3000/orders/1/watch -H 'Accept: text/event-stream'
//	sabir gen ts -o api.ts
package main

import (
	"cmp"
	"context"
	"crypto/rand"
	"embed"
	"flag"
	"fmt"
	"io/fs"
	"log"
	"net/http"
	"os"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gen/openapi"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
	"github.com/sabir-go/sabir/web/dashboard"
)

type Order struct {
	ID       int       `json:"id"`
	Item     string    `json:"item"`
	Quantity int       `json:"quantity"`
	State    string    `json:"state" validate:"oneof=placed cancelled"`
	Placed   time.Time `json:"placed"`
}

type Place struct {
	Item     string `json:"item" validate:"required,max=80" doc:"what is ordered" example:"rope"`
	Quantity int    `json:"quantity" validate:"min=1,max=100"`
}

type Find struct {
	ID int `json:"id" validate:"min=1"`
}

type List struct {
	State string `json:"state" validate:"omitempty,oneof=placed cancelled"`
	Limit int    `json:"limit" validate:"max=100" doc:"20 if it is 0"`
}

var ErrNoSuchOrder = sabir.NewError(sabir.CodeNotFound, "NoSuchOrder", "no such order")

// orders keeps the orders in memory; what changes an order closes its channel and makes another.
type orders struct {
	service *sabir.Service
	mu      sync.Mutex
	list    []Order
	changed []chan struct{}
}

func newOrders() *sabir.Service {
	s := sabir.NewService("orders", sabir.Doc("takes orders"))
	o := &orders{service: s}
	find := sabir.Errors(ErrNoSuchOrder)
	sabir.Handle(s, "place", o.place, sabir.Route("POST", "/orders"), sabir.Doc("places an order"))
	sabir.Handle(s, "get", o.get, sabir.Route("GET", "/orders/{id}"), find)
	sabir.Handle(s, "list", o.all, sabir.Route("GET", "/orders"))
	sabir.Handle(s, "cancel", o.cancel, sabir.Route("DELETE", "/orders/{id}"), find, sabir.Use(auth.Require("clerk")))
	sabir.HandleStream(s, "watch", o.watch, sabir.ServerStream(), sabir.Route("GET", "/orders/{id}/watch"), find)
	return s
}

func (o *orders) place(ctx context.Context, in Place) (Order, error) {
	o.mu.Lock()
	order := Order{len(o.list) + 1, in.Item, in.Quantity, "placed", time.Now().UTC()}
	o.list, o.changed = append(o.list, order), append(o.changed, make(chan struct{}))
	o.mu.Unlock()
	o.announce(ctx, "orders.placed", order)
	return order, nil
}

// announce emits an event about what has happened, which stands whether or not everybody hears of it.
func (o *orders) announce(ctx context.Context, event string, order Order) {
	if err := sabir.Emit(context.WithoutCancel(ctx), o.service, event, order); err != nil {
		sabir.NodeFromContext(ctx).Log().WarnContext(ctx, "an order was not announced", "order", order.ID, "error", err)
	}
}

func (o *orders) get(_ context.Context, in Find) (Order, error) {
	order, _, err := o.find(in.ID)
	return order, err
}

func (o *orders) find(id int) (order Order, changed <-chan struct{}, err error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if id < 1 || id > len(o.list) {
		return order, nil, ErrNoSuchOrder
	}
	return o.list[id-1], o.changed[id-1], nil
}

func (o *orders) all(_ context.Context, in List) ([]Order, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	var found []Order
	for _, order := range o.list {
		if len(found) < cmp.Or(in.Limit, 20) && cmp.Or(in.State, order.State) == order.State {
			found = append(found, order)
		}
	}
	return found, nil
}

func (o *orders) cancel(ctx context.Context, in Find) (order Order, err error) {
	if _, _, err := o.find(in.ID); err != nil {
		return order, err
	}
	o.mu.Lock()
	o.list[in.ID-1].State = "cancelled"
	order = o.list[in.ID-1]
	close(o.changed[in.ID-1])
	o.changed[in.ID-1] = make(chan struct{})
	o.mu.Unlock()
	o.announce(ctx, "orders.cancelled", order)
	return order, nil
}

// watch sends the order, and again whenever it changes, until it is cancelled.
func (o *orders) watch(ctx context.Context, s *sabir.Stream[Find, Order]) error {
	in, err := s.Recv()
	if err != nil {
		return err
	}
	for {
		order, changed, err := o.find(in.ID)
		if err != nil {
			return err
		}
		if err := s.Send(order); err != nil || order.State == "cancelled" {
			return err
		}
		select {
		case <-changed:
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

//go:embed page
var page embed.FS

// newNode makes a node that serves the orders. All callers may call, and the key makes its bearer a clerk.
func newNode(addr, key string) *sabir.Node {
	files, _ := fs.Sub(page, "page")
	clerk := &auth.Key{Keys: map[string]auth.Principal{key: {Subject: "clerk", Roles: []string{"clerk"}}}}
	return sabir.NewNode(sabir.Serve(newOrders()), sabir.HTTP(addr, openapi.At("/docs"), dashboard.At("/dashboard"), web.With(web.Config{
		Title: "Orders", Version: "1", Description: "An example.",
		Auth:           []auth.Authenticator{clerk},
		AllowAnonymous: true,
		Events:         []string{"orders.*"},
		Mount:          map[string]http.Handler{"/page": web.Static(files)},
	})))
}

func main() {
	addr := flag.String("http", ":3000", "where to serve; :3000 is this machine only")
	flag.Parse()
	key := cmp.Or(os.Getenv("ORDERS_KEY"), rand.Text())
	fmt.Printf("serving on %s: /page, /docs, /dashboard; the clerk's X-Api-Key is %s\n", *addr, key)
	if err := newNode(*addr, key).Run(context.Background()); err != nil {
		log.Fatal(err)
	}
}
