package membership_test

import (
	"fmt"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/membership"
)

var balancers = map[string]func() membership.Balancer{
	"round-robin": membership.RoundRobin,
	"random":      membership.Random,
	"least":       membership.LeastInFlight,
	"ewma":        membership.PeakEWMA,
	"hash":        membership.ConsistentHash,
}

// candidates are n nodes called "n0" and so on.
var inNorth = &membership.Place{Zone: "north"}

func north() *membership.Place { return inNorth }

func candidates(n int) []*membership.Candidate {
	var list []*membership.Candidate
	for i := range n {
		list = append(list, membership.NewCandidate(fmt.Sprintf("n%d", i), membership.Place{}))
	}
	return list
}

// picks counts the candidates picked in n picks.
func picks(b membership.Balancer, among []*membership.Candidate, n int) map[string]int {
	count := make(map[string]int)
	for range n {
		count[b.Pick(among, "").ID]++
	}
	return count
}

// each runs a test for every balancer, alone and within Nearest.
func each(t *testing.T, test func(t *testing.T, b membership.Balancer)) {
	for name, factory := range balancers {
		t.Run(name, func(t *testing.T) { test(t, factory()) })
		t.Run("nearest "+name, func(t *testing.T) { test(t, membership.Nearest(north, factory())) })
	}
}

func TestEveryBalancerPicksTheOnlyOne(t *testing.T) {
	each(t, func(t *testing.T, b membership.Balancer) {
		only := candidates(1)
		for _, key := range []string{"", "a", "b"} {
			if got := b.Pick(only, key); got != only[0] {
				t.Errorf("picked %v", got)
			}
		}
	})
}

func TestEveryBalancerUsesAllThatAreAlikeAndFollowsChanges(t *testing.T) {
	each(t, func(t *testing.T, b membership.Balancer) {
		for _, n := range []int{3, 8, 5, 2} {
			among := candidates(n)
			seen := make(map[string]int)
			for i := range 2000 {
				seen[b.Pick(among, fmt.Sprint(i)).ID]++
			}
			for _, c := range among {
				if seen[c.ID] < 2000/n/2 {
					t.Errorf("of %d, %s got %d of 2000 calls", n, c.ID, seen[c.ID])
				}
			}
		}
	})
}

func TestEveryBalancerMayBeUsedByMany(t *testing.T) {
	each(t, func(t *testing.T, b membership.Balancer) {
		small, large := candidates(3), candidates(8)
		var all sync.WaitGroup
		for i := range 4 {
			among := [][]*membership.Candidate{small, large}[i%2]
			all.Go(func() {
				for j := range 500 {
					c := b.Pick(among, fmt.Sprint(j))
					c.End(c.Begin(), j%7 == 0)
				}
			})
		}
		all.Wait()
		for _, c := range slices.Concat(small, large) {
			if c.InFlight() != 0 {
				t.Errorf("%s has %d calls in flight", c.ID, c.InFlight())
			}
		}
	})
}

func TestEveryBalancerPicksWithoutAllocating(t *testing.T) {
	each(t, func(t *testing.T, b membership.Balancer) {
		among := candidates(8)
		if n := testing.AllocsPerRun(100, func() {
			c := b.Pick(among, "key")
			c.End(c.Begin(), false)
			b.Pick(among, "")
		}); n != 0 {
			t.Errorf("%v allocations", n)
		}
	})
}

func TestRoundRobinTakesTurns(t *testing.T) {
	among := candidates(4)
	b := membership.RoundRobin()
	for round := range 10 {
		for id, n := range picks(b, among, 4) {
			if n != 1 {
				t.Fatalf("round %d: %s was picked %d times", round, id, n)
			}
		}
	}
}

func TestRandomIsUniform(t *testing.T) {
	const n, each = 8, 10_000
	// The standard deviation is 94; six of them are one failure in a hundred million runs.
	for id, got := range picks(membership.Random(), candidates(n), n*each) {
		if math.Abs(float64(got-each)) > 6*94 {
			t.Errorf("%s was picked %d times, want about %d", id, got, each)
		}
	}
}

func TestLeastInFlightPicksTheIdleOneOfAFew(t *testing.T) {
	among := candidates(4)
	for i, c := range among {
		for range 3 - i%3 { // 3, 2, 1, 3 calls
			c.Begin()
		}
	}
	if got := picks(membership.LeastInFlight(), among, 100); got["n2"] != 100 {
		t.Errorf("picked %v", got)
	}
}

