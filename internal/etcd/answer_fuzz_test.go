package etcd

import (
	"context"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func FuzzAnswers(f *testing.F) {
	var body []byte
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		_, _ = w.Write(body)
	}))
	f.Cleanup(server.Close)
	f.Add([]byte(`{"header":{"revision":"7"},"kvs":[{"key":"L3NhYmlyL3Nob3AvYQ==","value":"eyJhZGRyZXNzIjoidGNwOi8vMTAuMC4wLjU6NzcwMCJ9","lease":"1"}],"token":"t","ID":"1"}`))
	f.Add([]byte(`{"result":{"events":[{"kv":{}}],"canceled":false,"TTL":"15"}}` + "\n" + `{"result":{"canceled":true,"cancel_reason":"compacted"}}`))
	f.Add([]byte(`{"error":{"message":"no"}}`))
	c, err := New(Settings{URLs: []string{server.URL}, User: "u", TTL: 15 * time.Second})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(c.Close)
	keys := Keys{Prefix: "/sabir/shop/", Enter: func(ctx context.Context) (<-chan struct{}, error) { return nil, c.Put(ctx, "/sabir/shop/a", nil) },
		Found: func([]KeyValue) error { return nil }}
	f.Fuzz(func(t *testing.T, answer []byte) {
		body = answer
		_ = c.authenticate(context.Background())
		_, _ = c.enter(context.Background(), keys)
		_ = c.renew(context.Background())
		_, _ = c.report(context.Background(), keys)
		news := make(chan error, 1)
		c.watch(context.Background(), keys.Prefix, 1, news)
		if err := <-news; err == nil {
			t.Error("a watch that has ended is noted as a change")
		}
	})
}
