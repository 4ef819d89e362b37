package demo_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/brokers"
	"github.com/sabir-go/sabir/cmd/sabir/demo"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// open runs the shop for the length of a test.
func open(t testing.TB, options ...sabir.NodeOption) *demo.Shop {
	t.Helper()
	quiet := sabir.Logger(slog.New(slog.DiscardHandler))
	shop := demo.New(append([]sabir.NodeOption{quiet}, options...)...)
	if err := shop.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, shop) })
	return shop
}

func stop(t testing.TB, shop *demo.Shop) {
	t.Helper()
	if shop.State() != sabir.Running {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := shop.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func call[Out, In any](t testing.TB, shop *demo.Shop, action string, in In) Out {
	t.Helper()
	out, err := sabir.Call[Out](t.Context(), shop.Node, action, in)
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return out
}

func rope(quantity int) []demo.Line { return []demo.Line{{SKU: "rope", Quantity: quantity}} }

func TestAnOrderTakesFromStockAndIsConfirmedByMail(t *testing.T) {
	shop := open(t)
	before := call[demo.Item](t, shop, "stock.get", demo.GetItem{SKU: "rope"})
	order := call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: "u-1", Lines: rope(3)})
	after := call[demo.Item](t, shop, "stock.get", demo.GetItem{SKU: "rope"})
	if before.Quantity-after.Quantity != 3 || order.TotalCents != 3*before.PriceCents {
		t.Errorf("3 ropes: stock went from %d to %d, total %d", before.Quantity, after.Quantity, order.TotalCents)
	}
	if kept := call[demo.Order](t, shop, "orders.get", demo.GetOrder{ID: order.ID}); kept.TotalCents != order.TotalCents {
		t.Errorf("kept %+v, placed %+v", kept, order)
	}
	stop(t, shop) // a queue is empty when its service has stopped
	if stats := shop.Stats(); stats != (demo.Stats{Orders: 1, Mails: 1}) {
		t.Errorf("stats %+v, want one order and one mail", stats)
	}
}

func TestWhatTheShopRefuses(t *testing.T) {
	shop := open(t)
	for name, test := range map[string]struct {
		in   demo.CreateOrder
		want error
	}{
		"an unknown user":           {demo.CreateOrder{UserID: "u-999", Lines: rope(1)}, demo.ErrUserNotFound},
		"an id that is none":        {demo.CreateOrder{UserID: "u-01", Lines: rope(1)}, demo.ErrUserNotFound},
		"a blocked user":            {demo.CreateOrder{UserID: "u-13", Lines: rope(1)}, demo.ErrUserBlocked},
		"an unknown item":           {demo.CreateOrder{UserID: "u-1", Lines: []demo.Line{{SKU: "anchor", Quantity: 1}}}, demo.ErrItemNotFound},
		"more than there is":        {demo.CreateOrder{UserID: "u-1", Lines: []demo.Line{{SKU: "old-chart", Quantity: 26}}}, demo.ErrOutOfStock},
		"more than there is by sum": {demo.CreateOrder{UserID: "u-1", Lines: []demo.Line{{SKU: "old-chart", Quantity: 20}, {SKU: "old-chart", Quantity: 20}}}, demo.ErrOutOfStock},
		"no lines":                  {demo.CreateOrder{UserID: "u-1"}, sabir.ErrValidation},
		"none of something":         {demo.CreateOrder{UserID: "u-1", Lines: rope(0)}, sabir.ErrValidation},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sabir.Call[demo.Order](t.Context(), shop.Node, "orders.create", test.in)
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	if left := call[demo.Item](t, shop, "stock.get", demo.GetItem{SKU: "old-chart"}).Quantity; left != 25 {
		t.Errorf("%d old charts are left of 25: a refused order took some", left)
	}
}

func TestStockThatRunsLowIsReordered(t *testing.T) {
	shop := open(t)
	for range 223 { // of 40,000 ropes, of which less than 20,000 are few
		call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: "u-1", Lines: rope(90)})
	}
	if left := call[demo.Item](t, shop, "stock.get", demo.GetItem{SKU: "rope"}).Quantity; left != 40_000-223*90+40_000 {
		t.Errorf("%d ropes, want what was left and 40,000 more", left)
	}
}

func TestOrdersOfOneUserCanBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		shop := open(t)
		watch, err := sabir.OpenStream[demo.WatchOrders, demo.Order](t.Context(), shop.Node, "orders.watch")
		if err != nil {
			t.Fatal(err)
		}
		if err := watch.Send(demo.WatchOrders{UserID: "u-2"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // for the handler to watch
		call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: "u-1", Lines: rope(1)})
		placed := call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: "u-2", Lines: rope(1)})
		if seen, err := watch.Recv(); err != nil || seen.ID != placed.ID {
			t.Errorf("saw %v (%v), want %s only", seen, err, placed.ID)
		}
		watch.Close()
		synctest.Wait() // for the handler to leave
		stop(t, shop)
	})
}

