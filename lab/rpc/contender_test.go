package main

import (
	"errors"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/brokers"

	"github.com/sabir-go/sabir/lab/peers"
)

func TestEveryContenderGivesTheRightAnswer(t *testing.T) {
	for _, c := range slices.Concat(contenders(), distinct(carried())) {
		t.Run(c.name, func(t *testing.T) {
			if c.node {
				t.Parallel() // they wait more than they work
			}
			for _, m := range c.modes {
				t.Run(string(m), func(t *testing.T) {
					l := load{Mode: m, Callers: 5, Size: 100_000, Warmup: 20 * time.Millisecond, Duration: 50 * time.Millisecond}
					result := measureOnce(t, c, l)
					if result.Errors != 0 || result.Calls == 0 {
						t.Errorf("%d calls, %d errors: %s", result.Calls, result.Errors, result.Problem)
					}
				})
			}
		})
	}
}

// distinct drops the later ones of the same name: a carrier's rows of several messages.
func distinct(all []contender) []contender {
	seen := make(map[string]bool)
	return slices.DeleteFunc(all, func(c contender) bool {
		again := seen[c.name]
		seen[c.name] = true
		return again
	})
}

// measureOnce has server and client in the test itself, but those of Node in processes of their own.
func measureOnce(t *testing.T, c contender, l load) outcome {
	t.Helper()
	address, remove, err := freeAddress(c.network)
	if err != nil {
		t.Fatal(err)
	}
	defer remove()
	var broker *brokers.Server
	if c.broker != "" {
		broker = brokers.ForTestShared(t, c.broker)
		address = broker.URL()
	}
	if c.node {
		needNode(t)
		result, err := runAt(t.Context(), c, l, address, broker)
		if err != nil {
			t.Fatal(err)
		}
		return result
	}
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

// needNode skips where Node's peers cannot be had, and says why.
func needNode(t *testing.T) {
	t.Helper()
	var said strings.Builder
	if _, err := peers.Node(t.Context(), &said); errors.Is(err, peers.ErrMissing) {
		brokers.NotTested(t, "%v\n%s", err, &said)
	} else if err != nil {
		t.Fatal(err)
	}
}
