package rediscache_test

import (
	"context"
	"crypto/tls"
	"errors"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/transporttest"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/policy/rediscache"
	"github.com/sabir-go/sabir/transport/tcp"
)

func TestAnAnswerOfOneNodeIsGivenByAnother(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	for name, config := range map[string]rediscache.Config{"native": {}, "json": {Codec: json.Codec}} {
		t.Run(name, func(t *testing.T) {
			var r runs
			a, b := newNode(t, open(t, url, config), r.handler), newNode(t, open(t, url, config), r.handler)
			if got := []int{a.get(t, "ada"), b.get(t, "ada"), a.get(t, "bob"), b.get(t, "bob")}; got[0] != 1 || got[1] != 1 || got[2] != 2 || got[3] != 2 {
				t.Errorf("runs %v, want 1 1 2 2", got)
			}
		})
	}
}

func TestAnswersExpire(t *testing.T) {
	ctx, store := t.Context(), open(t, brokers.ForTest(t, brokers.Redis).URL())
	p := store.Open("users.get", "form")
	kept, err := p.Get(ctx, []byte("k"))
	if err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	if err := p.Set(ctx, []byte("k"), []byte("x"), time.Second, kept.Generation); err != nil {
		t.Fatal(err)
	}
	if kept, err := p.Get(ctx, []byte("k")); (!kept.Found || err != nil) && time.Since(begun) < time.Second*9/10 {
		t.Errorf("got %v, %v before the time", kept, err)
	}
	eventually(t, "the answer is gone", func() bool {
		kept, err := p.Get(ctx, []byte("k"))
		return err == nil && !kept.Found
	})
}

func TestAnswersOfOtherTypesActionsAndApplicationsAreKeptApart(t *testing.T) {
	ctx, url := t.Context(), brokers.ForTest(t, brokers.Redis).URL()
	store := open(t, url)
	other, err := rediscache.Open(rediscache.Config{URL: url, Name: "other"})
	if err != nil {
		t.Fatal(err)
	}
	defer other.Close()
	p := store.Open("users.get", "form")
	kept, err := p.Get(ctx, []byte("k"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Set(ctx, []byte("k"), []byte("x"), 60e9, kept.Generation); err != nil {
		t.Fatal(err)
	}
	for what, q := range map[string]policy.Bucket{
		"form": store.Open("users.get", "form2"), "action": store.Open("users.find", "form"), "application": other.Open("users.get", "form"),
		"where the form ends": store.Open("users.get", "for"),
	} {
		key := []byte("k")
		if what == "where the form ends" {
			key = []byte("mk")
		}
		if kept, err := q.Get(ctx, key); kept.Found || err != nil {
			t.Errorf("another %s: got %v, %v", what, kept, err)
		}
	}
	if kept, err := store.Open("users.get", "form").Get(ctx, []byte("k")); !kept.Found || err != nil {
		t.Errorf("the same: got %v, %v", kept, err)
	}
}

func TestProgramsWhoseTypesOfOneNameDifferDoNotShareAnswers(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	a := func() *node {
		type answer struct{ Name string }
		return newNode(t, open(t, url), func(context.Context, string) (answer, error) { return answer{"Ada"}, nil })
	}()
	b := func() *node {
		type answer struct{ Name, Mail string }
		return newNode(t, open(t, url), func(context.Context, string) (answer, error) { return answer{"Ada", "a@b"}, nil })
	}()
	type both struct{ Name, Mail string }
	for n, want := range map[*node]both{a: {"Ada", ""}, b: {"Ada", "a@b"}} {
		for range 2 {
			if out, err := sabir.Call[both](t.Context(), n.Node, "users.get", "ada"); out != want || err != nil {
				t.Errorf("got %v, %v, want %v", out, err, want)
			}
		}
	}
}

func TestAnswersAboveTheLimitAreNotKept(t *testing.T) {
	ctx, store := t.Context(), open(t, brokers.ForTest(t, brokers.Redis).URL(), rediscache.Config{MaxAnswer: 10})
	p := store.Open("users.get", "form")
	kept, err := p.Get(ctx, []byte("k"))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Set(ctx, []byte("k"), []byte("0123456789"), 60e9, kept.Generation); err != nil {
		t.Error(err)
	}
	if err := p.Set(ctx, []byte("k"), []byte("0123456789a"), 60e9, kept.Generation); !errors.Is(err, policy.ErrNotStored) || !strings.Contains(err.Error(), "11 bytes") {
		t.Errorf("got %v", err)
	}
	if kept, err := p.Get(ctx, []byte("k")); err != nil || string(kept.Answer.([]byte)) != "0123456789" {
		t.Errorf("got %v, %v", kept, err)
	}
}

func TestAUserAndTLS(t *testing.T) {
	files := transporttest.NewAuthority(t, "test authority").Issue(t, t.TempDir(), "127.0.0.1")
	certificates, err := tcp.Certificates(files.Cert, files.Key, files.CA)
	if err != nil {
		t.Fatal(err)
	}
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{User: "ada", Password: "s3cret", Cert: files.Cert, Key: files.Key, CA: files.CA})
	var r runs
	a := newNode(t, open(t, server.URL(), rediscache.Config{TLS: certificates}), r.handler)
	b := newNode(t, open(t, server.URL(), rediscache.Config{TLS: certificates}), r.handler)
	if x, y := a.get(t, "ada"), b.get(t, "ada"); x != 1 || y != 1 {
		t.Errorf("runs %d and %d, want 1 and 1", x, y)
	}
	stranger := newNode(t, open(t, server.URL()), r.handler) // does not know the authority
	if x := stranger.get(t, "ada"); x != 2 || !strings.Contains(stranger.log.String(), "certificate") {
		t.Errorf("run %d, want 2; log:\n%s", x, stranger.log)
	}
}

// The package's description lists these commands.
func TestAUserWithNoMoreRightsThanNeeded(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Extra: `user bob on >s3cret resetchannels ~test:* -@all +hello +client +select ` +
		`+ping +get +getrange +set +del +pttl +pexpire +persist +multi +exec +hget +hgetall +hlen +hset +time +eval +evalsha`})
	url := "redis://bob:s3cret@" + server.Addr() + "/3"
	var r runs
	slow := func(ctx context.Context, id string) (user, error) {
		time.Sleep(1500 * time.Millisecond) // the work, which takes longer than the lease
		return r.handler(ctx, id)
	}
	a, b := newNode(t, open(t, url, rediscache.Config{Lease: time.Second}), slow), newNode(t, open(t, url), slow)
	for want := range 2 {
		var wg sync.WaitGroup
		for _, n := range []*node{a, b} {
			wg.Go(func() {
				if run := n.get(t, "ada"); run != want+1 {
					t.Errorf("run %d, want %d", run, want+1)
				}
			})
		}
		wg.Wait()
		a.clean(t, "users.*")
	}
	if a.log.String()+b.log.String() != "" {
		t.Errorf("the logs are\n%s%s", a.log, b.log)
	}
}

