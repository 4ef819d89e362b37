package app_test

import (
	"context"
	"fmt"
	"io"
	"log/slog"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/app"
	"github.com/sabir-go/sabir/actor/supervise"
)

type till struct{ currency string }

type price struct{ cents int }

func (x *till) init(p *actor.Process, _ struct{}) error {
	x.currency = app.Env(p, "currency", "XXX")
	fmt.Println(app.Of(p), "has a till")
	return nil
}

func (x *till) price(_ *actor.Process, m price) (string, error) {
	return fmt.Sprintf("%d.%02d %s", m.cents/100, m.cents%100, x.currency), nil
}

func (x *till) Terminate(p *actor.Process, _ error) { fmt.Println(app.Of(p), "is closed") }

var tills = actor.Define("till", (*till).init, actor.OnCall((*till).price))

func Example() {
	system := actor.NewSystem(actor.Config{Logger: slog.New(slog.NewTextHandler(io.Discard, nil))})
	ctx := context.Background()

	_, err := app.Spec(app.Config{Apps: []app.App{
		{
			Name:  "shop",
			Needs: []string{"bank"},
			Root:  supervise.Spec(supervise.Config{}, supervise.Child{ID: "till", Start: tills.Spec(struct{}{}, actor.SpawnConfig{Name: "till"})}),
			Env:   map[string]any{"currency": "EUR"},
		},
		{Name: "bank", Root: tills.Spec(struct{}{})},
	}}).Start(system)
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := app.On(system, "").Start(ctx, "shop"); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println(actor.Call[string](ctx, system, actor.Name{Name: "till"}, price{1995}))
	system.Stop(ctx)
	// Output:
	// bank has a till
	// shop has a till
	// 19.95 EUR <nil>
	// shop is closed
	// bank is closed
}
