package cluster_test

import (
	"bytes"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/sabir-go/sabir/cluster"
)

func TestNodesJoinBySeed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		b := net.start(t, cluster.Member{ID: "b", Addr: url("b"), Zone: "north", Labels: map[string]string{"disk": "ssd"}},
			cluster.GossipConfig{Cluster: "test"}, url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		if got := c.ids(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("c knows %v", got)
		}
		got := c.Members()[1]
		want := cluster.Member{ID: "b", Addr: "mem://b", Zone: "north", Labels: map[string]string{"disk": "ssd"}, Instance: got.Instance}
		if got.Instance == 0 || !got.Equal(want) {
			t.Errorf("c knows b as %+v", got)
		}
		if got := a.last("b"); got != "joined" {
			t.Errorf("a was told that b %s", got)
		}
	})
}

func TestTwoSeedsThatDoNotKnowEachOtherMeetThroughAJoiner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b")
		c := net.node(t, "c", url("a"), url("b"))
		meet(t, 2*time.Second, a, b, c)
	})
}

func TestASeedThatComesUpLaterIsFound(t *testing.T) {
	for name, silent := range map[string]bool{"refused meanwhile": false, "not answering meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				net := newNetwork(t)
				net.silent = silent
				var log logged
				a := net.start(t, cluster.Member{ID: "a", Addr: url("a")},
					cluster.GossipConfig{Cluster: "test", Log: slog.New(slog.NewTextHandler(&log, nil))}, url("b"))
				time.Sleep(3 * time.Minute)
				b := net.node(t, "b")
				meet(t, 20*time.Second, a, b)
				if got := strings.Count(log.String(), "cannot be reached"); got != 1 {
					t.Errorf("logged %d times that the seed cannot be reached, want once:\n%s", got, log.String())
				}
				if got := strings.Count(log.String(), "reached again"); got != 1 {
					t.Errorf("logged %d times that it can again, want once:\n%s", got, log.String())
				}
			})
		})
	}
}

func TestANodeMayBeAmongItsOwnSeeds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		list := []string{url("a"), "mem://alias-of-a", url("b")}
		a := net.node(t, "a", list...)
		net.lock.Lock()
		net.nodes["mem://alias-of-a"] = a
		net.lock.Unlock()
		b := net.node(t, "b", list...)
		meet(t, time.Second, a, b)
		time.Sleep(time.Minute)
		if n := net.dialled("a", url("a")); n != 0 {
			t.Errorf("dialled the address it knows as its own %d times", n)
		}
		if n := net.dialled("a", "mem://alias-of-a"); n != 1 {
			t.Errorf("dialled another address of its own %d times, want once", n)
		}
	})
}

func TestANodeThatLeavesIsLeftAndNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		b := net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		begin := time.Now()
		if err := b.stop(); err != nil {
			t.Fatal(err)
		}
		if took := time.Since(begin); took > time.Second {
			t.Errorf("leaving took %v", took)
		}
		synctest.Wait()
		dialled := net.dialled("a", url("b")) + net.dialled("c", url("b"))
		time.Sleep(10 * time.Second)
		for _, m := range []*node{a, c} {
			if got := m.told(); !slices.Contains(got, "left b") || slices.Contains(got, "failed b") {
				t.Errorf("%s was told %v", m.self.ID, got)
			}
		}
		if net.dialled("a", url("b"))+net.dialled("c", url("b")) != dialled {
			t.Error("the node that left is still dialled")
		}
		if b.Members() != nil {
			t.Error("a stopped membership has members")
		}
	})
}

func TestACrashIsSeenWithinThreeSeconds(t *testing.T) {
	// Above 3 nodes there is a tail: a suspicion that no second node confirms by chance soon takes longer.
	limits := map[int]time.Duration{2: 3 * time.Second, 3: 3 * time.Second, 5: 4 * time.Second, 10: 5 * time.Second}
	for name, silent := range map[string]bool{"packets are refused": false, "packets vanish": true} {
		for size, limit := range limits {
			t.Run(fmt.Sprintf("%s, %d nodes", name, size), func(t *testing.T) {
				synctest.Test(t, func(t *testing.T) {
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
						t.Errorf("told that the node %s", got)
					}
				})
			})
		}
	}
}

func TestALinksHintRemovesACrashedNodeAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		b.vanish()
		a.Failed("b")
		synctest.Wait()
		if len(a.Members()) != 0 {
			t.Error("the node is still a member")
		}
		time.Sleep(time.Minute)
		if got := a.told(); !slices.Equal(got, []string{"joined b", "failed b"}) {
			t.Errorf("a was told %v", got)
		}
	})
}

func TestAWrongHintIsTakenBackByASignOfLife(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		a.Failed("b")
		a.Failed("nobody")
		synctest.Wait()
		within(t, 2*time.Second, "b is back", func() bool { return a.last("b") == "joined" })
		if got := a.told(); !slices.Equal(got, []string{"joined b", "failed b", "joined b"}) {
			t.Errorf("a was told %v", got)
		}
	})
}

func TestANodeThatStallsForASecondIsNotFailed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		for range 10 {
			net.stalls(b, time.Second)
			time.Sleep(5 * time.Second)
		}
		for _, m := range []*node{a, b, c} {
			if got := m.told(); len(got) != 2 {
				t.Errorf("%s was told %v", m.self.ID, got)
			}
		}
	})
}

func TestAFalseFailureIsTakenBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		net.stalls(b, 6*time.Second)
		synctest.Wait()
		if !slices.Contains(a.told(), "failed b") || !slices.Contains(c.told(), "failed b") {
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
				synctest.Test(t, func(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
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
	synctest.Test(t, func(t *testing.T) {
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
			if got := m.told(); len(got) != 49+5 {
				t.Errorf("%s was told %d changes, want 54", m.self.ID, len(got))
			}
		}
	})
}

func TestNodesMeetThoughHalfOfAllPacketsAreLost(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		net.loss = 0.5
		var nodes []*node
		for i := range 10 {
			nodes = append(nodes, net.node(t, fmt.Sprint(i), url("0")))
		}
		meet(t, 30*time.Second, nodes...)
	})
}

func TestClustersOfAnotherNameDoNotMix(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.start(t, cluster.Member{ID: "c", Addr: url("c")}, cluster.GossipConfig{Cluster: "other"}, url("a"))
		meet(t, time.Second, a, b)
		time.Sleep(time.Minute)
		if len(c.Members()) != 0 || len(a.Members()) != 1 {
			t.Errorf("c knows %v, a knows %v", c.ids(), a.ids())
		}
	})
}

func TestARestartUnderTheSameIDIsToldAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		before := a.Members()[0]
		b.vanish()
		again := net.start(t, cluster.Member{ID: "b", Addr: "mem://elsewhere"}, cluster.GossipConfig{Cluster: "test"}, url("a"))
		within(t, 2*time.Second, "a and c know where b is now", func() bool {
			return len(again.Members()) == 2 && a.Members()[0].Addr == "mem://elsewhere" && c.Members()[1].Addr == "mem://elsewhere"
		})
		if a.Members()[0].Instance == before.Instance {
			t.Error("both runs have the same instance")
		}
		time.Sleep(30 * time.Second)
		if got := a.told(); slices.Contains(got, "failed b") || !slices.Contains(got, "updated b") {
			t.Errorf("a was told %v", got)
		}
	})
}

func TestANodeThatLeftMayComeBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		if err := b.stop(); err != nil {
			t.Fatal(err)
		}
		b = net.node(t, "b", url("a"))
		meet(t, 2*time.Second, a, b)
		if got := a.told(); !slices.Equal(got, []string{"joined b", "left b", "joined b"}) {
			t.Errorf("a was told %v", got)
		}
	})
}

func TestAGuestIsAMemberThatNobodyDials(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		guest := net.start(t, cluster.Member{ID: "cli", Guest: true}, cluster.GossipConfig{Cluster: "test"}, url("a"))
		meet(t, time.Second, a, guest)
		if !a.Members()[0].Guest {
			t.Error("the guest is not marked as one")
		}
		guest.vanish()
		within(t, 3*time.Second, "the guest is gone", func() bool { return len(a.Members()) == 0 })
		time.Sleep(time.Minute)
		if net.dialled("a", "") > 5 { // the probes until it failed
			t.Errorf("the guest was dialled %d times", net.dialled("a", ""))
		}
	})
}

