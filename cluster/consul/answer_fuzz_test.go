package consul

import (
	"context"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/joining"
)

func FuzzAnswers(f *testing.F) {
	var body []byte
	index := ""
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Query().Get("index") != "0" {
			w.WriteHeader(http.StatusInternalServerError) // which ends the session
			return
		}
		w.Header().Set("X-Consul-Index", index)
		_, _ = w.Write(body)
	}))
	f.Cleanup(server.Close)
	client, err := directory.NewClient([]string{server.URL}, nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(client.Close)
	f.Add([]byte(`[{"Node":{"Node":"one"},"Service":{"ID":"sabir-shop-a","Meta":{"sabir":"tcp://10.0.0.5:7700"}}}]`), "17")
	f.Add([]byte(`null`), "x")
	f.Fuzz(func(t *testing.T, answer []byte, at string) {
		body, index = answer, at
		s := &session{entry: joining.Entry{Cluster: "shop", Node: "a", Address: "tcp://10.0.0.5:7700", Log: slog.New(slog.DiscardHandler)}, client: client,
			service: "sabir-shop", id: "sabir-shop-a", found: func([]string) {}}
		if err := s.watch(context.Background(), func() {}); err == nil {
			t.Error("it ended without an error")
		}
	})
}
