package docs

import (
	"bytes"
	"context"
	"errors"
	"log/slog"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/sabirtest"
)

// The pieces of code of testing.md, and of telemetry.md's slow calls.

type Reservation struct {
	Item string `json:"item"`
}

type Purchase struct {
	Item string `json:"item"`
}

type Stock struct {
	Left int `json:"left"`
}

var (
	Reserve       = sabir.NewAction[Reservation, Stock]("stock.reserve")
	Place         = sabir.NewAction[Purchase, Purchase]("orders.place")
	Placed        = sabir.NewEvent[Purchase]("orders.placed")
	ErrOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")
)

// newOrders is a service that needs another one, and waits for it for 20 minutes.
func newOrders() *sabir.Service {
	orders := sabir.NewService("orders", sabir.DependsOn(Reserve))
	Place.Handle(orders, func(ctx context.Context, o Purchase) (Purchase, error) {
		if _, err := Reserve.Call(ctx, orders, Reservation{Item: o.Item}); err != nil {
			return Purchase{}, err
		}
		if err := Placed.Emit(context.WithoutCancel(ctx), orders, o); err != nil { // the order stands
			sabir.NodeFromContext(ctx).Log().WarnContext(ctx, "an order was not announced", "error", err)
		}
		return o, nil
	}, sabir.Use(policy.Timeout(20*time.Minute)))
	return orders
}

func TestAServiceIsTestedWithoutThoseThatItCalls(t *testing.T) {
	// doc: stand-ins
	var fakes sabirtest.Fakes
	reserved := sabirtest.Fake(&fakes, Reserve, func(context.Context, Reservation) (Stock, error) { return Stock{Left: 3}, nil })
	placed := sabirtest.Events(&fakes, Placed)
	var faults sabirtest.Faults
	faults.Fail("stock.reserve", 2, ErrOutOfStock) // the second call

	node := sabirtest.Start(t, sabir.Serve(newOrders()), fakes.Serve(), sabir.Use(&faults))
	_, first := Place.Call(t.Context(), node, Purchase{Item: "rope"})
	_, second := Place.Call(t.Context(), node, Purchase{Item: "rope"})
	if first != nil || !errors.Is(second, ErrOutOfStock) {
		t.Fatal(first, second)
	}
	if events := placed.Await(t, 1); events[0].Item != "rope" || reserved.Len() != 1 {
		t.Error(events, reserved.All())
	}
	// end
}

func TestATimeoutOfTwentyMinutesPassesInAnInstant(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		// doc: bubble
		var fakes sabirtest.Fakes
		sabirtest.Fake(&fakes, Reserve, func(ctx context.Context, _ Reservation) (Stock, error) {
			<-ctx.Done() // a warehouse that does not answer
			return Stock{}, ctx.Err()
		})
		node := sabirtest.Start(t, sabir.Serve(newOrders()), fakes.Serve())

		began := time.Now()
		_, err := Place.Call(t.Context(), node, Purchase{Item: "rope"})
		if took := time.Since(began); !errors.Is(err, sabir.ErrDeadlineExceeded) || took != 20*time.Minute {
			t.Error(err, took)
		}
		// end
	})
}

func TestASlowCallIsALineOfTheLog(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var text bytes.Buffer
		log := slog.New(slog.NewTextHandler(&text, nil))
		// doc: slow-calls
		slow := sabir.Middleware{Name: "slow", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			return func(ctx context.Context, r *sabir.Request) error {
				start := time.Now()
				err := next(ctx, r)
				if took := time.Since(start); took > 200*time.Millisecond {
					log.WarnContext(ctx, "slow call", "took", took, "error", err) // with a telemetry.LogHandler: its action, request and trace
				}
				return err
			}
		}}
		// end
		sleepers := sabir.NewService("sleepers")
		sabir.Handle(sleepers, "sleep", func(_ context.Context, ms int) (int, error) {
			time.Sleep(time.Duration(ms) * time.Millisecond)
			return ms, nil
		})
		node := sabirtest.Start(t, sabir.Serve(sleepers), sabir.Use(slow))
		for _, ms := range []int{100, 300} {
			if _, err := sabir.Call[int](t.Context(), node, "sleepers.sleep", ms); err != nil {
				t.Fatal(err)
			}
		}
		if strings.Count(text.String(), "slow call") != 1 || !strings.Contains(text.String(), "took=300ms") {
			t.Errorf("the log has %s", text.String())
		}
	})
}
