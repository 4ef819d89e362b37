package rediscache_test

import (
	"bytes"
	"cmp"
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/redis/rueidis"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
)

// user is an answer of users.get.
type user struct {
	ID  string `json:"id"`
	Run int    `json:"run"` // which run of any handler made it
}

// node is a node with the action users.get, whose answers are in Redis.
type node struct {
	*sabir.Node
	cache *policy.Cache
	store *rediscache.Store
	log   *logged
}

// logged is the log of a node.
type logged struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (l *logged) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.Write(p)
}

func (l *logged) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.text.String()
}

// open opens a store for the length of a test, with at most one configuration. Its timeout is long unless that sets another.
func open(tb testing.TB, url string, configs ...rediscache.Config) *rediscache.Store {
	tb.Helper()
	var config rediscache.Config
	if len(configs) > 0 {
		config = configs[0]
	}
	config.URL, config.Name, config.Timeout = url, "test", cmp.Or(config.Timeout, longTimeout)
	store, err := rediscache.Open(config)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(store.Close)
	return store
}

// newNode starts a node whose users.get is fn.
func newNode[In, Out any](tb testing.TB, store *rediscache.Store, fn func(context.Context, In) (Out, error)) *node {
	tb.Helper()
	n := &node{cache: &policy.Cache{Store: store}, store: store, log: &logged{}}
	s := sabir.NewService("users")
	sabir.Handle(s, "get", fn, sabir.Use(policy.Cached{Cache: n.cache}))
	n.Node = sabir.NewNode(sabir.Serve(s), sabir.Logger(slog.New(slog.NewTextHandler(n.log, &slog.HandlerOptions{Level: slog.LevelWarn}))))
	if err := n.Start(context.Background()); err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() {
		if err := n.Stop(context.Background()); err != nil {
			tb.Error(err)
		}
	})
	return n
}

// runs numbers the runs of handlers.
type runs struct{ atomic.Int32 }

func (r *runs) handler(_ context.Context, id string) (user, error) {
	return user{id, int(r.Add(1))}, nil
}

// get returns the number of the handler's run that answers for an id.
func (n *node) get(tb testing.TB, id string) int {
	tb.Helper()
	out, err := sabir.Call[user](context.Background(), n.Node, "users.get", id)
	if err != nil || out.ID != id {
		tb.Errorf("%s: got %v, %v", id, out, err)
	}
	return out.Run
}

// keeps reports whether an answer is kept.
func (n *node) keeps(tb testing.TB, id string) bool {
	tb.Helper()
	first := n.get(tb, id)
	return n.get(tb, id) == first
}

func (n *node) clean(tb testing.TB, patterns ...string) {
	tb.Helper()
	if err := n.cache.Invalidate(context.Background(), patterns...); err != nil {
		tb.Error(err)
	}
}

// eventually asks again until something holds, for a minute at most.
func eventually(tb testing.TB, what string, holds func() bool) {
	tb.Helper()
	again := time.NewTicker(5 * time.Millisecond)
	defer again.Stop()
	limit := time.After(time.Minute)
	for !holds() {
		select {
		case <-again.C:
		case <-limit:
			tb.Fatalf("after a minute it still does not hold that %s", what)
		}
	}
}

// lock takes the lock of a key.
func lock(ctx context.Context, store *rediscache.Store, key string) (policy.Entry, func(), error) {
	return store.Open("users.get", "form").(policy.Locker).Lock(ctx, []byte(key))
}

// client is a client of the Redis at a URL, without a cache in between.
func client(tb testing.TB, url string) rueidis.Client {
	tb.Helper()
	o, err := rueidis.ParseURL(url)
	if err != nil {
		tb.Fatal(err)
	}
	o.DisableCache = true
	c, err := rueidis.NewClient(o)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(c.Close)
	return c
}
