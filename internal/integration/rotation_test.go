package integration

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/secret"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// keysOf is how a node joins with a key and old ones.
func keysOf(keys []string) cluster.Config {
	c := cluster.Config{Key: secret.New(keys[0])}
	for _, old := range keys[1:] {
		c.OldKeys = append(c.OldKeys, secret.New(old))
	}
	return c
}

// TestTheKeyOfAClusterIsChangedWithoutAFailedCall starts the three nodes of a cluster one after the other, first with the new key before the
// old one, then with the new one alone, while one of them calls the others.
func TestTheKeyOfAClusterIsChangedWithoutAFailedCall(t *testing.T) {
	brokers.Long(t)
	const old, next = "the old key of the cluster", "the new key of the cluster"
	for _, of := range []struct {
		name    string
		address func() string
	}{
		{"tcp", func() string {
			address, err := brokers.FreeAddress("tcp")
			if err != nil {
				t.Fatal(err)
			}
			return "tcp://" + address
		}},
		{"nats", func() string { return brokers.ForTestShared(t, brokers.NATS).URL() }},
	} {
		t.Run(of.name, func(t *testing.T) {
			address := of.address()
			service := func() *sabir.Service {
				s := sabir.NewService("echo")
				sabir.Handle(s, "it", func(_ context.Context, in int) (int, error) { return in, nil })
				return s
			}
			start := func(id string, key cluster.Option, options ...sabir.NodeOption) (*sabir.Node, func()) {
				node, stop, err := run(t.Context(), append(options, sabir.NodeID(id), sabir.Logger(slog.New(slog.DiscardHandler)),
					sabir.Join(address, cluster.Config{Name: "rotation"}, key))...)
				if err != nil {
					t.Fatalf("%s: %v", id, err)
				}
				return node, stop
			}
			stops := map[string]func(){}
			serve := func(id string, key cluster.Option) { _, stops[id] = start(id, key, sabir.Serve(service())) }
			serve("one", cluster.Config{Key: secret.New(old)})
			serve("two", cluster.Config{Key: secret.New(old)})
			defer func() { stops["one"](); stops["two"]() }()
			ctx, cancel := context.WithTimeout(t.Context(), 2*time.Minute)
			defer cancel()

			for _, pass := range []struct{ before, after []string }{{[]string{old}, []string{next, old}}, {[]string{next, old}, []string{next}}} {
				key := keysOf(pass.after)
				callersKey := keysOf(pass.before)
				for _, rolled := range [][]string{{"one", "two"}, nil} { // the caller is the last: it then calls with the new key
					if rolled == nil {
						callersKey = key
					}
					caller, stopCaller := start("caller", callersKey)
					seesBoth := func() { // and what they offer
						if err := until(ctx, func() error {
							for _, n := range caller.Nodes() {
								if n.ID != "caller" && n.Actions == 0 {
									return fmt.Errorf("the caller does not know yet what %s offers", n.ID)
								}
							}
							if n := len(caller.Nodes()); n != 3 {
								return fmt.Errorf("the caller sees %d nodes, want 3", n)
							}
							return nil
						}); err != nil {
							t.Fatal(err)
						}
					}
					seesBoth()
					var calls, failed atomic.Int64
					var loads sync.WaitGroup
					ended := make(chan struct{})
					for range 4 {
						loads.Go(func() {
							for i := 0; ; i++ {
								select {
								case <-ended:
									return
								default:
								}
								if got, err := sabir.Call[int](ctx, caller, "echo.it", i); err != nil || got != i {
									failed.Add(1)
									t.Errorf("call: %d, %v", got, err)
								}
								calls.Add(1)
							}
						})
					}
					for _, id := range rolled {
						stops[id]()
						serve(id, key)
						seesBoth()
					}
					before := calls.Load()
					if err := until(ctx, func() error {
						if n := calls.Load() - before; n < 100 {
							return fmt.Errorf("%d calls were made", n)
						}
						return nil
					}); err != nil {
						t.Error(err)
					}
					close(ended)
					loads.Wait()
					if failed.Load() > 0 || calls.Load() == 0 {
						t.Errorf("%d of %d calls failed", failed.Load(), calls.Load())
					}
					stopCaller()
				}
			}
			// Whoever has the old key alone is a stranger now.
			late := sabir.NewNode(sabir.NodeID("late"), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Join(address, cluster.Config{Name: "rotation", Key: secret.New(old)}))
			if err := late.Start(ctx); err == nil {
				late.Stop(ctx)
				t.Error("a node with the old key joined")
			}
		})
	}
}