func TestACrashHarmsNobodyElse(t *testing.T) {
	shop := open(t)
	if _, err := sabir.Call[struct{}](t.Context(), shop.Node, "orders.crash", struct{}{}); !errors.Is(err, sabir.ErrPanic) {
		t.Errorf("error %v, want %v", err, sabir.ErrPanic)
	}
	call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: "u-1", Lines: rope(1)})
}

func TestTrafficIsPacedAndMostlyGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where ten seconds pass at once
		meter := demo.NewMeter()
		shop := open(t, sabir.Use(meter.Middleware()))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		shop.Traffic(ctx, 50)
		stop(t, shop)
		stats, reading := shop.Stats(), meter.Total()
		if stats.Orders < 400 || stats.Orders > 501 || stats.Rejected == 0 {
			t.Errorf("%+v after 10 s at 50/s, want most of 500 orders placed and a few rejected", stats)
		}
		if reading.Errors <= stats.Rejected {
			t.Errorf("%d errors and %d rejected orders, want some invalid ones on top", reading.Errors, stats.Rejected)
		}
		if stats.Mails != stats.Orders+stats.Rejected {
			t.Errorf("%d mails for %d orders and %d rejected ones", stats.Mails, stats.Orders, stats.Rejected)
		}
	})
}

func TestAReservationThatMeetsACountIsTriedAgain(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // for the pause
		shop := open(t)
		for range 500 { // the five-hundredth meets one
			call[demo.Reservation](t, shop, "stock.reserve", demo.ReserveStock{Lines: rope(1)})
		}
		if _, err := sabir.Call[demo.Reservation](t.Context(), shop.Node, "stock.reserve", demo.ReserveStock{Lines: rope(1)}, sabir.NoRetry()); err != nil {
			t.Errorf("right after a count: %v", err) // 500 calls were 501 attempts
		}
		for range 497 {
			call[demo.Reservation](t, shop, "stock.reserve", demo.ReserveStock{Lines: rope(1)})
		}
		_, err := sabir.Call[demo.Reservation](t.Context(), shop.Node, "stock.reserve", demo.ReserveStock{Lines: rope(1)}, sabir.NoRetry())
		if !errors.Is(err, demo.ErrCounting) {
			t.Errorf("the thousandth attempt, without another: %v, want %v", err, demo.ErrCounting)
		}
		stop(t, shop)
	})
}

func TestRegisteredUsersCanOrderUntilTheyAreBlocked(t *testing.T) {
	shop := open(t)
	user := call[demo.User](t, shop, "users.register", demo.RegisterUser{Name: "Zoe Serra", Email: "zoe@example.com", City: "Genoa"})
	create := demo.CreateOrder{UserID: user.ID, Lines: rope(1)}
	call[demo.Order](t, shop, "orders.create", create)
	call[demo.User](t, shop, "users.block", demo.BlockUser{ID: user.ID, Blocked: true})
	if _, err := sabir.Call[demo.Order](t.Context(), shop.Node, "orders.create", create); !errors.Is(err, demo.ErrUserBlocked) {
		t.Errorf("a blocked user's order: %v, want %v", err, demo.ErrUserBlocked)
	}
}

func TestListsHaveTheLatestFirstAndTheirLimit(t *testing.T) {
	shop := open(t)
	for _, id := range []string{"u-1", "u-2", "u-1"} {
		call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: id, Lines: rope(1)})
	}
	var ids []string
	for _, order := range call[[]demo.Order](t, shop, "orders.list", demo.ListOrders{UserID: "u-1"}) {
		ids = append(ids, order.ID)
	}
	if !slices.Equal(ids, []string{"o-3", "o-1"}) {
		t.Errorf("orders of u-1: %v, want o-3, o-1", ids)
	}
	if list := call[[]demo.User](t, shop, "users.list", demo.ListUsers{City: "Genoa", Limit: 2}); len(list) != 2 || list[1].City != "Genoa" {
		t.Errorf("two users of Genoa: %+v", list)
	}
}

func TestOnlyTheLastThousandOrdersAreKept(t *testing.T) {
	shop := open(t)
	for range 1001 {
		call[demo.Order](t, shop, "orders.create", demo.CreateOrder{UserID: "u-1", Lines: []demo.Line{{SKU: "tar", Quantity: 1}}})
	}
	call[demo.Order](t, shop, "orders.get", demo.GetOrder{ID: "o-2"})
	if _, err := sabir.Call[demo.Order](t.Context(), shop.Node, "orders.get", demo.GetOrder{ID: "o-1"}); !errors.Is(err, demo.ErrOrderNotFound) {
		t.Errorf("the first of 1001 orders: %v, want %v", err, demo.ErrOrderNotFound)
	}
}

func TestEveryLocalActionExistsWithItsTypes(t *testing.T) {
	shop := open(t)
	for _, action := range demo.LocalActions() {
		call, err := shop.Local(action, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := call(t.Context()); errors.Is(err, sabir.ErrActionNotFound) || errors.Is(err, sabir.ErrBadInput) {
			t.Errorf("%s: %v", action, err)
		}
	}
}
