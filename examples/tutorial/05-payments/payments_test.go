package payments

import (
	"context"
	"errors"
	"log/slog"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
)

func startNode(t *testing.T, charge func(context.Context, Payment) error) *sabir.Node {
	t.Helper()
	quiet := sabir.Logger(slog.New(slog.DiscardHandler))
	// doc: node
	node := sabir.NewNode(sabir.Serve(New(charge)), channel.Broker("mem://"), quiet) // or nats://embedded?store=data, redis://…
	// end
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

func TestAPaymentThatFailsIsTriedAgain(t *testing.T) {
	charged, attempts := make(chan Payment), 0
	node := startNode(t, func(_ context.Context, p Payment) error {
		if attempts++; attempts == 1 {
			return errors.New("the bank is closed")
		}
		charged <- p
		return nil
	})
	ctx, payment := t.Context(), Payment{OrderID: "o-1", Cents: 500}
	// doc: publish
	_, err := Payments.PublishWithID(ctx, node, payment.OrderID, payment) // nil: the broker keeps it
	// end
	if err != nil {
		t.Fatal(err)
	}
	if got := <-charged; got != payment {
		t.Errorf("%+v, want %+v", got, payment)
	}
}

func TestAPaymentThatCannotBeIsDeadLettered(t *testing.T) {
	node := startNode(t, func(context.Context, Payment) error { return nil })
	ctx := t.Context()
	if _, err := Payments.Publish(ctx, node, Payment{OrderID: "o-2"}); err != nil {
		t.Fatal(err)
	}
	for tick := time.NewTicker(10 * time.Millisecond); ; <-tick.C {
		// doc: dead-letters
		letters, err := channel.DeadLetters(ctx, node, "shop.payments.dead", 10)
		// end
		if err != nil {
			t.Fatal(err)
		}
		if len(letters) == 1 {
			return
		}
	}
}
