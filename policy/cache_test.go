package policy_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/policy"
)

type getUser struct {
	ID     string   `json:"id" validate:"required"`
	Fields []string `json:"fields"`
}

type user struct {
	ID   string   `json:"id"`
	Run  int      `json:"run"` // which run of the handler made it
	Tags []string `json:"tags"`
}

// users is a rig whose action numbers its runs.
type users struct {
	*rig
	runs atomic.Int32
}

func newUsers(tb testing.TB, options ...sabir.ActionOption) *users {
	u := &users{}
	u.rig = newRig(tb, func(_ context.Context, in getUser) (user, error) {
		return user{in.ID, int(u.runs.Add(1)), []string{"a"}}, nil
	}, options...)
	return u
}

// get returns the number of the handler's run that answers for an id.
func (u *users) get(tb testing.TB, ctx context.Context, id string, options ...sabir.CallOption) int {
	tb.Helper()
	out, err := sabir.Call[user](ctx, u.node, "test.run", getUser{ID: id}, options...)
	if err != nil || out.ID != id {
		tb.Errorf("%s: got %v, %v", id, out, err)
	}
	return out.Run
}

// cached puts a cache of its own around an action.
func cached(c policy.Cached) interface {
	sabir.ServiceOption
	sabir.ActionOption
} {
	return sabir.Use(c)
}

func TestCacheAnswersTheSameQuestionWithoutTheHandler(t *testing.T) {
	u := newUsers(t, cached(policy.Cached{}))
	if a, b, other := u.get(t, t.Context(), "ada"), u.get(t, t.Context(), "ada"), u.get(t, t.Context(), "bob"); a != 1 || b != 1 || other != 2 {
		t.Errorf("runs %d, %d and %d, want 1, 1 and 2", a, b, other)
	}
	if u.received(signal.CacheMiss) != 2 || u.received(signal.CacheHit) != 1 {
		t.Errorf("signals %v", u.all())
	}
}

func TestCacheKeepsAnAnswerForItsTTL(t *testing.T) {
	inBubble(t, func(t *testing.T) {
		u := newUsers(t, cached(policy.Cached{TTL: time.Minute}))
		u.get(t, t.Context(), "ada")
		time.Sleep(time.Minute - time.Nanosecond)
		if run := u.get(t, t.Context(), "ada"); run != 1 {
			t.Error("it was gone before its time")
		}
		time.Sleep(time.Nanosecond)
		if run := u.get(t, t.Context(), "ada"); run != 2 {
			t.Error("it was still there after its time")
		}
	})
}

func TestCacheKeysDecideWhichCallsShareAnAnswer(t *testing.T) {
	u := newUsers(t, cached(policy.Cached{Keys: []string{"id", "#tenant"}}))
	ask := func(ctx context.Context, in getUser) int {
		out, err := sabir.Call[user](ctx, u.node, "test.run", in)
		if err != nil {
			t.Error(err)
		}
		return out.Run
	}
	ctx, other := t.Context(), sabir.WithMetadata(t.Context(), "tenant", "b")
	if a, b, c := ask(ctx, getUser{ID: "ada"}), ask(ctx, getUser{ID: "ada", Fields: []string{"x"}}), ask(other, getUser{ID: "ada"}); a != 1 || b != 1 || c != 2 {
		t.Errorf("runs %d, %d and %d, want 1, 1 and 2", a, b, c)
	}
}

// The input embeds a struct with another field of the JSON name, which JSON never fills.
func TestCacheDoesNotAnswerOneCallerWithTheAnswerOfAnother(t *testing.T) {
	type base struct {
		ID string `json:"id"`
	}
	type in struct {
		base
		User string `json:"id"`
	}
	r := newRig(t, func(_ context.Context, in in) (string, error) { return "for " + in.User, nil }, cached(policy.Cached{Keys: []string{"id"}}))
	for _, who := range []string{"alice", "bob", "alice"} {
		if got, err := sabir.Call[string](t.Context(), r.node, "test.run", map[string]string{"id": who}); err != nil || got != "for "+who {
			t.Errorf("%s got %q, %v", who, got, err)
		}
	}
}

