package webhook

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"

	"github.com/sabir-go/sabir/internal/recent"
)

// TestAnEventThatComesAgainWhileItIsTakenWaitsForThat has a sender give up on its first attempt and send the event once more.
func TestAnEventThatComesAgainWhileItIsTakenWaitsForThat(t *testing.T) {
	refused := errors.New("not now")
	for name, first := range map[string]error{"taken": nil, "refused": refused} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				attempts := 0
				outcome := make(chan error)
				h := &receiver{seen: recent.New[string, bool](10), taking: make(map[string]chan struct{})}
				h.Take = func(context.Context, Event) error {
					attempts++
					return <-outcome
				}
				answers := make(chan error, 2)
				for range 2 {
					go func() { answers <- h.take(t.Context(), &Event{ID: "1", Source: "/s", Type: "orders.placed"}) }()
					synctest.Wait()
				}
				if attempts != 1 {
					t.Fatalf("%d attempts at once", attempts)
				}
				outcome <- first
				if err := <-answers; err != first {
					t.Errorf("the first got %v", err)
				}
				if first != nil {
					outcome <- nil // the second is tried, since the first failed
				}
				if err := <-answers; err != nil {
					t.Errorf("the second got %v", err)
				}
				if len(h.taking) != 0 {
					t.Errorf("%d are said to be taken still", len(h.taking))
				}
			})
		})
	}
}