func TestLeastInFlightPicksTheBetterOfTwoAmongMany(t *testing.T) {
	among := candidates(10)
	among[0].Begin()
	got := picks(membership.LeastInFlight(), among, 1000)
	if got["n0"] != 0 {
		t.Errorf("the busy one was picked %d times", got["n0"])
	}
	for _, c := range among {
		c.SetLoad(100)
	}
	among[3].SetLoad(10)
	got = picks(membership.LeastInFlight(), among, 1000)
	if got["n3"] < 130 || got["n3"] > 270 { // it is one of the two in one of five picks
		t.Errorf("the one with the least load was picked %d times of 1000, want about 200", got["n3"])
	}
	if among[3].Load() != 10 {
		t.Errorf("the load is %d", among[3].Load())
	}
}

func TestLatencyIsMeasuredOnlyWhereItIsWanted(t *testing.T) {
	c := candidates(1)
	if start := c[0].Begin(); start != 0 {
		t.Error("the clock was read for nobody")
	}
	membership.PeakEWMA().Pick(c, "")
	if start := c[0].Begin(); start == 0 {
		t.Error("PeakEWMA's candidates are not timed")
	}
}

// took makes a call that takes d.
func took(c *membership.Candidate, d time.Duration, failed bool) {
	start := c.Begin()
	time.Sleep(d)
	c.End(start, failed)
}

func TestPeakEWMARisesAtOnceAndFadesSlowly(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		among := candidates(1)
		c := among[0]
		membership.PeakEWMA().Pick(among, "")
		about := func(want time.Duration) {
			t.Helper()
			if got := c.Latency(); math.Abs(float64(got-want)) > float64(want)/10 {
				t.Errorf("the latency is %v, want about %v", got, want)
			}
		}
		took(c, 10*time.Millisecond, false)
		about(10 * time.Millisecond)
		took(c, 200*time.Millisecond, false)
		about(200 * time.Millisecond)
		took(c, 10*time.Millisecond, false)
		about(200 * time.Millisecond)
		time.Sleep(10 * time.Second)
		about(74 * time.Millisecond) // 200/e
		took(c, 10*time.Millisecond, false)
		about(80 * time.Millisecond) // 200/e + 10·(1-1/e)
		took(c, time.Millisecond, true)
		about(time.Second)
	})
}

func TestPeakEWMAAvoidsSlowBusyAndFailingNodes(t *testing.T) {
	tests := map[string]func(c *membership.Candidate){
		"slow":      func(c *membership.Candidate) { took(c, 100*time.Millisecond, false) },
		"failing":   func(c *membership.Candidate) { took(c, time.Microsecond, true) },
		"busy":      func(c *membership.Candidate) { took(c, time.Millisecond, false); c.Begin(); c.Begin() },
		"stuck":     func(c *membership.Candidate) { c.Begin() },
		"slow once": func(c *membership.Candidate) { took(c, time.Second, false); took(c, time.Millisecond, false) },
	}
	for name, spoil := range tests {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				among := candidates(4)
				b := membership.PeakEWMA()
				picks(b, among, 100)
				spoil(among[0])
				for _, c := range among[1:] {
					took(c, time.Millisecond, false)
				}
				if got := picks(b, among, 1000); got["n0"] != 0 || got["n1"] < 200 {
					t.Errorf("picked %v", got)
				}
			})
		})
	}
}

func TestPeakEWMAGivesASlowNodeAnotherChance(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		among := candidates(2)
		b := membership.PeakEWMA()
		picks(b, among, 10)
		took(among[0], 100*time.Millisecond, false)
		begin := time.Now()
		for time.Since(begin) < 5*time.Minute {
			c := b.Pick(among, "")
			if c == among[0] {
				return
			}
			took(c, 5*time.Millisecond, false)
		}
		t.Error("it was not picked for five minutes")
	})
}

func TestConsistentHashGivesAKeyToOneNode(t *testing.T) {
	among := candidates(10)
	first, second := membership.ConsistentHash(), membership.ConsistentHash() // on two nodes, which have their own candidates
	other := candidates(10)
	slices.Reverse(other)
	count := make(map[string]int)
	for i := range 10_000 {
		key := fmt.Sprintf("user-%d", i)
		a, b := first.Pick(among, key), second.Pick(other, key)
		if a.ID != b.ID {
			t.Fatalf("%s goes to %s and to %s", key, a.ID, b.ID)
		}
		count[a.ID]++
	}
	for id, n := range count {
		if n < 800 || n > 1200 { // the standard deviation is 30
			t.Errorf("%s has %d of 10000 keys", id, n)
		}
	}
}

