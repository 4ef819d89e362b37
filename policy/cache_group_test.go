package policy_test

import (
	"context"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/broker/redis"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/requestid"
	"github.com/sabir-go/sabir/policy"
	_ "github.com/sabir-go/sabir/transport/tcp"
)

// member is a node of a cluster whose action "of-N.get" answers with the value at the time, from a cache in memory.
type member struct {
	*sabir.Node
	action string
	cache  *policy.Cache
}

// newCluster starts three nodes that know each other.
func newCluster(t *testing.T, address string, value *atomic.Int32, cacheGroup func(c *policy.Cache, s *sabir.Service, i int)) []*member {
	t.Helper()
	var members []*member
	for i := range 3 {
		m := &member{action: fmt.Sprintf("of-%d.get", i), cache: &policy.Cache{}}
		s := sabir.NewService(fmt.Sprintf("of-%d", i))
		sabir.Handle(s, "get", func(context.Context, string) (int, error) { return int(value.Load()), nil }, sabir.Use(policy.Cached{Cache: m.cache}))
		cacheGroup(m.cache, s, i)
		m.Node = start(t, sabir.NodeID(fmt.Sprint("node-", i)), sabir.Serve(s), sabir.Logger(slog.New(slog.DiscardHandler)), sabir.Join(address, cluster.Config{Name: t.Name()}))
		if strings.HasPrefix(address, "tcp:") && i == 0 {
			address = m.Info().Addr
		}
		members = append(members, m)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	for _, m := range members {
		if err := m.WaitFor(ctx, "of-0", "of-1", "of-2"); err != nil {
			t.Fatal(err)
		}
	}
	return members
}

func (m *member) get(t *testing.T) int {
	t.Helper()
	out, err := sabir.Call[int](t.Context(), m.Node, m.action, "k")
	if err != nil {
		t.Error(err)
	}
	return out
}

func prices(c *policy.Cache, s *sabir.Service, _ int) { c.InvalidateAcross(s, "prices") }

func TestCleaningOneOfTheCachesThatAreCleanedTogetherCleansAll(t *testing.T) {
	for name, address := range map[string]func(*testing.T) string{
		"tcp":   func(*testing.T) string { return "tcp://127.0.0.1:0" },
		"redis": func(t *testing.T) string { return brokers.ForTest(t, brokers.Redis).URL() },
	} {
		t.Run(name, func(t *testing.T) {
			var value atomic.Int32
			members := newCluster(t, address(t), &value, prices)
			for round := range 30 {
				for _, m := range members {
					m.get(t)
				}
				value.Add(1)
				if err := members[round%3].cache.Invalidate(t.Context(), "of-0.*", "of-1.get", "of-2.**"); err != nil {
					t.Fatal(err)
				}
				for i, m := range members {
					if got := m.get(t); got != round+1 {
						t.Errorf("round %d: node %d answers with %d", round, i, got)
					}
				}
			}
		})
	}
}

func TestCleaningTogetherTakesThePatternAndTheName(t *testing.T) {
	var value atomic.Int32
	members := newCluster(t, "tcp://127.0.0.1:0", &value, func(c *policy.Cache, s *sabir.Service, i int) {
		c.InvalidateAcross(s, []string{"prices", "prices", "others"}[i])
	})
	for _, m := range members {
		m.get(t)
	}
	value.Add(1)
	if err := members[0].cache.Invalidate(t.Context(), "nobody.*"); err != nil {
		t.Error(err)
	}
	if members[0].get(t) != 0 || members[1].get(t) != 0 {
		t.Error("another pattern cleaned it")
	}
	if err := members[0].cache.Invalidate(t.Context(), "**"); err != nil {
		t.Error(err)
	}
	if a, b, c := members[0].get(t), members[1].get(t), members[2].get(t); a != 1 || b != 1 || c != 0 {
		t.Errorf("got %d, %d and %d, want 1 and 1, and 0 of the cache of another name", a, b, c)
	}
}

// Each node receives the event that InvalidateOn waits for. None must notify the others in turn.
func TestInvalidateOnAndInvalidateAcrossGoTogether(t *testing.T) {
	var value atomic.Int32
	var received atomic.Int32
	members := newCluster(t, "tcp://127.0.0.1:0", &value, func(c *policy.Cache, s *sabir.Service, _ int) {
		prices(c, s, 0)
		c.InvalidateOn(s, "price.changed", "**")
		sabir.On(s, "$cache.**", func(context.Context, any) error { received.Add(1); return nil }, sabir.Delivery{Group: requestid.New()})
	})
	for _, m := range members {
		m.get(t)
	}
	value.Add(1)
	if err := sabir.Emit(t.Context(), members[0], "price.changed", 1); err != nil {
		t.Error(err)
	}
	for i, m := range members {
		if got := m.get(t); got != 1 {
			t.Errorf("node %d answers with %d", i, got)
		}
	}
	if received.Load() != 0 {
		t.Errorf("%d more events were notified", received.Load())
	}
}

func TestCleaningTogetherManyPatternsAtOnce(t *testing.T) {
	var value atomic.Int32
	members := newCluster(t, "tcp://127.0.0.1:0", &value, prices)
	for _, m := range members {
		m.get(t)
	}
	value.Add(1)
	patterns := make([]string, 2500)
	for i := range patterns {
		patterns[i] = fmt.Sprintf("a%d.*", i)
	}
	patterns[2400] = "**"
	if err := members[1].cache.Invalidate(t.Context(), patterns...); err != nil {
		t.Error(err)
	}
	for i, m := range members {
		if got := m.get(t); got != 1 {
			t.Errorf("node %d answers with %d", i, got)
		}
	}
}

func TestCleaningFromAllNodesAtOnce(t *testing.T) {
	var value, cleaned atomic.Int32
	members := newCluster(t, "tcp://127.0.0.1:0", &value, prices)
	var wg sync.WaitGroup
	for _, m := range members {
		wg.Go(func() {
			for range 100 {
				least := cleaned.Load()
				if got := m.get(t); got < int(least) {
					t.Errorf("an answer is of %d after the cleaning of %d", got, least)
				}
				v := value.Add(1)
				if err := m.cache.Invalidate(t.Context(), "**"); err != nil {
					t.Error(err)
				}
				for old := cleaned.Load(); old < v && !cleaned.CompareAndSwap(old, v); old = cleaned.Load() {
				}
			}
		})
	}
	wg.Wait()
}

func TestInvalidateOfACacheGroupIsAnErrorBeforeTheServiceRuns(t *testing.T) {
	cache := &policy.Cache{}
	s := sabir.NewService("test")
	cache.InvalidateAcross(s, "prices")
	if err := cache.Invalidate(t.Context(), "test.*"); err == nil || !strings.Contains(err.Error(), `"prices"`) {
		t.Errorf("got %v", err)
	}
}

func TestInvalidateAcrossIsForOneNameAndThatIsChecked(t *testing.T) {
	for what, cacheGroup := range map[string]func(c *policy.Cache, s *sabir.Service){
		"is called": func(c *policy.Cache, s *sabir.Service) { c.InvalidateAcross(s, "a"); c.InvalidateAcross(s, "b") },
		"character": func(c *policy.Cache, s *sabir.Service) { c.InvalidateAcross(s, "a b") },
		`"*"`:       func(c *policy.Cache, s *sabir.Service) { c.InvalidateAcross(s, "*") },
	} {
		cache := &policy.Cache{}
		s := sabir.NewService("test")
		cacheGroup(cache, s)
		sabir.Handle(s, "run", func(context.Context, none) (int, error) { return 1, nil }, sabir.Use(policy.Cached{Cache: cache}))
		if err := sabir.NewNode(sabir.Serve(s)).Start(t.Context()); err == nil || !strings.Contains(err.Error(), what) {
			t.Errorf("got %v, want %q", err, what)
		}
	}
}
