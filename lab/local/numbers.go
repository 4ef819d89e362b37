package main

import (
	"context"
	"fmt"
)

// Pair is the input of the call of most tables, whose answer is its sum.
type Pair struct {
	A int `json:"a"`
	B int `json:"b"`
}

func add(_ context.Context, in Pair) (int, error) { return in.A + in.B, nil }

// The makers of operations are not inlined, so that what they are given is called as a value: the compiler does not see what it
// is, also where it is a limit.

// sums is operations that add another pair each time and check the answer.
//
//go:noinline
func sums(add func(Pair) (int, error)) func(n int) error {
	const most = 1 << 16
	next := 0
	return func(n int) error {
		for range n {
			next = (next + 1) % most
			sum, err := add(Pair{next, 7})
			if err != nil {
				return err
			}
			if sum != next+7 {
				return fmt.Errorf("%d + 7 was answered with %d", next, sum)
			}
		}
		return nil
	}
}

// counting is operations whose answers are the numbers in their order.
//
//go:noinline
func counting(next func() (int, error)) func(n int) error {
	expected := 0
	return func(n int) error {
		for range n {
			expected++
			answer, err := next()
			if err != nil {
				return err
			}
			if answer != expected {
				return fmt.Errorf("%d was answered with %d", expected, answer)
			}
		}
		return nil
	}
}