func TestAServiceWhoseKeysNameNothingDoesNotStart(t *testing.T) {
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(_ context.Context, in getUser) (string, error) { return "", nil }, cached(policy.Cached{Keys: []string{"user"}}))
	node := sabir.NewNode(sabir.Serve(s))
	defer node.Stop(context.Background())
	err := node.Start(t.Context())
	if err == nil || !strings.Contains(err.Error(), "cache_test.go:") || !strings.Contains(err.Error(), `has no field "user"; it has id, fields`) {
		t.Errorf("got %v, want the line and the field", err)
	}
}

func TestCacheNeverHidesAnInvalidInput(t *testing.T) {
	u := &users{}
	s := sabir.NewService("test")
	sabir.Handle(s, "run", func(_ context.Context, in getUser) (user, error) { return user{}, nil })
	u.rig = &rig{node: start(t, sabir.Serve(s), sabir.Use(policy.Cached{Cache: &policy.Cache{}, Keys: []string{"fields"}}))}
	if _, err := sabir.Call[user](t.Context(), u.node, "test.run", getUser{ID: "ada"}); err != nil {
		t.Fatal(err)
	}
	if _, err := sabir.Call[user](t.Context(), u.node, "test.run", getUser{}); !errors.Is(err, sabir.ErrValidationFailed) {
		t.Errorf("got %v", err)
	}
}

func TestCacheDoesNotKeepErrors(t *testing.T) {
	runs := 0
	r := newRig(t, func(context.Context, none) (int, error) {
		if runs++; runs < 3 {
			return 0, errBroken
		}
		return runs, nil
	}, cached(policy.Cached{}))
	for _, want := range []int{0, 0, 3, 3} {
		if out, _ := r.call(t.Context()); out != want {
			t.Errorf("got %d, want %d", out, want)
		}
	}
}

func TestNoCacheRunsTheHandlerAndKeepsItsAnswer(t *testing.T) {
	u := newUsers(t, cached(policy.Cached{}))
	u.get(t, t.Context(), "ada")
	if run := u.get(t, t.Context(), "ada", sabir.NoCache()); run != 2 {
		t.Errorf("got run %d in spite of NoCache", run)
	}
	if run := u.get(t, t.Context(), "ada"); run != 2 {
		t.Errorf("got run %d, want the fresh answer", run)
	}
}

func TestEnabledSwitchesTheCacheForACall(t *testing.T) {
	type off struct{}
	u := newUsers(t, cached(policy.Cached{Enabled: func(ctx context.Context) bool { return ctx.Value(off{}) == nil }}))
	without := context.WithValue(t.Context(), off{}, true)
	if a, b, c := u.get(t, t.Context(), "ada"), u.get(t, without, "ada"), u.get(t, t.Context(), "ada"); a != 1 || b != 2 || c != 1 {
		t.Errorf("runs %d, %d and %d, want 1, 2 and 1", a, b, c)
	}
}

func TestCacheKeepsNoMoreThanMaxEntries(t *testing.T) {
	u := newUsers(t, sabir.Use(policy.Cached{Cache: &policy.Cache{MaxEntries: 10}}))
	for range 2 {
		for n := range 500 {
			u.get(t, t.Context(), fmt.Sprint("u", n))
		}
	}
	if n := u.runs.Load(); n < 900 {
		t.Errorf("%d runs for 2 x 500 questions: more than ten answers were kept", n)
	}
}

func TestCacheOfOneServesManyActionsApart(t *testing.T) {
	cache := &policy.Cache{}
	s := sabir.NewService("test", sabir.Use(policy.Cached{Cache: cache}))
	sabir.Handle(s, "double", func(_ context.Context, n int) (int, error) { return 2 * n, nil })
	sabir.Handle(s, "square", func(_ context.Context, n int) (int, error) { return n * n, nil })
	node := start(t, sabir.Serve(s))
	for range 2 {
		double, err1 := sabir.Call[int](t.Context(), node, "test.double", 5)
		square, err2 := sabir.Call[int](t.Context(), node, "test.square", 5)
		if double != 10 || square != 25 || err1 != nil || err2 != nil {
			t.Errorf("got %d, %d, %v, %v", double, square, err1, err2)
		}
	}
}

