package gossip_test

import (
	"context"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/gossip"
	"github.com/sabir-go/sabir/internal/membership"
)

func TestNodesJoinBySeed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		b := net.start(t, membership.Member{ID: "b", Addr: url("b")},
			membership.GossipConfig{Cluster: "test"}, url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		if got := c.ids(); !slices.Equal(got, []string{"a", "b"}) {
			t.Errorf("c knows %v", got)
		}
		got := c.Members()[1]
		want := membership.Member{ID: "b", Addr: "mem://b", Instance: got.Instance}
		if got.Instance == 0 || got != want {
			t.Errorf("c knows b as %+v", got)
		}
		if got := a.last("b"); got != "joined" {
			t.Errorf("a was notified that b %s", got)
		}
	})
}

func TestTwoSeedsThatDoNotKnowEachOtherMeetThroughAJoiner(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b")
		c := net.node(t, "c", url("a"), url("b"))
		meet(t, 2*time.Second, a, b, c)
	})
}

func TestASeedThatComesUpLaterIsFound(t *testing.T) {
	for name, silent := range map[string]bool{"refused meanwhile": false, "not answering meanwhile": true} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				net := newNetwork(t)
				net.silent = silent
				var log logged
				a := net.start(t, membership.Member{ID: "a", Addr: url("a")},
					membership.GossipConfig{Cluster: "test", Log: slog.New(slog.NewTextHandler(&log, nil))}, url("b"))
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

func TestSeedsChangeWhileTheNodeRuns(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a", url("never"), url("gone"))
		time.Sleep(time.Minute)
		b := net.node(t, "b")
		a.SetSeeds([]string{url("never"), url("b"), url("a")})
		meet(t, time.Second, a, b)
		before := net.dialled("a", url("gone"))
		never := net.dialled("a", url("never"))
		time.Sleep(10 * time.Minute)
		if n := net.dialled("a", url("gone")) - before; before == 0 || n != 0 {
			t.Errorf("a seed was tried %d times while it was one, and %d times since", before, n)
		}
		if net.dialled("a", url("never")) == never {
			t.Error("a seed that stayed is not tried any more")
		}
		a.SetSeeds(nil)
		time.Sleep(time.Minute)
		if got := a.ids(); !slices.Equal(got, []string{"b"}) {
			t.Errorf("without seeds a knows %v", got)
		}
	})
}

func TestANodeMayBeAmongItsOwnSeeds(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		list := []string{url("a"), "mem://alias-of-a", url("b")}
		net.alias = map[string]string{"mem://alias-of-a": url("a")}
		a := net.node(t, "a", list...)
		b := net.node(t, "b", list...)
		meet(t, time.Second, a, b)
		time.Sleep(time.Minute)
		if n := net.dialled("a", url("a")); n != 0 {
			t.Errorf("dialled the address it knows as its own %d times", n)
		}
		if n := net.dialled("a", "mem://alias-of-a"); n < 2 || n > 12 {
			t.Errorf("dialled another address of its own %d times in a minute, want a few times", n)
		}
	})
}

func TestEachAddressOfASeedsNameIsVisited(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		net.names = map[string][]string{"mem://cluster": {url("a"), url("gone"), url("b"), url("c")}}
		a, b, c := net.node(t, "a", "mem://cluster"), net.node(t, "b"), net.node(t, "c")
		meet(t, 2*time.Second, a, b, c)
	})
}

func TestNodesThatAreEachFirstAtTheirSeedsNameMeet(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		net.names = map[string][]string{"mem://cluster": {url("a"), url("b")}}
		a, b := net.node(t, "a", "mem://cluster"), net.node(t, "b", "mem://cluster")
		meet(t, 2*time.Second, a, b)
	})
}

func TestASeedsNameIsLookedUpForAsLongAsTheNodeRuns(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		net.names = map[string][]string{"mem://cluster": {url("a")}}
		a, b := net.node(t, "a", "mem://cluster"), net.node(t, "b")
		time.Sleep(10 * time.Minute)
		net.lock.Lock()
		net.names["mem://cluster"] = []string{url("a"), url("b")}
		net.lock.Unlock()
		meet(t, 31*time.Second, a, b)
	})
}

func TestASeedThatLedBackToTheNodeIsVisitedAgain(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		var log logged
		net.alias = map[string]string{"mem://balancer": url("a")}
		a := net.start(t, membership.Member{ID: "a", Addr: url("a")},
			membership.GossipConfig{Cluster: "test", Log: slog.New(slog.NewTextHandler(&log, nil))}, "mem://balancer")
		b := net.node(t, "b")
		time.Sleep(10 * time.Minute)
		net.lock.Lock()
		net.alias["mem://balancer"] = url("b")
		net.lock.Unlock()
		meet(t, 31*time.Second, a, b)
		if strings.Contains(log.String(), "cannot be reached") {
			t.Errorf("logged an error of it:\n%s", log.String())
		}
	})
}

func TestANodeThatLeavesIsLeftAndNotFailed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
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
		bubbletest.Wait()
		dialled := net.dialled("a", url("b")) + net.dialled("c", url("b"))
		time.Sleep(10 * time.Second)
		for _, m := range []*node{a, c} {
			if got := m.log(); !slices.Contains(got, "left b") || slices.Contains(got, "failed b") {
				t.Errorf("%s was notified of %v", m.self.ID, got)
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

func TestClustersOfAnotherNameDoNotMix(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.start(t, membership.Member{ID: "c", Addr: url("c")}, membership.GossipConfig{Cluster: "other"}, url("a"))
		meet(t, time.Second, a, b)
		time.Sleep(time.Minute)
		if len(c.Members()) != 0 || len(a.Members()) != 1 {
			t.Errorf("c knows %v, a knows %v", c.ids(), a.ids())
		}
	})
}