func TestConsistentHashMovesOnlyTheKeysOfTheNodeThatLeft(t *testing.T) {
	among := candidates(10)
	b := membership.ConsistentHash()
	rest := slices.Concat(among[:4], among[5:])
	for i := range 10_000 {
		key := fmt.Sprint(i)
		before, after := b.Pick(among, key), b.Pick(rest, key)
		if before != among[4] && before != after {
			t.Fatalf("key %s moved from %s to %s, though n4 left", key, before.ID, after.ID)
		}
		if after == among[4] {
			t.Fatal("the node that left was picked")
		}
	}
}

func TestConsistentHashTakesTurnsWithoutAKey(t *testing.T) {
	got := picks(membership.ConsistentHash(), candidates(4), 400)
	for id, n := range got {
		if n != 100 {
			t.Errorf("%s was picked %d times of 400", id, n)
		}
	}
}

func TestNearestPrefersTheZoneThenLabels(t *testing.T) {
	at := func(id, zone string, labels ...string) *membership.Candidate {
		p := membership.Place{Zone: zone, Labels: map[string]string{}}
		for _, l := range labels {
			key, value, _ := strings.Cut(l, "=")
			p.Labels[key] = value
		}
		return membership.NewCandidate(id, p)
	}
	self := membership.Place{Zone: "north", Labels: map[string]string{"rack": "7", "disk": "ssd"}}
	nowhere := membership.Place{}
	tests := map[string]struct {
		self  membership.Place
		among []*membership.Candidate
		want  string
	}{
		"the zone before any labels": {self, []*membership.Candidate{at("a", "north"), at("b", "south", "rack=7", "disk=ssd"), at("c", "north", "rack=7")}, "a c"},
		"else the most labels":       {self, []*membership.Candidate{at("a", "south", "rack=7"), at("b", "west", "rack=7", "disk=ssd"), at("c", "", "disk=hdd")}, "b"},
		"else all":                   {self, []*membership.Candidate{at("a", "south", "rack=8"), at("b", ""), at("c", "west")}, "a b c"},
		"a node without a zone":      {nowhere, []*membership.Candidate{at("a", ""), at("b", "north")}, "a b"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			b := membership.Nearest(func() *membership.Place { return &test.self }, membership.RoundRobin())
			got := picks(b, test.among, 60)
			var ids []string
			for id := range got {
				ids = append(ids, id)
			}
			slices.Sort(ids)
			if strings.Join(ids, " ") != test.want {
				t.Errorf("picked %v, want %s", got, test.want)
			}
		})
	}
}

func TestNearestFollowsThePlacesOfTheNodes(t *testing.T) {
	north, south := &membership.Place{Zone: "north"}, &membership.Place{Zone: "south"}
	a, b := membership.NewCandidate("a", *north), membership.NewCandidate("b", *south)
	self := &membership.Place{}
	balancer := membership.Nearest(func() *membership.Place { return self }, membership.RoundRobin())
	began := b.Begin()
	for _, step := range []struct {
		self *membership.Place
		b    *membership.Candidate
		want map[string]int
	}{
		{self, b, map[string]int{"a": 3, "b": 3}},
		{north, b, map[string]int{"a": 6}},
		{south, b, map[string]int{"b": 6}},
		{north, b.At(*north), map[string]int{"a": 3, "b": 3}},
	} {
		self = step.self
		if got := picks(balancer, []*membership.Candidate{a, step.b}, 6); !maps.Equal(got, step.want) {
			t.Errorf("in %q, with b in %q, it picked %v, want %v", self.Zone, step.b.Place.Zone, got, step.want)
		}
		if n := step.b.InFlight(); n != 1 {
			t.Errorf("%d calls are in flight to b, want 1", n)
		}
	}
	b.End(began, false)
}

func TestNearestSeesAnotherListOfNodes(t *testing.T) {
	among := candidates(3)
	b := membership.Nearest(func() *membership.Place { return &membership.Place{Zone: "north"} }, membership.RoundRobin())
	picks(b, among, 3)
	fresh := membership.NewCandidate("fresh", membership.Place{})
	among[1] = fresh
	if got := picks(b, among, 3); got["fresh"] != 1 || got["n1"] != 0 {
		t.Errorf("picked %v", got)
	}
}
