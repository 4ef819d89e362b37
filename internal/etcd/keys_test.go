package etcd

import (
	"context"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

func TestAnEtcdThatTakesNoKeysTellsWhichThereAre(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v3/kv/range" {
			w.WriteHeader(http.StatusTooManyRequests) // as it answers with the alarm NOSPACE
			w.Write([]byte(`{"error":"etcdserver: mvcc: database space exceeded","code":8}`))
			return
		}
		w.Write([]byte(`{"header":{"revision":"7"},"kvs":[{"key":"L3NhYmlyL3Nob3AvYQ==","value":"e30="}]}`))
	}))
	defer server.Close()
	c, err := New(Settings{URLs: []string{server.URL}, TTL: 15 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	var found []KeyValue
	err = c.Keep(t.Context(), Keys{
		Prefix: "/sabir/shop/",
		Enter:  func(ctx context.Context) (<-chan struct{}, error) { return nil, c.Put(ctx, "/sabir/shop/b", nil) },
		Found:  func(keys []KeyValue) error { found = keys; return nil },
	}, func() { t.Error("the key is said to be entered") })
	if err == nil || len(found) != 1 || string(found[0].Key) != "/sabir/shop/a" {
		t.Errorf("found %q, and %v", found, err)
	}
}
