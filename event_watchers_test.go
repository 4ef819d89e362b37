package sabir_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

// joined starts nodes of one cluster in a bubble of synctest, the first with a log.
func joined(t *testing.T, log *bytes.Buffer, nodes ...[]sabir.NodeOption) (list []*sabir.Node) {
	t.Helper()
	t.Cleanup(func() { time.Sleep(time.Minute) }) // probes end after their node
	for i, options := range nodes {
		logger := slog.New(slog.DiscardHandler)
		if i == 0 && log != nil {
			logger = slog.New(slog.NewTextHandler(log, nil))
		}
		n := sabir.NewNode(append(options, sabir.NodeID(fmt.Sprint("n", i)), sabir.Logger(logger))...)
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Stop(context.Background()) })
		list = append(list, n)
	}
	time.Sleep(time.Second) // catalogs arrive
	return list
}

func watching(handle func(deposit)) *sabir.Service {
	s := sabir.NewService("watch")
	sabir.On(s, "account.**", func(_ context.Context, in deposit) error {
		handle(in)
		return nil
	}, sabir.Delivery{BestEffort: true})
	return s
}

func TestAClientOnlyNodeGetsTheEventsThatItListensTo(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var got []deposit
		s := sabir.NewService("screen")
		sabir.On(s, "account.*", func(_ context.Context, in deposit) error {
			got = append(got, in)
			return nil
		})
		address := "mem://" + t.Name()
		nodes := joined(t, nil, []sabir.NodeOption{sabir.Join(address)},
			[]sabir.NodeOption{sabir.Join(address, cluster.Config{ClientOnly: true}), sabir.Serve(s)})
		for i := range 3 {
			if err := sabir.Emit(t.Context(), nodes[0], "account.paid", deposit{i}); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(time.Second)
		bubbletest.Wait()
		if len(got) != 3 || got[0].Amount != 0 || got[2].Amount != 2 {
			t.Errorf("got %v", got)
		}
	})
}

func TestEmittersDoNotWaitForHandlersThatOnlyWatch(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		stuck := make(chan struct{})
		address := "mem://" + t.Name()
		nodes := joined(t, nil, []sabir.NodeOption{sabir.Join(address)},
			[]sabir.NodeOption{sabir.Join(address), sabir.Serve(watching(func(deposit) { <-stuck }))})
		defer close(stuck)
		began := time.Now()
		for i := range 100 {
			if err := sabir.Emit(t.Context(), nodes[0], "account.paid", deposit{i}); err != nil {
				t.Fatal(err)
			}
			if err := sabir.Broadcast(t.Context(), nodes[0], "account.paid", deposit{i}); err != nil {
				t.Fatal(err)
			}
		}
		if took := time.Since(began); took > 0 {
			t.Errorf("the emitter waited for %v", took)
		}
	})
}

func TestWhoWatchesTooSlowlyLosesEventsAndTheLogCountsThem(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		var log bytes.Buffer
		var got atomic.Int64
		stuck := make(chan struct{})
		address := "mem://" + t.Name()
		nodes := joined(t, &log, []sabir.NodeOption{sabir.Join(address)},
			[]sabir.NodeOption{sabir.Join(address), sabir.Serve(watching(func(deposit) { <-stuck; got.Add(1) }))})
		for i := range 3000 {
			if err := sabir.Emit(t.Context(), nodes[0], "account.paid", deposit{i}); err != nil {
				t.Fatal(err)
			}
		}
		close(stuck)
		time.Sleep(10 * time.Second)
		if n := got.Load(); n < 1024 || n > 1026 {
			t.Errorf("%d events arrived", n)
		}
		if want := fmt.Sprintf("lost=%d", 3000-got.Load()); !bytes.Contains(log.Bytes(), []byte(want)) {
			t.Errorf("the log does not say %s:\n%s", want, log.String())
		}
	})
}

func TestAGroupOfWhichOneMemberWorksIsWaitedFor(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		worker := sabir.NewService("watch") // the same group
		sabir.On(worker, "account.**", func(context.Context, deposit) error {
			time.Sleep(time.Second)
			return nil
		})
		address := "mem://" + t.Name()
		nodes := joined(t, nil, []sabir.NodeOption{sabir.Join(address)}, []sabir.NodeOption{sabir.Join(address), sabir.Serve(worker)})
		began := time.Now()
		if err := sabir.Emit(t.Context(), nodes[0], "account.paid", deposit{1}); err != nil || time.Since(began) < time.Second {
			t.Errorf("after %v: %v", time.Since(began), err)
		}
	})
}
