package main

import (
	"context"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/sabir-go/sabir"

	"github.com/sabir-go/sabir/lab/child"
)

// listening is the Extra of the order of an event's row.
type listening struct {
	Pattern string `json:"pattern"`
	Payload bool   `json:"payload"`
}

// UserCreated is the payload.
type UserCreated struct {
	ID   int    `json:"id"`
	Name string `json:"name"`
}

// tally counts deliveries and adds up what they brought.
type tally struct{ delivered, total int }

func (t *tally) take(id int) {
	t.delivered++
	t.total += id
}

// events emits events to a number of handlers and checks after each that all have had it, and at the end what they have had.
func (t *tally) events(handlers int, payload bool, emit func(id int) error) func(n int) error {
	return func(n int) error {
		t.delivered, t.total = 0, 0
		sum := 0
		for id := 1; id <= n; id++ {
			if err := emit(id); err != nil {
				return err
			}
			if payload {
				sum += id * handlers
			}
			if t.delivered != id*handlers {
				return fmt.Errorf("after %d events there were %d of %d deliveries", id, t.delivered, id*handlers)
			}
		}
		if t.total != sum {
			return fmt.Errorf("the payloads' sum is %d, not %d", t.total, sum)
		}
		return nil
	}
}

// emitting emits "user.created" to a number of services that listen by a pattern.
func emitting(o child.Order) (work, error) {
	var how listening
	if err := json.Unmarshal(o.Extra, &how); err != nil {
		return work{}, fmt.Errorf("the order's events: %w", err)
	}
	t := new(tally)
	var services []sabir.Servable
	for i := range o.Size {
		s := sabir.NewService("listener" + strconv.Itoa(i))
		if how.Payload {
			sabir.On(s, how.Pattern, func(_ context.Context, in UserCreated) error { t.take(in.ID); return nil })
		} else {
			sabir.On(s, how.Pattern, func(context.Context, sabir.Empty) error { t.take(0); return nil })
		}
		services = append(services, s)
	}
	node, stop, err := started(sabir.Serve(services...))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	emit := func(int) error { return sabir.Emit(ctx, node, "user.created", sabir.Empty{}) }
	if how.Payload {
		emit = func(id int) error { return sabir.Emit(ctx, node, "user.created", UserCreated{id, "Ada"}) }
	}
	return work{do: t.events(o.Size, how.Payload, emit), stop: stop}, nil
}
