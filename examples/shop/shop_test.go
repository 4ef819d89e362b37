package shop_test

import (
	"context"
	"errors"
	"log/slog"
	"runtime"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(brokers.Stopping(m)) }

// open runs the shop for the length of a test.
func open(t testing.TB, options ...sabir.NodeOption) *shop.Shop {
	t.Helper()
	quiet := sabir.Logger(slog.New(slog.DiscardHandler))
	app := shop.New(append([]sabir.NodeOption{quiet}, options...)...)
	if err := app.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, app) })
	return app
}

func stop(t testing.TB, app *shop.Shop) {
	t.Helper()
	if app.State() != "running" {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	if err := app.Stop(ctx); err != nil {
		t.Error(err)
	}
}

func call[Out, In any](t testing.TB, app *shop.Shop, action string, in In) Out {
	t.Helper()
	out, err := sabir.Call[Out](t.Context(), app.Node, action, in)
	if err != nil {
		t.Fatalf("%s: %v", action, err)
	}
	return out
}

func rope(quantity int) []shop.Line { return []shop.Line{{SKU: "rope", Quantity: quantity}} }

func TestAnOrderTakesFromStockAndIsConfirmedByMail(t *testing.T) {
	app := open(t)
	before := call[shop.Item](t, app, "stock.get", shop.GetItem{SKU: "rope"})
	order := call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(3)})
	after := call[shop.Item](t, app, "stock.get", shop.GetItem{SKU: "rope"})
	if before.Quantity-after.Quantity != 3 || order.TotalCents != 3*before.PriceCents {
		t.Errorf("3 ropes: stock went from %d to %d, total %d", before.Quantity, after.Quantity, order.TotalCents)
	}
	if kept := call[shop.Order](t, app, "orders.get", shop.GetOrder{ID: order.ID}); kept.TotalCents != order.TotalCents {
		t.Errorf("kept %+v, placed %+v", kept, order)
	}
	stop(t, app) // a queue is empty when its service has stopped
	if stats := app.Stats(); stats != (shop.Stats{Orders: 1, Mails: 1}) {
		t.Errorf("stats %+v, want one order and one mail", stats)
	}
}

func TestEachCustomerCollectsPointsInAGrain(t *testing.T) {
	app := open(t)
	first := call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(90)})
	second := call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(70)})
	call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-2", Lines: rope(80)})
	want := shop.Points{Orders: 2, Points: first.TotalCents/100 + second.TotalCents/100}
	for call[shop.Points](t, app, "loyalty.get", shop.GetPoints{UserID: "u-1"}) != want {
		runtime.Gosched() // its handler is queued
		if t.Context().Err() != nil {
			t.Fatal("the points do not come")
		}
	}
	list := call[struct {
		Grains []struct {
			Kind string `json:"kind"`
			Key  string `json:"key"`
		} `json:"grains"`
	}](t, app, "$grains.list", struct{}{})
	keys := []string{}
	for _, g := range list.Grains {
		keys = append(keys, g.Kind+" "+g.Key)
	}
	if !slices.Contains(keys, "card u-1") {
		t.Errorf("active are %v", keys)
	}
}

func TestWhatTheShopRefuses(t *testing.T) {
	app := open(t)
	for name, test := range map[string]struct {
		in   shop.CreateOrder
		want error
	}{
		"an unknown user":           {shop.CreateOrder{UserID: "u-999", Lines: rope(1)}, shop.ErrUserNotFound},
		"an id that is none":        {shop.CreateOrder{UserID: "u-01", Lines: rope(1)}, shop.ErrUserNotFound},
		"a blocked user":            {shop.CreateOrder{UserID: "u-13", Lines: rope(1)}, shop.ErrUserBlocked},
		"an unknown item":           {shop.CreateOrder{UserID: "u-1", Lines: []shop.Line{{SKU: "anchor", Quantity: 1}}}, shop.ErrItemNotFound},
		"more than there is":        {shop.CreateOrder{UserID: "u-1", Lines: []shop.Line{{SKU: "old-chart", Quantity: 26}}}, shop.ErrOutOfStock},
		"more than there is by sum": {shop.CreateOrder{UserID: "u-1", Lines: []shop.Line{{SKU: "old-chart", Quantity: 20}, {SKU: "old-chart", Quantity: 20}}}, shop.ErrOutOfStock},
		"no lines":                  {shop.CreateOrder{UserID: "u-1"}, sabir.ErrValidationFailed},
		"none of something":         {shop.CreateOrder{UserID: "u-1", Lines: rope(0)}, sabir.ErrValidationFailed},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := sabir.Call[shop.Order](t.Context(), app.Node, "orders.create", test.in)
			if !errors.Is(err, test.want) {
				t.Errorf("error %v, want %v", err, test.want)
			}
		})
	}
	if left := call[shop.Item](t, app, "stock.get", shop.GetItem{SKU: "old-chart"}).Quantity; left != 25 {
		t.Errorf("%d old charts are left of 25: a refused order took some", left)
	}
}

func TestStockThatRunsLowIsReordered(t *testing.T) {
	app := open(t)
	for range 223 { // of 40,000 ropes, of which less than 20,000 are low stock
		call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(90)})
	}
	if left := call[shop.Item](t, app, "stock.get", shop.GetItem{SKU: "rope"}).Quantity; left != 40_000-223*90+40_000 {
		t.Errorf("%d ropes, want what was left and 40,000 more", left)
	}
}

