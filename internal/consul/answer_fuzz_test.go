package consul

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func FuzzAnswers(f *testing.F) {
	var body []byte
	index := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Consul-Index", index)
		_, _ = w.Write(body)
	}))
	f.Cleanup(server.Close)
	a, err := New(Settings{URL: server.URL, TTL: 15 * time.Second})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(a.Close)
	f.Add([]byte(`[{"Node":{"Node":"one"},"Service":{"ID":"sabir-shop-a","Meta":{"sabir":"tcp://10.0.0.5:7700"}}}]`), "17")
	f.Add([]byte(`[]`), "3") // Consul has begun to count anew
	f.Add([]byte(`null`), "x")
	f.Fuzz(func(t *testing.T, answer []byte, at string) {
		body, index = answer, at
		var list []struct {
			Service struct {
				ID   string
				Meta map[string]string
			}
		}
		next, err := a.Ask(context.Background(), "/v1/health/service/shop", nil, 5, time.Second, &list)
		if err == nil && next > 0 && next < 5 {
			t.Errorf("the next question is for what is newer than %d, which was seen before", next)
		}
	})
}
