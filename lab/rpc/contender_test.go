package main

import (
	"testing"
	"time"
)

func TestEveryContenderGivesTheRightAnswer(t *testing.T) {
	for _, c := range contenders() {
		t.Run(c.name, func(t *testing.T) {
			for _, m := range c.modes {
				t.Run(string(m), func(t *testing.T) {
					l := load{Mode: m, Callers: 5, Size: 100_000, Warmup: 20 * time.Millisecond, Duration: 50 * time.Millisecond}
					result := inOneProcess(t, c, l)
					if result.Errors != 0 || result.Calls == 0 {
						t.Errorf("%d calls, %d errors: %s", result.Calls, result.Errors, result.Problem)
					}
				})
			}
		})
	}
}

// inOneProcess has server and client in the test itself.
func inOneProcess(t *testing.T, c contender, l load) outcome {
	t.Helper()
	address, remove, err := freeAddress(c.network)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	stop, err := c.serve(address)
	if err != nil {
		t.Fatal(err)
	}
	defer stop()
	dialed, err := c.dial(address, l.Callers)
	if err != nil {
		t.Fatal(err)
	}
	defer dialed.close()
	measure, err := l.prepare(dialed)
	if err != nil {
		t.Fatal(err)
	}
	result, err := measure()
	if err != nil {
		t.Fatal(err)
	}
	return result
}
