package shop_test

import (
	"errors"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/sabirtest"
)

func TestAnOrderIsInvoicedByTheChannel(t *testing.T) {
	var fakes sabirtest.Fakes
	invoices := sabirtest.Messages(&fakes, shop.Invoices)
	app := open(t, fakes.Serve())
	order := call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(2)})
	if got := invoices.Await(t, 1)[0]; got != (shop.Invoice{OrderID: order.ID, UserID: "u-1", Cents: order.TotalCents}) {
		t.Errorf("%+v for %+v", got, order)
	}
}

func TestWhereStockFailsThereIsNoOrderAndNoInvoice(t *testing.T) {
	var fakes sabirtest.Fakes
	var faults sabirtest.Faults
	invoices := sabirtest.Messages(&fakes, shop.Invoices)
	faults.Fail("stock.reserve", 2, sabir.NewError(sabir.CodeUnavailable, "Fire", "the stock is on fire"))
	app := open(t, fakes.Serve(), sabir.Use(faults.Middleware()))
	place := func() error {
		_, err := sabir.Call[shop.Order](t.Context(), app.Node, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
		return err
	}
	first, second, third := place(), place(), place()
	if first != nil || sabir.AsError(second).Name != "Fire" || third != nil {
		t.Errorf("the orders end with %v, %v and %v", first, second, third)
	}
	got := invoices.Await(t, 2)
	if ids := []string{got[0].OrderID, got[1].OrderID}; !slices.Contains(ids, "o-1") || !slices.Contains(ids, "o-2") || len(call[[]shop.Order](t, app, "orders.list", shop.ListOrders{})) != 2 {
		t.Errorf("invoices of %v", ids)
	}
}

func TestARefusedCardIsADeadLetterThatCanBeReplayed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := open(t)
		for range 40 { // one of which the bank refuses
			call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
		}
		time.Sleep(time.Second) // for the channel, in the test's own time
		letters, err := channel.DeadLetters(t.Context(), app.Node, "shop.invoices.dead", 10)
		if err != nil || len(letters) != 1 || letters[0].Dead.Reason != "the bank refused the card of u-1" {
			t.Fatalf("%+v %v", letters, err)
		}
		if n, err := channel.Replay(t.Context(), app.Node, "shop.invoices.dead"); n != 1 || err != nil {
			t.Fatal(n, err)
		}
		time.Sleep(time.Second)
		if billed := call[shop.Billed](t, app, "billing.total", shop.GetBilled{}); billed.Invoices != 40 || billed.Refused != 1 {
			t.Errorf("%+v", billed)
		}
		stop(t, app)
	})
}

func TestCouriersBringWhatWasOrderedAndOneThatFallsBeginsAnew(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		app := open(t)
		for range 400 { // with the last of which a courier falls
			call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
		}
		time.Sleep(time.Second)
		for _, c := range call[[]shop.Courier](t, app, "delivery.couriers", struct{}{}) {
			if c.Delivered != 0 { // all parcels were one customer's, and so one courier's
				t.Errorf("%+v", c)
			}
		}
		call[shop.Order](t, app, "orders.create", shop.CreateOrder{UserID: "u-1", Lines: rope(1)})
		time.Sleep(time.Second)
		if all := call[[]shop.Courier](t, app, "delivery.couriers", struct{}{}); !slices.ContainsFunc(all, func(c shop.Courier) bool { return c.Delivered == 1 }) {
			t.Errorf("%+v", all)
		}
		stop(t, app)
	})
}

func TestTheErrorsOfAnOrderAreDeclared(t *testing.T) {
	app := open(t)
	declared := app.Node.Action("orders.create").Errors
	for _, want := range []*sabir.Error{shop.ErrUserNotFound, shop.ErrUserBlocked, shop.ErrItemNotFound, shop.ErrOutOfStock} {
		if !slices.ContainsFunc(declared, func(e *sabir.Error) bool { return errors.Is(e, want) }) {
			t.Errorf("%s is not declared", want.Name)
		}
	}
}
