package mcp

import (
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// A proxy in between takes a silent stream for dead.
func TestAQuietStreamOfEventsHasAHeartbeatUntilItIsClosed(t *testing.T) {
	for kind, want := range map[string]string{"text/event-stream": "data: 1\n\n:\n\n:\n\ndata: 2\n\n:\n\n", "application/json": "data: 1\n\ndata: 2\n\n"} {
		bubbletest.Run(t, func(t *testing.T) {
			w := httptest.NewRecorder()
			e := newEventWriter(w)
			e.Header().Set("Content-Type", kind)
			time.Sleep(time.Hour) // before the answer begins, its head is not known
			e.Write([]byte("data: 1\n\n"))
			time.Sleep(2*quietTime + time.Second)
			e.Write([]byte("data: 2\n\n"))
			time.Sleep(quietTime + time.Second)
			e.close()
			time.Sleep(time.Hour)
			if got := w.Body.String(); got != want {
				t.Errorf("%s: %q, want %q", kind, got, want)
			}
			if _, err := e.Write([]byte("late")); err == nil {
				t.Error("an answer that is over can be written")
			}
		})
	}
}