func TestNoPasswordIsInALogOrAnError(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis, brokers.Config{Password: "s3cret"})
	var r runs
	n := newNode(t, open(t, "redis://:wr0ng@"+server.Addr()), r.handler)
	if n.get(t, "ada"); !strings.Contains(n.log.String(), "WRONGPASS") || strings.Contains(n.log.String(), "wr0ng") {
		t.Errorf("the log is\n%s", n.log)
	}
	for _, url := range []string{"redis://:wr0ng@host/x", "redis://:wr0ng@[host", "redis://:wr0ng@host:x", "http://:wr0ng@host", "redis://:wr0ng@host?x", "redis://u:wr0ng@%zz", "redis://:wr0ng\x00@host"} {
		if _, err := rediscache.Open(rediscache.Config{URL: url, Name: "test"}); err == nil || strings.Contains(err.Error(), "wr0ng") {
			t.Errorf("%s: %v", url, err)
		}
	}
}

func TestOpenTellsWhatIsWrong(t *testing.T) {
	const good = "redis://127.0.0.1:6379"
	for _, test := range []struct {
		url, name string
		config    rediscache.Config
		want      string
	}{
		{"", "test", rediscache.Config{}, "scheme"},
		{"127.0.0.1:6379", "test", rediscache.Config{}, "redis://"},
		{"nats://host", "test", rediscache.Config{}, "want redis or rediss"},
		{"redis://", "test", rediscache.Config{}, "host:port"},
		{"redis://host/one", "test", rediscache.Config{}, "want a number"},
		{"redis://host?db=1", "test", rediscache.Config{}, "the unknown parameter"},
		{good, "", rediscache.Config{}, "the name"},
		{good, "a:b", rediscache.Config{}, "the name"},
		{good, strings.Repeat("x", 101), rediscache.Config{}, "the name"},
		{good, "test", rediscache.Config{MaxAnswer: -1}, "MaxAnswer is -1"},
		{good, "test", rediscache.Config{Timeout: time.Microsecond}, "Timeout is 1µs"},
		{good, "test", rediscache.Config{Lease: time.Millisecond}, "Lease is 1ms"},
		{good, "test", rediscache.Config{Replicas: -2}, "Replicas is -2"},
		{good, "test", rediscache.Config{TLS: &tls.Config{}}, "use rediss"},
	} {
		test.config.URL, test.config.Name = test.url, test.name
		if _, err := rediscache.Open(test.config); err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("%q, %q: got %v, want %q", test.url, test.name, err, test.want)
		}
	}
}

func TestAClosedStoreFailsAndCallsGoOn(t *testing.T) {
	var r runs
	n := newNode(t, open(t, brokers.ForTest(t, brokers.Redis).URL()), r.handler)
	n.get(t, "ada")
	n.store.Close()
	n.store.Close()
	if run := n.get(t, "ada"); run != 2 {
		t.Errorf("run %d, want 2", run)
	}
}