func TestTwoNodesWithOneIDAreReported(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		var log logged
		config := cluster.GossipConfig{Cluster: "test", Log: slog.New(slog.NewTextHandler(&log, nil))}
		net.node(t, "a")
		net.start(t, cluster.Member{ID: "b", Addr: url("b")}, config, url("a"))
		time.Sleep(2 * time.Minute)
		if strings.Contains(log.String(), "this node's id") {
			t.Fatalf("reported too soon:\n%s", log.String())
		}
		net.start(t, cluster.Member{ID: "b", Addr: url("b2")}, cluster.GossipConfig{Cluster: "test"}, url("a"))
		within(t, 2*time.Minute, "the conflict is logged", func() bool { return strings.Contains(log.String(), "seems to use this node's id") })
	})
}

func TestWhatCannotBeToldIsRefusedAtStart(t *testing.T) {
	long := strings.Repeat("x", 600)
	tests := map[string]struct {
		self   cluster.Member
		config cluster.GossipConfig
		seed   string
		want   string
	}{
		"no id":                 {cluster.Member{Addr: "mem://a"}, cluster.GossipConfig{}, "", "is empty"},
		"long id":               {cluster.Member{ID: long}, cluster.GossipConfig{}, "", "600 bytes long; 200 is the limit"},
		"control character":     {cluster.Member{ID: "a\nb"}, cluster.GossipConfig{}, "", "control character"},
		"address":               {cluster.Member{ID: "a", Addr: "10.0.0.1:7700"}, cluster.GossipConfig{}, "", "not a URL"},
		"long label":            {cluster.Member{ID: "a", Labels: map[string]string{"note": long, "disk": "ssd"}}, cluster.GossipConfig{}, "", `the label "note"`},
		"long zone":             {cluster.Member{ID: "a", Zone: long}, cluster.GossipConfig{}, "", "the zone"},
		"cluster name":          {cluster.Member{ID: "a"}, cluster.GossipConfig{Cluster: long}, "", "the cluster name"},
		"a seed without scheme": {cluster.Member{ID: "a"}, cluster.GossipConfig{}, "localhost", "a seed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var seeds []string
			if test.seed != "" {
				seeds = append(seeds, test.seed)
			}
			err := cluster.NewGossip(&node{}, seeds, test.config).Start(t.Context(), test.self, func(cluster.Change) {})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
}

func TestAGossipIsStartedOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		if err := a.Start(t.Context(), a.self, a.watch); err == nil {
			t.Error("started twice")
		}
		if err := a.stop(); err != nil {
			t.Fatal(err)
		}
		if err := a.Start(t.Context(), a.self, a.watch); err == nil {
			t.Error("started after its end")
		}
		if err := a.Stop(context.Background()); err != nil {
			t.Errorf("the second Stop: %v", err)
		}
	})
}

func TestStopEndsWithItsContext(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		if err := a.Stop(ctx); err == nil {
			t.Error("no error, though nobody can have been told")
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("took %v", took)
		}
		a.stopped = true
		a.vanish()
	})
}

func TestPacketsAndConnectionsOutsideOfItsLifeAreDropped(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		if err := a.stop(); err != nil {
			t.Fatal(err)
		}
		a.Packet("b", []byte("late"))
		a.Failed("b")
		one, two := pipePair()
		a.Conn(two)
		if _, err := one.Read(make([]byte, 1)); err == nil {
			t.Error("the connection is open")
		}
	})
}

func TestGarbageFromAPeerDoesNoHarm(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		for _, packet := range [][]byte{nil, {0}, {244}, {244, 4, 't', 'e', 's', 't'}, {244, 4, 't', 'e', 's', 't', 4, 0x80}, bytes.Repeat([]byte{0xff}, 5000)} {
			a.Packet("b", packet)
			one, two := pipePair()
			a.Conn(two)
			one.SetDeadline(time.Now().Add(time.Second))
			one.Write(packet)
			one.Close()
		}
		time.Sleep(10 * time.Second)
		if !acquainted(a, b) {
			t.Error("they lost each other")
		}
	})
}