func TestOrdersOfOneUserCanBeWatched(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := open(t)
		watch, err := sabir.OpenStream[shop.WatchOrders, shop.Order](t.Context(), app.Node, "orders.watch")
		if err != nil {
			t.Fatal(err)
		}
		if err := watch.Send(shop.WatchOrders{UserID: "u-2"}); err != nil {
			t.Fatal(err)
		}
		synctest.Wait() // for the handler to watch
		call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
		placed := call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-2", Lines: rope(1)})
		if seen, err := watch.Recv(); err != nil || seen.ID != placed.ID {
			t.Errorf("saw %v (%v), want %s only", seen, err, placed.ID)
		}
		watch.Close()
		synctest.Wait() // for the handler to leave
		stop(t, app)
	})
}

func TestACrashHarmsNoOtherProcess(t *testing.T) {
	app := open(t)
	if _, err := sabir.Call[struct{}](t.Context(), app.Node, "orders.crash", struct{}{}); !errors.Is(err, sabir.ErrPanic) {
		t.Errorf("error %v, want %v", err, sabir.ErrPanic)
	}
	call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
}

func TestTrafficIsPacedAndMostlyGood(t *testing.T) {
	synctest.Test(t, func(t *testing.T) { // where ten seconds pass at once
		meter := shop.NewMeter()
		app := open(t, sabir.Use(meter.Middleware()))
		ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
		defer cancel()
		app.Traffic(ctx, 50)
		stop(t, app)
		stats, reading := app.Stats(), meter.Total()
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
		app := open(t)
		for range 500 { // the five-hundredth meets one
			call[shop.Reservation](t, app, "stock.reserve", shop.ReserveStock{Lines: rope(1)})
		}
		if _, err := sabir.Call[shop.Reservation](t.Context(), app.Node, "stock.reserve", shop.ReserveStock{Lines: rope(1)}, sabir.NoRetry()); err != nil {
			t.Errorf("right after a count: %v", err) // 500 calls were 501 attempts
		}
		for range 497 {
			call[shop.Reservation](t, app, "stock.reserve", shop.ReserveStock{Lines: rope(1)})
		}
		_, err := sabir.Call[shop.Reservation](t.Context(), app.Node, "stock.reserve", shop.ReserveStock{Lines: rope(1)}, sabir.NoRetry())
		if !errors.Is(err, shop.ErrCounting) {
			t.Errorf("the thousandth attempt, without another: %v, want %v", err, shop.ErrCounting)
		}
		stop(t, app)
	})
}

func TestRegisteredUsersCanOrderUntilTheyAreBlocked(t *testing.T) {
	app := open(t)
	user := call[shop.User](t, app, "users.register", shop.RegisterUser{Name: "Zoe Serra", Email: "zoe@example.com", City: "Genoa"})
	create := shop.CreateOrder{UserID: user.ID, Lines: rope(1)}
	call[shop.Order](t, app, "orders.create", create)
	call[shop.User](t, app, "users.block", shop.BlockUser{ID: user.ID, Blocked: true})
	if _, err := sabir.Call[shop.Order](t.Context(), app.Node, "orders.create", create); !errors.Is(err, shop.ErrUserBlocked) {
		t.Errorf("a blocked user's order: %v, want %v", err, shop.ErrUserBlocked)
	}
}

func TestListsHaveTheLatestFirstAndTheirLimit(t *testing.T) {
	app := open(t)
	for _, id := range []string{"u-1", "u-2", "u-1"} {
		call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: id, Lines: rope(1)})
	}
	var ids []string
	for _, order := range call[[]shop.Order](t, app, "orders.list", shop.ListOrders{UserID: "u-1"}) {
		ids = append(ids, order.ID)
	}
	if !slices.Equal(ids, []string{"o-3", "o-1"}) {
		t.Errorf("orders of u-1: %v, want o-3, o-1", ids)
	}
	if list := call[[]shop.User](t, app, "users.list", shop.ListUsers{City: "Genoa", Limit: 2}); len(list) != 2 || list[1].City != "Genoa" {
		t.Errorf("two users of Genoa: %+v", list)
	}
}

func TestOnlyTheLastThousandOrdersAreKept(t *testing.T) {
	app := open(t)
	for range 1001 {
		call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: []shop.Line{{SKU: "tar", Quantity: 1}}})
	}
	call[shop.Order](t, app, "orders.get", shop.GetOrder{ID: "o-2"})
	if _, err := sabir.Call[shop.Order](t.Context(), app.Node, "orders.get", shop.GetOrder{ID: "o-1"}); !errors.Is(err, shop.ErrOrderNotFound) {
		t.Errorf("the first of 1001 orders: %v, want %v", err, shop.ErrOrderNotFound)
	}
}

func TestEveryLocalActionExistsWithItsTypes(t *testing.T) {
	app := open(t)
	for _, action := range shop.LocalActions() {
		call, err := app.Local(action, []byte(`{}`))
		if err != nil {
			t.Fatal(err)
		}
		if err := call(t.Context()); errors.Is(err, sabir.ErrActionNotFound) || errors.Is(err, sabir.ErrBadInput) {
			t.Errorf("%s: %v", action, err)
		}
	}
}