func TestARestartUnderTheSameIDIsReportedAtOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		c := net.node(t, "c", url("a"))
		meet(t, time.Second, a, b, c)
		before := a.Members()[0]
		b.vanish()
		again := net.start(t, membership.Member{ID: "b", Addr: "mem://elsewhere"}, membership.GossipConfig{Cluster: "test"}, url("a"))
		within(t, 2*time.Second, "a and c know where b is now", func() bool {
			return len(again.Members()) == 2 && a.Members()[0].Addr == "mem://elsewhere" && c.Members()[1].Addr == "mem://elsewhere"
		})
		if a.Members()[0].Instance == before.Instance {
			t.Error("both runs have the same instance")
		}
		time.Sleep(30 * time.Second)
		if got := a.log(); slices.Contains(got, "failed b") || !slices.Contains(got, "updated b") {
			t.Errorf("a was notified of %v", got)
		}
	})
}

func TestANodeThatLeftMayComeBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		if err := b.stop(); err != nil {
			t.Fatal(err)
		}
		b = net.node(t, "b", url("a"))
		meet(t, 2*time.Second, a, b)
		if got := a.log(); !slices.Equal(got, []string{"joined b", "left b", "joined b"}) {
			t.Errorf("a was notified of %v", got)
		}
	})
}

func TestAClientOnlyNodeIsAMemberThatIsNotDialled(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a := net.node(t, "a")
		observer := net.start(t, membership.Member{ID: "cli", ClientOnly: true}, membership.GossipConfig{Cluster: "test"}, url("a"))
		meet(t, time.Second, a, observer)
		if !a.Members()[0].ClientOnly {
			t.Error("the client-only node is not marked as one")
		}
		observer.vanish()
		within(t, 3*time.Second, "the client-only node is gone", func() bool { return len(a.Members()) == 0 })
		time.Sleep(time.Minute)
		if net.dialled("a", "") > 5 { // the probes until it failed
			t.Errorf("the client-only node was dialled %d times", net.dialled("a", ""))
		}
	})
}

func TestTwoNodesWithOneIDAreReported(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		var log logged
		config := membership.GossipConfig{Cluster: "test", Log: slog.New(slog.NewTextHandler(&log, nil))}
		net.node(t, "a")
		net.start(t, membership.Member{ID: "b", Addr: url("b")}, config, url("a"))
		time.Sleep(2 * time.Minute)
		if strings.Contains(log.String(), "this node's id") {
			t.Fatalf("reported too soon:\n%s", log.String())
		}
		net.start(t, membership.Member{ID: "b", Addr: url("b2")}, membership.GossipConfig{Cluster: "test"}, url("a"))
		within(t, 2*time.Minute, "the conflict is logged", func() bool { return strings.Contains(log.String(), "seems to use this node's id") })
	})
}

func TestMembersThatCannotBeEncodedAreRefusedAtStart(t *testing.T) {
	long := strings.Repeat("x", 600)
	tests := map[string]struct {
		self   membership.Member
		config membership.GossipConfig
		seed   string
		want   string
	}{
		"no id":                 {membership.Member{Addr: "mem://a"}, membership.GossipConfig{}, "", "is empty"},
		"long id":               {membership.Member{ID: long}, membership.GossipConfig{}, "", "600 bytes long; 200 is the limit"},
		"control character":     {membership.Member{ID: "a\nb"}, membership.GossipConfig{}, "", "control character"},
		"address":               {membership.Member{ID: "a", Addr: "10.0.0.1:7700"}, membership.GossipConfig{}, "", "not a URL"},
		"long address":          {membership.Member{ID: "a", Addr: "mem://" + long}, membership.GossipConfig{}, "", `the address "mem://xx`},
		"cluster name":          {membership.Member{ID: "a"}, membership.GossipConfig{Cluster: long}, "", "the cluster name"},
		"a seed without scheme": {membership.Member{ID: "a"}, membership.GossipConfig{}, "localhost", "a seed"},
	}
	for name, test := range tests {
		t.Run(name, func(t *testing.T) {
			var seeds []string
			if test.seed != "" {
				seeds = append(seeds, test.seed)
			}
			err := gossip.New(&node{}, seeds, test.config).Start(t.Context(), test.self, func(membership.Change) {})
			if err == nil || !strings.Contains(err.Error(), test.want) {
				t.Errorf("got %v, want something with %q", err, test.want)
			}
		})
	}
}

func TestAGossipWantsAWatchFunctionAndAnID(t *testing.T) {
	m := gossip.New(&node{}, nil, membership.GossipConfig{})
	if err := m.Start(t.Context(), membership.Member{ID: "me"}, nil); err == nil {
		t.Error("started without a watch function")
	}
	if err := m.Start(t.Context(), membership.Member{}, func(membership.Change) {}); err == nil {
		t.Error("started without an id")
	}
}

func TestAGossipIsStartedOnce(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
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
	bubbletest.Run(t, func(t *testing.T) {
		net := newNetwork(t)
		a, b := net.node(t, "a"), net.node(t, "b", url("a"))
		meet(t, time.Second, a, b)
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		begin := time.Now()
		if err := a.Stop(ctx); err == nil {
			t.Error("no error, though nobody can have been notified")
		}
		if took := time.Since(begin); took > 0 {
			t.Errorf("took %v", took)
		}
		a.stopped = true
		a.vanish()
	})
}
