//go:build unix

package faults_test

import (
	"context"
	"errors"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/amqp"
	_ "github.com/sabir-go/sabir/broker/mqtt"
	_ "github.com/sabir-go/sabir/broker/nats"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/internal/brokers"
)

// member starts a node at a broker, with a service of its own name whose action counts its calls.
func member(t *testing.T, broker *brokers.Server, id string) (n *sabir.Node, handled *atomic.Int64) {
	t.Helper()
	handled = new(atomic.Int64)
	s := sabir.NewService(id)
	sabir.Handle(s, "add", func(_ context.Context, in int) (int, error) {
		handled.Add(1)
		return in + 1, nil
	})
	n = sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Serve(s), sabir.Join(broker.URL()))
	if err := n.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), waitLimit)
		defer cancel()
		if err := n.Stop(ctx); err != nil {
			t.Errorf("%s: %v", id, err)
		}
	})
	return n, handled
}

// callers keeps calls of an action going until stopped, and counts what becomes of them.
type callers struct {
	done, failed, lost, worst atomic.Int64
	stop                      func()
}

func keepCalling(n *sabir.Node, action string, many int) *callers {
	c := new(callers)
	ctx, cancel := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	for range many {
		wg.Go(func() {
			for ctx.Err() == nil {
				began := time.Now()
				out, err := sabir.Call[int](context.Background(), n, action, 1)
				switch {
				case err == nil && out == 2:
					c.done.Add(1)
				case errors.Is(err, sabir.ErrLinkLost):
					c.lost.Add(1)
				default: // no node offers it just now
					c.failed.Add(1)
				}
				for took := int64(time.Since(began)); ; {
					worst := c.worst.Load()
					if took <= worst || c.worst.CompareAndSwap(worst, took) {
						break
					}
				}
			}
		})
	}
	c.stop = func() {
		cancel()
		wg.Wait()
	}
	return c
}

var fastBrokers = []brokers.Kind{brokers.NATS, brokers.Redis, brokers.Mosquitto}

// A broker that is killed and comes back within the limit of silence costs time and nothing else.
func TestABriefOutageOfTheBrokerFailsNoCallAndDropsNoNode(t *testing.T) {
	for _, kind := range fastBrokers {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			broker := brokers.ForTest(t, kind)
			a, _ := member(t, broker, "a")
			_, handled := member(t, broker, "b")
			if err := a.WaitFor(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			calls := keepCalling(a, "b.add", 20)
			for calls.done.Load() < 1000 {
				time.Sleep(time.Millisecond)
			}
			var missed atomic.Int64 // looks at which b was not there
			watched, stopWatching := context.WithCancel(t.Context())
			var watch sync.WaitGroup
			watch.Go(func() {
				for watched.Err() == nil {
					if len(a.Nodes()) != 2 {
						missed.Add(1)
					}
					time.Sleep(time.Millisecond)
				}
			})
			for range 3 {
				if err := broker.Kill(); err != nil {
					t.Fatal(err)
				}
				if err := broker.Restart(); err != nil {
					t.Fatal(err)
				}
				before := calls.done.Load()
				for began := time.Now(); calls.done.Load() < before+1000; {
					if time.Since(began) > waitLimit {
						t.Fatalf("%d calls were answered in %v after the broker came back", calls.done.Load()-before, waitLimit)
					}
					time.Sleep(time.Millisecond)
				}
			}
			calls.stop()
			stopWatching()
			watch.Wait()
			t.Logf("%d calls answered, the slowest after %v; %d failed; %d handled", calls.done.Load(), time.Duration(calls.worst.Load()).Round(time.Millisecond),
				calls.lost.Load()+calls.failed.Load(), handled.Load())
			if lost := calls.lost.Load() + calls.failed.Load(); lost > 0 || missed.Load() > 0 || handled.Load() != calls.done.Load() {
				t.Errorf("%d calls failed, %d were answered of %d handled; b was not listed %d times", lost, calls.done.Load(), handled.Load(), missed.Load())
			}
		})
	}
}

// After a long outage calls in flight have failed, and everything is as before.
func TestALongOutageOfTheBrokerFailsCallsAndNodesFindEachOtherAgain(t *testing.T) {
	for _, kind := range fastBrokers {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			broker := brokers.ForTest(t, kind)
			a, _ := member(t, broker, "a")
			member(t, broker, "b")
			if err := a.WaitFor(t.Context(), "b"); err != nil {
				t.Fatal(err)
			}
			if err := broker.Kill(); err != nil {
				t.Fatal(err)
			}
			began := time.Now()
			_, err := sabir.Call[int](context.Background(), a, "b.add", 1)
			if !errors.Is(err, sabir.ErrLinkLost) || time.Since(began) > 2*givenUp {
				t.Errorf("a call without a deadline ended with %v after %v", err, time.Since(began))
			}
			if err := broker.Restart(); err != nil {
				t.Fatal(err)
			}
			began = time.Now()
			for {
				if out, err := sabir.Call[int](context.Background(), a, "b.add", 1); err == nil && out == 2 {
					break
				}
				if time.Since(began) > waitLimit {
					t.Fatalf("the nodes did not find each other again within %v", waitLimit)
				}
				time.Sleep(10 * time.Millisecond)
			}
			t.Logf("calls go on %v after the broker came back", time.Since(began).Round(time.Millisecond))
		})
	}
}
