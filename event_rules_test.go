package sabir_test

import (
	"context"
	"errors"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/validate"
)

type ruledEvent struct {
	Amount int `json:"amount" validate:"min=1"`
}

func TestAnEventThatBreaksRulesIsTheEmittersErrorAndNotHandled(t *testing.T) {
	paid := sabir.NewEvent[ruledEvent]("paid")
	for name, options := range map[string][]sabir.EventOption{"plain": nil, "queued": {sabir.Delivery{Buffer: 4}}} {
		handled := make(chan ruledEvent, 2)
		s := sabir.NewService("books")
		paid.On(s, func(_ context.Context, e ruledEvent) error {
			handled <- e
			return nil
		}, options...)
		join := sabir.Join("mem://" + t.Name() + name)
		here := startNode(t, sabir.NodeID("here"), join, sabir.Serve(s))
		elsewhere := startNode(t, sabir.NodeID("elsewhere"), join)
		if err := elsewhere.WaitFor(t.Context(), "books"); err != nil {
			t.Fatal(err)
		}
		for where, node := range map[string]*sabir.Node{"on its own node": here, "from another": elsewhere} {
			t.Run(name+" "+where, func(t *testing.T) {
				err := paid.Emit(t.Context(), node, ruledEvent{})
				fields, _ := sabir.DataAs[validate.Errors](err)
				if !errors.Is(err, sabir.ErrValidationFailed) || len(fields) != 1 || fields[0].Path != "amount" {
					t.Errorf("%v, %+v", err, fields)
				}
				if err := paid.Emit(t.Context(), node, ruledEvent{7}); err != nil {
					t.Error(err)
				}
				if e := <-handled; e.Amount != 7 {
					t.Errorf("handled: %+v", e)
				}
			})
		}
	}
}

func TestAnEventHandlerWithRulesThatCannotBeDoesNotStart(t *testing.T) {
	s := sabir.NewService("books")
	sabir.On(s, "paid", func(context.Context, struct {
		Amount int `validate:"prime"`
	}) error {
		return nil
	})
	if err := sabir.NewNode(sabir.Serve(s)).Start(t.Context()); !errors.Is(err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", "")) {
		t.Errorf("%v, want %v", err, sabir.NewError(sabir.CodeInvalidArgument, "BadService", ""))
	}
}

type pageRequest struct {
	Size int `json:"size" default:"20" validate:"min=1"`
}

func TestADefaultHoldsWhereverAValueComesIn(t *testing.T) {
	list := sabir.NewAction[pageRequest, int]("pages.list")
	turned := sabir.NewEvent[pageRequest]("turned")
	s := sabir.NewService("pages")
	list.Handle(s, func(_ context.Context, in pageRequest) (int, error) { return in.Size, nil })
	sizes := make(chan int, 1)
	turned.On(s, func(_ context.Context, e pageRequest) error {
		sizes <- e.Size
		return nil
	})
	join := sabir.Join("mem://" + t.Name())
	here := startNode(t, sabir.NodeID("here"), join, sabir.Serve(s))
	elsewhere := startNode(t, sabir.NodeID("elsewhere"), join)
	if err := elsewhere.WaitFor(t.Context(), "pages"); err != nil {
		t.Fatal(err)
	}
	for where, node := range map[string]*sabir.Node{"on its own node": here, "from another": elsewhere} {
		for size, want := range map[int]int{0: 20, 7: 7} {
			if got, err := list.Call(t.Context(), node, pageRequest{size}); err != nil || got != want {
				t.Errorf("a call %s with %d: %d, %v", where, size, got, err)
			}
			if err := turned.Emit(t.Context(), node, pageRequest{size}); err != nil {
				t.Errorf("an event %s with %d: %v", where, size, err)
			} else if got := <-sizes; got != want {
				t.Errorf("an event %s with %d: %d", where, size, got)
			}
		}
		if text, err := sabir.CallJSON(t.Context(), node, "pages.list", []byte(`{}`)); err != nil || string(text) != "20" {
			t.Errorf("JSON %s: %s, %v", where, text, err)
		}
	}
}
