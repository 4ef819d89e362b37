package webhook_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/webhook"
)

func TestTheErrorOfAReceiverThatIsBusyHasItsRetryAfter(t *testing.T) {
	var asked string
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Retry-After", asked)
		w.WriteHeader(429)
	}))
	defer server.Close()
	for text, want := range map[string]time.Duration{"": 0, "7": 7 * time.Second, "soon": 0, "-1": 0, "1e9": 0, "99999999999999999999": 0,
		"Sun, 06 Nov 1994 08:49:37 GMT": 0, time.Now().Add(time.Hour).UTC().Format(http.TimeFormat): time.Hour} {
		asked = text
		err := here.Send(t.Context(), webhook.Endpoint{ID: "x", URL: server.URL}, webhook.Event{ID: "1", Source: "/s", Type: "t"})
		after, none := sabir.DataAs[policy.RetryAfter](err)
		got := time.Duration(after.Seconds * float64(time.Second))
		if (none != nil) != (want == 0) || got > want || got < want-time.Minute {
			t.Errorf("%q: %v after %v", text, err, got)
		}
	}
}

func TestADeliveryWaitsAsLongAsItsReceiverAsksWithinMaxPause(t *testing.T) {
	const longest = 500 * time.Millisecond
	tries := make(chan time.Time, 10)
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		tries <- time.Now()
		w.Header().Set("Retry-After", "3600")
		w.WriteHeader(503)
	}))
	defer server.Close()
	hooks := sabir.NewService("hooks")
	webhook.Deliver(hooks, webhook.Delivery{Channel: "shop.hooks", Events: []string{"orders.*"}, Client: here,
		Consumer: channel.Consumer{Attempts: 2, FirstPause: time.Millisecond, MaxPause: longest},
		Endpoints: func(context.Context) ([]webhook.Endpoint, error) {
			return []webhook.Endpoint{{ID: "x", URL: server.URL}}, nil
		}})
	node := start(t, []*sabir.Service{hooks})
	emit(t, node, "orders.placed")
	first := <-tries
	select {
	case second := <-tries:
		if pause := second.Sub(first); pause < longest {
			t.Errorf("the second try came after %v", pause)
		}
	case <-time.After(waitLimit):
		t.Fatal("there is no second try")
	}
}
