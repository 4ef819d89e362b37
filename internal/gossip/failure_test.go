package gossip_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

func TestACrashIsSeenWithinThreeSeconds(t *testing.T) {
	// Above 3 nodes there is a tail: a suspicion that no second node confirms by chance soon takes longer.
	limits := map[int]time.Duration{2: 3 * time.Second, 3: 3 * time.Second, 5: 4 * time.Second, 10: 5 * time.Second}
	for name, silent := range map[string]bool{"packets are refused": false, "packets vanish": true} {
		for size, limit := range limits {
			t.Run(fmt.Sprintf("%s, %d nodes", name, size), func(t *testing.T) {
				bubbletest.Run(t, func(t *testing.T) {
					net := newNetwork(t)
					net.silent = silent
					nodes := []*node{net.node(t, "0")}
					for i := range size - 1 {
						nodes = append(nodes, net.node(t, fmt.Sprint(i+1), url("0")))
					}
					meet(t, 2*time.Second, nodes...)
					crashed, others := nodes[size-1], nodes[:size-1]
					crashed.vanish()
					within(t, limit, "the crash is seen by all", func() bool { return acquainted(others...) })
					if got := others[0].last(crashed.self.ID); got != "failed" {
						t.Errorf("notified that the node %s", got)
					}
				})
			})
		}
	}
}

func TestALinksHintRemovesACrashedNodeAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		b.vanish()
		a.Failed("b")
		bubbletest.Wait()
		if len(a.Members()) != 0 {
			t.Error("the node is still a member")
		}
		time.Sleep(time.Minute)
		if got := a.log(); !slices.Equal(got, []string{"joined b", "failed b"}) {
			t.Errorf("a was notified of %v", got)
		}
	})
}

func TestAWrongHintIsTakenBackByASignOfLife(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		a.Failed("b")
		a.Failed("nobody")
		bubbletest.Wait()
		within(t, 2*time.Second, "b is back", func() bool { return a.last("b") == "joined" })
		if got := a.log(); !slices.Equal(got, []string{"joined b", "failed b", "joined b"}) {
			t.Errorf("a was notified of %v", got)
		}
	})
}

func TestANodeThatStallsForASecondIsNotFailed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		for range 10 {
			net.stalls(b, time.Second)
			time.Sleep(5 * time.Second)
		}
		for _, m := range []*node{a, b, c} {
			if got := m.log(); len(got) != 2 {
				t.Errorf("%s was notified of %v", m.self.ID, got)
			}
		}
	})
}

func TestAFalseFailureIsTakenBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		net.stalls(b, 6*time.Second)
		bubbletest.Wait()
		if !slices.Contains(a.log(), "failed b") || !slices.Contains(c.log(), "failed b") {
			t.Fatal("b was not failed: this test tests nothing")
		}
		meet(t, 2*time.Second, a, b, c)
		time.Sleep(10 * time.Second)
		if !acquainted(a, b, c) {
			t.Error("they came apart again")
		}
	})
}

func TestASplitClusterHeals(t *testing.T) {
	for name, lasting := range map[string]time.Duration{"short": 10 * time.Second, "long": 3 * time.Minute} {
		for _, silent := range []bool{false, true} {
			t.Run(fmt.Sprintf("%s, silent %v", name, silent), func(t *testing.T) {
				bubbletest.Run(t, func(t *testing.T) {
					net := newNetwork(t)
					nodes := []*node{net.node(t, "0")} // the only seed: the other half has none on its side
					for i := range 5 {
						nodes = append(nodes, net.node(t, fmt.Sprint(i+1), url("0")))
					}
					meet(t, 2*time.Second, nodes...)
					net.split(silent, nodes[:3]...)
					within(t, 20*time.Second, "each half is by itself", func() bool {
						return acquainted(nodes[:3]...) && acquainted(nodes[3:]...)
					})
					time.Sleep(lasting)
					if !acquainted(nodes[:3]...) || !acquainted(nodes[3:]...) {
						t.Fatal("a half does not keep together")
					}
					net.heal()
					took := meet(t, 30*time.Second, nodes...)
					time.Sleep(10 * time.Second)
					if !acquainted(nodes...) {
						t.Error("they came apart again")
					}
					t.Logf("healed within %v", took)
				})
			})
		}
	}
}

func TestASplitHealsThoughTheSeedIsGone(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		seed := net.node(t, "seed")
		var nodes []*node
		for i := range 4 {
			nodes = append(nodes, net.node(t, fmt.Sprint(i), url("seed")))
		}
		meet(t, 2*time.Second, append(nodes, seed)...)
		if err := seed.stop(); err != nil {
			t.Fatal(err)
		}
		net.split(true, nodes[:2]...)
		time.Sleep(3 * time.Minute)
		if !acquainted(nodes[:2]...) || !acquainted(nodes[2:]...) {
			t.Fatal("the halves are not by themselves")
		}
		net.heal()
		meet(t, 30*time.Second, nodes...)
	})
}

func TestASplitOfHoursHealsBySeeds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		net.split(false, a)
		time.Sleep(70 * time.Minute)
		before := net.dialled("a", url("b"))
		time.Sleep(10 * time.Minute)
		if net.dialled("a", url("b")) != before {
			t.Error("a still looks for b, which failed more than an hour ago")
		}
		net.heal()
		meet(t, 30*time.Second, a, b)
	})
}

func TestFiftyNodesMeetAndSeeCrashes(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		var nodes []*node
		for i := range 50 {
			nodes = append(nodes, net.node(t, fmt.Sprintf("n%02d", i), url("n00"), url("n01")))
		}
		t.Logf("met within %v", meet(t, 10*time.Second, nodes...))
		for _, m := range nodes[45:] {
			m.vanish()
		}
		took := within(t, 10*time.Second, "five crashes are seen by all", func() bool { return acquainted(nodes[:45]...) })
		t.Logf("crashes seen within %v", took)
		for _, m := range nodes[:45] {
			if got := m.log(); len(got) != 49+5 {
				t.Errorf("%s got %d changes, want 54", m.self.ID, len(got))
			}
		}
	})
}

func TestNodesMeetThoughHalfOfAllPacketsAreLost(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		net.loss = 0.5
		var nodes []*node
		for i := range 10 {
			nodes = append(nodes, net.node(t, fmt.Sprint(i), url("0")))
		}
		meet(t, 30*time.Second, nodes...)
	})
}
