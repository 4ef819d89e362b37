package etcd

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/sabir-go/sabir/internal/directory"
	"github.com/sabir-go/sabir/internal/joining"
)

func FuzzAnswers(f *testing.F) {
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(body)
	}))
	f.Cleanup(server.Close)
	client, err := directory.NewClient([]string{server.URL}, nil, nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(client.Close)
	f.Add([]byte(`{"header":{"revision":"7"},"kvs":[{"key":"L3NhYmlyL3Nob3AvYQ==","value":"eyJhZGRyZXNzIjoidGNwOi8vMTAuMC4wLjU6NzcwMCJ9","lease":"1"}],"token":"t","ID":"1"}`))
	f.Add([]byte(`{"result":{"events":[{"kv":{}}],"canceled":false,"TTL":"15"}}` + "\n" + `{"result":{"canceled":true,"cancel_reason":"compacted"}}`))
	f.Add([]byte(`{"error":{"message":"no"}}`))
	f.Fuzz(func(t *testing.T, answer []byte) {
		body = answer
		s := &session{entry: joining.Entry{Cluster: "shop", Node: "a", Address: "tcp://10.0.0.5:7700", Log: slog.New(slog.DiscardHandler)}, client: client,
			prefix: "/sabir/shop/", ttl: 15, user: "u", found: func([]string) {}}
		_ = s.authenticate(context.Background())
		_ = s.enter(context.Background())
		_ = s.renew(context.Background())
		_, _ = s.report(context.Background())
		changes := make(chan error, 1)
		s.watch(context.Background(), 1, changes)
		if err := <-changes; err == nil {
			t.Error("a watch that has ended is noted as a change")
		}
	})
}
