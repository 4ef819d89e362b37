package sabir_test

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/memory"
)

// A queue of 1,000 large events would hold a gibibyte by its number alone.
func TestTheEventsOfAQueueTakeAnEighthOfTheNodesMemoryAndEmittersWaitForMore(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		handled := 0
		s := sabir.NewService("slow")
		sabir.On(s, "job", func(context.Context, helloRequest) error { <-release; handled++; return nil }, sabir.Delivery{Buffer: 1000})
		node := start(t, sabir.Serve(s), sabir.Limits{NodeBuffers: 8 << 20})
		event := helloRequest{Name: strings.Repeat("x", 200<<10)}
		for range 5 { // 1,000 KiB
			if err := sabir.Emit(t.Context(), node, "job", event); err != nil {
				t.Fatal(err)
			}
		}
		began := time.Now()
		err := sabir.AsError(sabir.Emit(t.Context(), node, "job", event))
		if err == nil || err.Name != "EventQueueFull" || !err.Retryable || time.Since(began) != 5*time.Second {
			t.Errorf("%v after %v", err, time.Since(began))
		}
		if err := sabir.Emit(t.Context(), node, "job", helloRequest{Name: "small"}); err != nil {
			t.Error(err)
		}
		if used := node.Info().Memory; used.Waiting < 1000<<10 || used.Waiting > 1<<20 || used.Limit != 8<<20 || used.Refused != 1 {
			t.Errorf("the node shows %+v", used)
		}
		time.AfterFunc(time.Second, func() { close(release) })
		began = time.Now()
		if err := sabir.Emit(t.Context(), node, "job", event); err != nil || time.Since(began) < time.Second {
			t.Errorf("with a handler that goes on after a second: %v after %v", err, time.Since(began))
		}
		if err := node.Remove(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		if used := memory.OfNode(node).Usage().Bytes; used != 0 || handled != 7 {
			t.Errorf("%d bytes are still counted after %d events", used, handled)
		}
	})
}

func TestEventsForAQueueThatOnlyWatchesAreLostWhereThereIsNoMemory(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		release := make(chan struct{})
		handled := 0
		s := sabir.NewService("slow")
		sabir.On(s, "job", func(context.Context, helloRequest) error { <-release; handled++; return nil }, sabir.Delivery{Buffer: 1000, BestEffort: true})
		node := start(t, sabir.Serve(s), sabir.Limits{NodeBuffers: 8 << 20})
		began := time.Now()
		for range 20 {
			if err := sabir.Emit(t.Context(), node, "job", helloRequest{Name: strings.Repeat("x", 200<<10)}); err != nil {
				t.Fatal(err)
			}
		}
		if time.Since(began) > 0 {
			t.Error("the emitter has waited")
		}
		close(release)
		if err := node.Remove(t.Context(), s); err != nil || handled != 5 {
			t.Errorf("%d of 20 were handled: %v", handled, err)
		}
	})
}

func TestAStreamWhoseDeadlinePassesWhileItWaitsToBeOpenedSaysSo(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		s := sabir.NewService("quiet")
		sabir.HandleStream(s, "wait", func(ctx context.Context, _ *sabir.Stream[helloRequest, helloRequest]) error {
			<-ctx.Done()
			return ctx.Err()
		})
		node := start(t, sabir.Serve(s), sabir.Limits{NodeBuffers: 8 << 20})
		action := node.Action("quiet.wait")
		for range 100 { // until those that are open may hold all that streams may
			ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
			defer cancel()
			if _, err := action.Open(gateway.Inbound{Context: ctx}, json.Codec); err != nil {
				if !errors.Is(err, context.DeadlineExceeded) {
					t.Error(err)
				}
				return
			}
		}
		t.Error("nothing waited")
	})
}
