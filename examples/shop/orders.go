package shop

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
)

// Order is an order that was placed.
type Order struct {
	ID         string    `json:"id"`
	UserID     string    `json:"user_id"`
	Lines      []Line    `json:"lines"`
	TotalCents int64     `json:"total_cents"`
	Note       string    `json:"note,omitempty"`
	Placed     time.Time `json:"placed"`
}

// CreateOrder is the input of orders.create.
type CreateOrder struct {
	UserID string `json:"user_id" validate:"required,startswith=u-,max=16"`
	Lines  []Line `json:"lines" validate:"required,min=1,max=10,dive"`
	Note   string `json:"note" validate:"max=200"`
}

// GetOrder is the input of orders.get.
type GetOrder struct {
	ID string `json:"id" validate:"required,startswith=o-,max=24"`
}

// ListOrders is the input of orders.list. Without a user it lists all orders.
type ListOrders struct {
	UserID string `json:"user_id" validate:"omitempty,startswith=u-,max=16"`
	Limit  int    `json:"limit" validate:"gte=0,lte=100"` // 0 means 10
}

// WatchOrders is the first message of the caller on the stream orders.watch. Without a user it watches all.
type WatchOrders struct {
	UserID string `json:"user_id" validate:"omitempty,startswith=u-,max=16"`
}

// OrderRejected is the event order.rejected.
type OrderRejected struct {
	UserID string `json:"user_id"`
	Reason string `json:"reason"` // the name of the error
}

// The errors of orders, for errors.Is.
var (
	ErrOrderNotFound = sabir.NewError(sabir.CodeNotFound, "OrderNotFound", "no such order among the last 1000")
	ErrUserBlocked   = sabir.NewError(sabir.CodePermissionDenied, "UserBlocked", "the user may not order")
)

const (
	keptOrders  = 1000
	maxWatchers = 100
)

// orders keeps the last orders: o-1 is the first that was placed.
type orders struct {
	service *sabir.Service
	getUser sabir.Func[GetUser, User]
	reserve sabir.Func[ReserveStock, Reservation]

	placed, rejected atomic.Int64

	mu       sync.Mutex
	last     [keptOrders]Order // o-n is at (n-1) % keptOrders
	count    int64
	watchers map[chan Order]WatchOrders
}

// newOrders makes the service orders.
func newOrders() (*orders, *sabir.Service) {
	s := sabir.NewService("orders", sabir.Doc("takes orders"), sabir.DependsOn(sabir.ServiceName("users"), sabir.ServiceName("stock")))
	o := &orders{
		service:  s,
		getUser:  sabir.Bind[GetUser, User](s, "users.get"),
		reserve:  sabir.Bind[ReserveStock, Reservation](s, "stock.reserve"),
		watchers: make(map[chan Order]WatchOrders),
	}
	sabir.Handle(s, "create", o.create, sabir.Doc("places an order; emits order.created or order.rejected"), sabir.Route("POST", "/orders"),
		sabir.Use(policy.Timeout(2*time.Second), policy.Bulkhead{MaxCalls: 64, MaxQueue: 512}),
		sabir.Errors(ErrUserNotFound, ErrUserBlocked, ErrItemNotFound, ErrOutOfStock))
	sabir.Handle(s, "get", o.get, sabir.Doc("finds one of the last 1000 orders"), sabir.Idempotent(), sabir.Route("GET", "/orders/{id}"),
		sabir.Errors(ErrOrderNotFound))
	sabir.Handle(s, "list", o.list, sabir.Doc("lists the latest orders, of one user or all"), sabir.Idempotent(), sabir.Route("GET", "/orders"))
	sabir.HandleStream(s, "watch", o.watch, sabir.ServerStream(), sabir.Doc("streams orders as they are placed, of one user or all"))
	sabir.Handle(s, "crash", o.crash, sabir.Doc("panics on purpose, to show that only its caller notices"))
	return o, s
}

func (o *orders) create(ctx context.Context, in CreateOrder) (Order, error) {
	order, err := o.place(ctx, in)
	if err != nil {
		o.rejected.Add(1)
		notify(ctx, o.service, "order.rejected", OrderRejected{in.UserID, sabir.AsError(err).Name})
		return Order{}, err
	}
	o.placed.Add(1)
	notify(ctx, o.service, "order.created", order)
	return order, nil
}

func (o *orders) place(ctx context.Context, in CreateOrder) (Order, error) {
	user, err := o.getUser(ctx, GetUser{in.UserID})
	if err != nil {
		return Order{}, err
	}
	if user.Blocked {
		return Order{}, ErrUserBlocked.WithData(GetUser{user.ID})
	}
	reserved, err := o.reserve(ctx, ReserveStock{in.Lines})
	if err != nil {
		return Order{}, err
	}
	return o.keep(Order{UserID: user.ID, Lines: reserved.Lines, TotalCents: reserved.TotalCents, Note: in.Note, Placed: time.Now().UTC()}), nil
}

// keep numbers an order, stores it and shows it to the watchers.
func (o *orders) keep(order Order) Order {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.count++
	order.ID = fmt.Sprintf("o-%d", o.count)
	o.last[(o.count-1)%keptOrders] = order
	for watcher, wanted := range o.watchers {
		if wanted.UserID != "" && wanted.UserID != order.UserID {
			continue
		}
		select {
		case watcher <- order:
		default: // a watcher that is behind misses orders; the shop does not wait for it
		}
	}
	return order
}

func (o *orders) get(_ context.Context, in GetOrder) (Order, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	n, ok := serial("o-", in.ID)
	if !ok || n > o.count || n <= o.count-keptOrders {
		return Order{}, ErrOrderNotFound.WithData(in)
	}
	return o.last[(n-1)%keptOrders], nil
}

func (o *orders) list(_ context.Context, in ListOrders) ([]Order, error) {
	limit := in.Limit
	if limit == 0 {
		limit = 10
	}
	o.mu.Lock()
	defer o.mu.Unlock()
	found := []Order{}
	for n := o.count; n > 0 && n > o.count-keptOrders && len(found) < limit; n-- {
		order := o.last[(n-1)%keptOrders]
		if in.UserID == "" || order.UserID == in.UserID {
			found = append(found, order)
		}
	}
	return found, nil
}

func (o *orders) watch(ctx context.Context, stream *sabir.Stream[WatchOrders, Order]) error {
	wanted, err := stream.Recv()
	if err != nil {
		return err
	}
	placed, err := o.addWatcher(wanted)
	if err != nil {
		return err
	}
	defer o.removeWatcher(placed)
	for {
		select {
		case order := <-placed:
			if err := stream.Send(order); err != nil {
				return err
			}
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}

func (o *orders) addWatcher(wanted WatchOrders) (chan Order, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	if len(o.watchers) == maxWatchers {
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, "TooManyWatchers", "%d callers are watching already", maxWatchers).AsRetryable()
	}
	placed := make(chan Order, 64)
	o.watchers[placed] = wanted
	return placed, nil
}

func (o *orders) removeWatcher(placed chan Order) {
	o.mu.Lock()
	defer o.mu.Unlock()
	delete(o.watchers, placed)
}

func (o *orders) crash(context.Context, struct{}) (struct{}, error) {
	panic("the ledger does not balance")
}
