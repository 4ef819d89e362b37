package main

import (
	"context"
	"fmt"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir"

	"github.com/sabir-go/sabir/lab/child"
)

// stride takes the operations of the growing tables through all actions, or patterns, in an order that no cache foresees. It is a prime that divides none
// of their numbers.
const stride = 7919

// amongActions calls actions by name, of which there are many, each another one than before. Each adds its own number.
func amongActions(o child.Order) (work, error) {
	numbers := sabir.NewService("numbers")
	names := make([]string, o.Size)
	for i := range names {
		names[i] = "numbers.add" + strconv.Itoa(i)
		sabir.Handle(numbers, "add"+strconv.Itoa(i), func(_ context.Context, in Pair) (int, error) { return in.A + in.B + i, nil })
	}
	node, stop, err := started(sabir.Serve(numbers))
	if err != nil {
		return work{}, err
	}
	ctx := context.Background()
	return work{stop: stop, do: sumsAmong(o.Size, func(i int, in Pair) (int, error) { return sabir.Call[int](ctx, node, names[i], in) })}, nil
}

// plainAmongActions looks functions up by name.
func plainAmongActions(o child.Order) (work, error) {
	names, functions := make([]string, o.Size), make(map[string]function, o.Size)
	for i := range names {
		names[i] = "numbers.add" + strconv.Itoa(i)
		functions[names[i]] = func(_ context.Context, in Pair) (int, error) { return in.A + in.B + i, nil }
	}
	ctx := context.Background()
	return work{do: sumsAmong(o.Size, func(i int, in Pair) (int, error) { return functions[names[i]](ctx, in) })}, nil
}

// sumsAmong is operations that call one of a number of functions after the other and check the answer, to which each adds its number.
//
//go:noinline
func sumsAmong(functions int, call func(i int, in Pair) (int, error)) func(n int) error {
	at := 0
	return func(n int) error {
		for range n {
			at = (at + stride) % functions
			sum, err := call(at, Pair{at, 7})
			if err != nil {
				return err
			}
			if sum != 2*at+7 {
				return fmt.Errorf("action %d answered %d with %d", at, at, sum)
			}
		}
		return nil
	}
}

// amongPatterns emits events, of each of which one handler among many has the pattern.
func amongPatterns(fresh bool) func(child.Order) (work, error) {
	return func(o child.Order) (work, error) {
		h := &heard{}
		listener := sabir.NewService("listener")
		for i := range o.Size {
			sabir.On(listener, "shop"+strconv.Itoa(i)+".*", func(_ context.Context, in UserCreated) error { h.take(i, in.ID); return nil })
		}
		node, stop, err := started(sabir.Serve(listener))
		if err != nil {
			return work{}, err
		}
		ctx := context.Background()
		return work{stop: stop, do: h.events(o.Size, fresh, func(name string, in UserCreated) error { return sabir.Emit(ctx, node, name, in) })}, nil
	}
}

// plainAmongPatterns looks the handler up by the first word of the event's name.
func plainAmongPatterns(fresh bool) func(child.Order) (work, error) {
	return func(o child.Order) (work, error) {
		h := &heard{}
		handlers := make(map[string]func(context.Context, UserCreated) error, o.Size)
		for i := range o.Size {
			handlers["shop"+strconv.Itoa(i)] = func(_ context.Context, in UserCreated) error { h.take(i, in.ID); return nil }
		}
		ctx := context.Background()
		return work{do: h.events(o.Size, fresh, func(name string, in UserCreated) error {
			first, _, _ := strings.Cut(name, ".")
			return handlers[first](ctx, in)
		})}, nil
	}
}

// heard is the handler that had the last event, the event's number, and how many there were.
type heard struct{ by, id, delivered int }

func (h *heard) take(by, id int) { *h = heard{by, id, h.delivered + 1} }

// events emits one event for each of the patterns in turn, and checks after each that the handler of its pattern has had it, and no other. The names are the
// same again and again, or have never been seen before.
func (h *heard) events(patterns int, fresh bool, emit func(name string, in UserCreated) error) func(n int) error {
	names := make([]string, patterns)
	for i := range names {
		names[i] = "shop" + strconv.Itoa(i) + ".order"
	}
	at, id := 0, 0
	return func(n int) error {
		for range n {
			at, id = (at+stride)%patterns, id+1
			name := names[at]
			if fresh {
				name += strconv.Itoa(id)
			}
			before := h.delivered
			if err := emit(name, UserCreated{id, "Ada"}); err != nil {
				return err
			}
			if *h != (heard{at, id, before + 1}) {
				return fmt.Errorf("the event %q with the number %d was handled %d times, last by handler %d with the number %d", name, id, h.delivered-before, h.by, h.id)
			}
		}
		return nil
	}
}
