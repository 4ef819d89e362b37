package rediscache_test

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestCleaningOnOneNodeHoldsOnAllWhenItReturns(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	for pattern, cleans := range map[string]bool{"users.get": true, "users.*": true, "**": true, "users": false, "others.*": false, "users.get.**": false} {
		t.Run(pattern, func(t *testing.T) {
			var r runs
			a, b := newNode(t, open(t, url), r.handler), newNode(t, open(t, url), r.handler)
			before := a.get(t, pattern)
			if b.get(t, pattern) != before {
				t.Error("the answer is not shared")
			}
			a.clean(t, "nobody", pattern)
			if after := b.get(t, pattern); (after != before) != cleans {
				t.Errorf("the answers before and after are of the runs %d and %d", before, after)
			}
			if c := newNode(t, open(t, url), r.handler); (c.get(t, pattern) != before) != cleans {
				t.Error("a node that came after it sees it otherwise")
			}
		})
	}
}

// A run that began before a cleaning ends after it. Its answer goes to the callers that asked before, and to no others.
func TestCleaningHoldsForAnswersThatAnotherNodeIsWorkingOut(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	var value atomic.Int32
	begun, goOn := make(chan struct{}), make(chan struct{})
	a := newNode(t, open(t, url), func(context.Context, string) (user, error) {
		v := value.Load()
		if v == 0 {
			close(begun)
			<-goOn
		}
		return user{"ada", int(v)}, nil
	})
	b := newNode(t, open(t, url), func(context.Context, string) (user, error) { return user{"ada", int(value.Load())}, nil })
	var wg sync.WaitGroup
	wg.Go(func() {
		if v := a.get(t, "ada"); v != 0 {
			t.Errorf("the call from before got %d", v)
		}
	})
	<-begun
	value.Store(1)
	b.clean(t, "users.*")
	for _, n := range []*node{a, b} { // while the old run still goes on: they wait for its lock, and then do their own
		wg.Go(func() {
			if v := n.get(t, "ada"); v != 1 {
				t.Errorf("a call from after the cleaning got %d", v)
			}
		})
	}
	close(goOn)
	wg.Wait()
	for _, n := range []*node{a, b} {
		if v := n.get(t, "ada"); v != 1 {
			t.Errorf("later a call got %d", v)
		}
	}
}

// Writers raise a value and clean; readers on every node, with many calls at once, never see less than what had been
// cleaned when they began.
func TestNoAnswerIsOlderThanTheLastCleaningWhateverGoesOn(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	var value, cleaned atomic.Int32
	var nodes []*node
	for range 3 {
		nodes = append(nodes, newNode(t, open(t, url), func(_ context.Context, id string) (user, error) {
			v := value.Load()
			time.Sleep(time.Millisecond)
			return user{id, int(v)}, nil
		}))
	}
	end := time.Now().Add(2 * time.Second)
	var wg sync.WaitGroup
	var calls, cleanings atomic.Int32
	goesOn := func() bool { return time.Now().Before(end) || calls.Load() < 100 || cleanings.Load() < 20 }
	for _, n := range nodes {
		for i := range 8 {
			wg.Go(func() {
				for goesOn() && !t.Failed() {
					least := cleaned.Load()
					if v := n.get(t, fmt.Sprint("key", i%2)); v < int(least) {
						t.Errorf("an answer is of %d after the cleaning of %d", v, least)
						return
					}
					calls.Add(1)
				}
			})
		}
	}
	wg.Go(func() {
		for i := 0; goesOn() && !t.Failed(); i++ {
			v := value.Add(1)
			nodes[i%len(nodes)].clean(t, "users.*")
			cleaned.Store(v)
			cleanings.Add(1)
			if i%10 == 9 {
				time.Sleep(20 * time.Millisecond) // for answers to be found at all
			}
		}
	})
	wg.Wait()
	t.Logf("%d calls, %d cleanings", calls.Load(), cleanings.Load())
}

func TestCleaningOtherActionsLeavesAnswersAlone(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	var r runs
	n := newNode(t, open(t, url), r.handler)
	n.get(t, "ada")
	for i := range 100 {
		n.clean(t, fmt.Sprint("others.a", i))
	}
	if run := n.get(t, "ada"); run != 1 {
		t.Errorf("run %d, want 1", run)
	}
}