func TestCachedAnswersShareWhatTheyPointTo(t *testing.T) {
	u := newUsers(t, cached(policy.Cached{}))
	u.get(t, t.Context(), "ada")
	a, _ := sabir.Call[user](t.Context(), u.node, "test.run", getUser{ID: "ada"})
	a.ID, a.Tags[0] = "changed", "changed"
	b, _ := sabir.Call[user](t.Context(), u.node, "test.run", getUser{ID: "ada"})
	if b.ID != "ada" || b.Tags[0] != "changed" {
		t.Errorf("got %v: want a copy of the struct and the slice shared, as documented", b)
	}
}

func TestCloneGivesEachCallerAnAnswerOfItsOwn(t *testing.T) {
	copyUser := func(u user) user { u.Tags = append([]string{}, u.Tags...); return u }
	for what, clone := range map[string]policy.Clone{"Clone": policy.CloneJSON(), "CloneWith": policy.CloneWith(copyUser)} {
		u := newUsers(t, cached(policy.Cached{Clone: clone}))
		for range 3 { // the first is the one that ran the handler
			out, err := sabir.Call[user](t.Context(), u.node, "test.run", getUser{ID: "ada"})
			if err != nil || out.Run != 1 || out.Tags[0] != "a" {
				t.Errorf("%s: got %v, %v", what, out, err)
			}
			out.Tags[0] = "changed"
		}
	}
}

func TestCacheLetsAnAnswerThroughThatItCannotKeep(t *testing.T) {
	runs := 0
	r := newRig(t, func(context.Context, none) (func() int, error) {
		runs++
		return func() int { return 1 }, nil
	}, cached(policy.Cached{Clone: policy.CloneJSON()}))
	for range 2 {
		if out, err := sabir.Call[func() int](t.Context(), r.node, "test.run", none{}); err != nil || out() != 1 {
			t.Errorf("got %v", err)
		}
	}
	if runs != 2 {
		t.Errorf("%d runs", runs)
	}
}

func TestCacheDoesWithoutAKeyWhereTheInputHasNone(t *testing.T) {
	runs := 0
	r := newRig(t, func(_ context.Context, in any) (int, error) { runs++; return runs, nil }, cached(policy.Cached{}))
	for want := range 2 {
		if out, err := sabir.Call[int](t.Context(), r.node, "test.run", any(func() {})); err != nil || out != want+1 {
			t.Errorf("got %d, %v", out, err)
		}
	}
}

func TestCacheLeavesTheNodesOwnServiceAlone(t *testing.T) {
	node := start(t, sabir.Use(policy.Cached{Cache: &policy.Cache{}}))
	s := sabir.NewService("late")
	count := func() int {
		list, err := sabir.Call[[]introspect.Service](t.Context(), node, "$node.services", none{})
		if err != nil {
			t.Error(err)
		}
		return len(list)
	}
	before := count()
	if err := node.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	if count() != before+1 {
		t.Error("the list of services came from the cache")
	}
}

func TestCacheRefuses(t *testing.T) {
	for what, p := range map[string]sabir.Wrapper{
		"MaxEntries is -1":           policy.Cached{Cache: &policy.Cache{MaxEntries: -1}},
		"TTL is -1ns":                policy.Cached{TTL: -1},
		"a Store of its own":         policy.Cached{Cache: &policy.Cache{MaxEntries: 1, Store: policy.InMemory(1)}},
		`no field "nam"`:             policy.Cached{Cache: &policy.Cache{}, Keys: []string{"nam"}},
		"CloneWith was given nil":    policy.Cached{Cache: &policy.Cache{}, Clone: policy.CloneWith[helloReply](nil)},
		"CloneWith copies int, test": policy.Cached{Cache: &policy.Cache{}, Clone: policy.CloneWith(func(n int) int { return n })},
	} {
		if why := refused(t, p); !strings.Contains(why, "policy.") || !strings.Contains(why, what) {
			t.Errorf("refused with %q, want it to say %s", why, what)
		}
	}
}
