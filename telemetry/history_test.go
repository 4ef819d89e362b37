package telemetry

import (
	"context"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestANodeRemembersTheLastHourOfItsCalls(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		tel, err := New(Config{Metrics: true})
		if err != nil {
			t.Fatal(err)
		}
		s := sabir.NewService("users")
		sabir.Handle(s, "get", func(context.Context, int) (int, error) { return 0, nil })
		n := sabir.NewNode(sabir.Serve(s, tel.Stats()), sabir.Use(tel.Middleware()))
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer n.Stop(context.Background())
		for range 3 {
			if _, err := sabir.Call[int](t.Context(), n, "users.get", 1); err != nil {
				t.Fatal(err)
			}
		}
		time.Sleep(2 * time.Hour)
		points, err := sabir.Call[[]point](t.Context(), n, "$telemetry.history", sabir.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		if len(points) != historySize {
			t.Fatalf("%d points", len(points))
		}
		first, last := points[0], points[historySize-1]
		if span := time.Duration(last.At-first.At) * time.Millisecond; span != historyEvery*(historySize-1) {
			t.Errorf("they span %v", span)
		}
		if last.Calls != 3 { // the runtime's own actions are left out
			t.Errorf("%+v", last)
		}
	})
}
