package web

import (
	"context"
	"net/http"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

func TestARequestThatHasWaitedUnreadForHalfOfItsTimeIsNotServed(t *testing.T) {
	for _, test := range []struct {
		name         string
		limit        string // X-Request-Timeout
		waited, left time.Duration
		status       int
	}{
		{"it did not wait", "10s", 0, 10 * time.Second, http.StatusOK},
		{"it waited for less", "10s", 4 * time.Second, 6 * time.Second, http.StatusOK},
		{"it waited for more", "10s", 6 * time.Second, 0, http.StatusServiceUnavailable},
		{"it waited for more than its time", "10s", time.Minute, 0, http.StatusServiceUnavailable},
		{"the limit is the server's", "", 20 * time.Second, 0, http.StatusServiceUnavailable},
	} {
		t.Run(test.name, func(t *testing.T) {
			var left time.Duration
			s := sabir.NewService("slow")
			sabir.Handle(s, "do", func(ctx context.Context, _ nothing) (nothing, error) {
				end, _ := ctx.Deadline()
				left = time.Until(end)
				return nothing{}, nil
			})
			node := start(t, sabir.Serve(s))
			handler, err := Handler(node)
			if err != nil {
				t.Fatal(err)
			}
			x := &exchange.Exchange{Context: t.Context(), Method: http.MethodPost, Path: "/slow/do", Body: []byte("{}"), Length: 2}
			x.Header.Add("Content-Type", "application/json")
			if test.limit != "" {
				x.Header.Add("X-Request-Timeout", test.limit)
			}
			server := handler.(*server)
			if !server.Take(x) {
				t.Fatal("the engine does not take it")
			}
			x.Waited = test.waited
			server.Serve(x)
			if got := max(x.Status, http.StatusOK); got != test.status || (got == http.StatusServiceUnavailable) != x.Answer.Has("Retry-After") {
				t.Errorf("status %d, %s", got, x.Out)
			}
			if left > test.left || left < test.left/2 {
				t.Errorf("the handler had %v, want %v", left, test.left)
			}
		})
	}
}