func TestPatternsAreBoundedByCleaningEverything(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	ctx, raw := t.Context(), client(t, url)
	var r runs
	n := newNode(t, open(t, url), r.handler)
	n.get(t, "ada")
	n.clean(t, "others.a")
	if run := n.get(t, "ada"); run != 1 {
		t.Errorf("run %d, want 1", run)
	}
	moment, err := raw.Do(ctx, raw.B().Hget().Key("test:cleaned").Field(".").Build()).ToString()
	if err != nil {
		t.Fatal(err)
	}
	for i := range 10_001 {
		raw.Do(ctx, raw.B().Hset().Key("test:cleaned").FieldValue().FieldValue(fmt.Sprint("others.b", i), moment).Build())
	}
	n.clean(t, "others.c")
	if run := n.get(t, "ada"); run != 2 {
		t.Errorf("run %d, want 2", run)
	}
	if fields, err := raw.Do(ctx, raw.B().Hlen().Key("test:cleaned").Build()).AsInt64(); fields != 3 || err != nil {
		t.Errorf("%d fields are left, %v", fields, err)
	}
}

// What was noted about cleanings may be evicted, deleted, or as it was earlier, after a server came back from an old copy.
func TestAServerThatForgetsCleaningsHasEverythingCleaned(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	ctx, raw := t.Context(), client(t, url)
	forget := func() { raw.Do(ctx, raw.B().Del().Key("test:cleaned").Build()) }
	var old map[string]string
	for what, do := range map[string]struct{ before, after func() }{
		"deleted": {func() {}, forget},
		"older": {func() {
			old, _ = raw.Do(ctx, raw.B().Hgetall().Key("test:cleaned").Build()).AsStrMap()
		}, func() {
			forget()
			for field, value := range old {
				raw.Do(ctx, raw.B().Hset().Key("test:cleaned").FieldValue().FieldValue(field, value).Build())
			}
		}},
	} {
		t.Run(what, func(t *testing.T) {
			var r runs
			a := newNode(t, open(t, url), r.handler)
			first := a.get(t, what) // which the cleaning below takes
			do.before()
			a.clean(t, "users.*")
			do.after()
			fresh := newNode(t, open(t, url), r.handler)
			if what == "older" {
				a.get(t, "another") // a node that knows better updates the server
			}
			for _, n := range []*node{fresh, a, fresh} {
				if run := n.get(t, what); run == first {
					t.Error("an answer that was cleaned is back")
				}
			}
			if x, y := a.get(t, what), fresh.get(t, what); x != y {
				t.Errorf("runs %d and %d: nothing is kept any more", x, y)
			}
		})
	}
}

func TestACleaningThatFailsIsMadeUpFor(t *testing.T) {
	server := brokers.ForTest(t, brokers.Redis)
	var r runs
	n := newNode(t, open(t, server.URL()), r.handler)
	n.get(t, "ada")
	n.get(t, "bob")
	if err := server.Stop(); err != nil {
		t.Fatal(err)
	}
	if err := n.cache.Invalidate(t.Context(), "users.*"); err == nil {
		t.Error("there is no error")
	}
	if err := server.Restart(); err != nil {
		t.Fatal(err)
	}
	eventually(t, "answers are kept again", func() bool { return n.keeps(t, "eve") })
	if run := n.get(t, "ada"); run == 1 {
		t.Error("the answer from before the cleaning is there")
	}
}

func TestInvalidateOnAnEventCleansForNodesThatDoNotReceiveIt(t *testing.T) {
	url := brokers.ForTest(t, brokers.Redis).URL()
	var r runs
	deaf, hearing := newNode(t, open(t, url), r.handler), newNode(t, open(t, url), r.handler)
	s := sabir.NewService("listener")
	hearing.cache.InvalidateOn(s, "user.*", "users.**")
	if err := hearing.Add(t.Context(), s); err != nil {
		t.Fatal(err)
	}
	deaf.get(t, "ada")
	if err := sabir.Emit(t.Context(), hearing.Node, "user.changed", 1); err != nil {
		t.Error(err)
	}
	if run := deaf.get(t, "ada"); run != 2 {
		t.Errorf("run %d, want 2", run)
	}
}
