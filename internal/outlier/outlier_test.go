package outlier_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/outlier"
)

// cluster is some nodes that offer an action, and what a caller's comparison of them reports.
type cluster struct {
	group   *outlier.Group
	nodes   []*outlier.Record
	changes []outlier.Change
}

func newCluster(count int, s outlier.Settings) *cluster {
	c := &cluster{}
	c.group = outlier.New(s, func(change *outlier.Change) {
		if change != nil {
			c.changes = append(c.changes, *change)
		}
	})
	for i := range count {
		c.nodes = append(c.nodes, c.group.NewRecord(fmt.Sprint("node-", i)))
	}
	c.group.Follow(c.nodes)
	return c
}

// call makes calls of one node that end alike.
func (c *cluster) call(node, calls int, o outlier.Outcome) {
	for range calls {
		c.nodes[node].End(0, o)
	}
}

// measured makes calls of one node that take so long.
func (c *cluster) measured(node, calls int, took time.Duration) {
	for range calls {
		start := c.nodes[node].Begin(0)
		time.Sleep(took)
		c.nodes[node].End(start, outlier.Success)
	}
}

// out lists the nodes that are left out.
func (c *cluster) out() (list []string) {
	for _, s := range c.group.Out() {
		list = append(list, s.Node+": "+string(s.Reason))
	}
	return list
}

func (c *cluster) want(t *testing.T, out ...string) {
	t.Helper()
	if got := c.out(); !slices.Equal(got, out) {
		t.Errorf("left out are %q, want %q", got, out)
	}
}

func TestANodeWithFailuresOneAfterTheOtherIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		name string
		nodes,
		failures int
		settings outlier.Settings
		others   func(*cluster)
		out      bool
	}{
		{name: "after five, where the others answer", nodes: 3, failures: 5, others: func(c *cluster) { c.call(1, 50, outlier.Success) }, out: true},
		{name: "after five, where the others were not called", nodes: 3, failures: 5, out: true},
		{name: "not after four", nodes: 3, failures: 4, others: func(c *cluster) { c.call(1, 50, outlier.Success) }},
		{name: "after as many as is set", nodes: 3, failures: 4, settings: outlier.Settings{Failures: 4}, others: func(c *cluster) { c.call(1, 100, outlier.Success) }, out: true},
		{name: "not where half of the others' calls fail", nodes: 3, failures: 10, others: func(c *cluster) {
			c.call(1, 50, outlier.Failure)
			c.call(2, 50, outlier.Success)
		}},
		{name: "not in an outage of all", nodes: 3, failures: 100, others: func(c *cluster) { c.call(1, 4, outlier.Failure); c.call(2, 4, outlier.Failure) }},
		{name: "not the only node", nodes: 1, failures: 100},
		{name: "not the last of two", nodes: 2, failures: 100, settings: outlier.Settings{MaxShare: 0.9}, others: func(c *cluster) { c.call(1, 5, outlier.Failure) }, out: false},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				c := newCluster(test.nodes, test.settings)
				if test.others != nil {
					test.others(c)
				}
				c.call(0, test.failures, outlier.Failure)
				if left := slices.Contains(c.out(), "node-0: failures one after the other"); left != test.out {
					t.Errorf("left out are %q, and of the node it should be %v", c.out(), test.out)
				}
			})
		})
	}
}

func TestWhatCallersBringUponThemselvesLeavesNoNodeOut(t *testing.T) {
	for name, o := range map[string]outlier.Outcome{"an answer": outlier.Success, "a caller that gave up": outlier.Neither, "an overload": outlier.Overload} {
		t.Run(name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				c := newCluster(3, outlier.Settings{})
				c.call(0, 100, o)
				c.want(t)
			})
		})
	}
}

func TestASuccessEndsARunOfFailures(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		for range 10 {
			c.call(0, 4, outlier.Failure)
			c.call(0, 1, outlier.Success)
		}
		c.want(t)
	})
}

func TestANodeWithMoreFailuresThanTheOthersIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		name             string
		calls            int
		share, ofOthers  float64 // of failures
		kind             outlier.Outcome
		out              bool
		gap              float64
		quietBesidesThis bool
	}{
		{name: "half against none", calls: 100, share: 0.5, kind: outlier.Failure, out: true},
		{name: "an overload of one node", calls: 100, share: 0.5, kind: outlier.Overload, out: true},
		{name: "a tenth against none is no gap", calls: 1000, share: 0.1, kind: outlier.Failure},
		{name: "a tenth where the gap is set", calls: 1000, share: 0.1, kind: outlier.Failure, gap: 0.05, out: true},
		{name: "an overload of all", calls: 1000, share: 0.6, ofOthers: 0.6, kind: outlier.Overload},
		{name: "too few calls to tell", calls: 10, share: 0.5, kind: outlier.Overload},
		{name: "others that are not called", calls: 100, share: 0.5, kind: outlier.Overload, quietBesidesThis: true},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				c := newCluster(3, outlier.Settings{Gap: test.gap})
				for i := range 3 {
					share := test.ofOthers
					if i == 0 {
						share = test.share
					} else if test.quietBesidesThis {
						break
					}
					for n := range test.calls { // failures are spread, so that they do not come one after the other
						if int(float64(n+1)*share) > int(float64(n)*share) {
							c.call(i, 1, test.kind)
						} else {
							c.call(i, 1, outlier.Success)
						}
					}
				}
				c.group.Look()
				if test.out {
					c.want(t, "node-0: more failures than the others")
				} else {
					c.want(t)
				}
			})
		})
	}
}

func TestAnOverloadOfAllLeavesNoNodeOut(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		chance := rand.New(rand.NewPCG(1, 2))
		for range 600 { // ten minutes of deadlines that pass and calls that are refused, at all nodes alike
			for range 300 {
				o := []outlier.Outcome{outlier.Success, outlier.Failure, outlier.Overload}[chance.IntN(3)]
				c.call(chance.IntN(3), 1, o)
			}
			time.Sleep(time.Second)
			c.group.Look()
		}
		if len(c.changes) > 2 {
			t.Errorf("nodes were left out %d times in an overload of all: %v", len(c.changes), c.changes)
		}
	})
}

func TestANodeThatIsSlowerThanTheOthersIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		name       string
		took       time.Duration
		ofOthers   time.Duration
		seconds    int
		slowFactor float64
		out        bool
	}{
		{name: "ten times as slow", took: 500 * time.Millisecond, ofOthers: 50 * time.Millisecond, seconds: 3, out: true},
		{name: "ten times as slow for a moment", took: 500 * time.Millisecond, ofOthers: 50 * time.Millisecond, seconds: 2},
		{name: "ten times as slow and yet fast", took: 50 * time.Millisecond, ofOthers: 5 * time.Millisecond, seconds: 5},
		{name: "three times as slow", took: 600 * time.Millisecond, ofOthers: 200 * time.Millisecond, seconds: 5},
		{name: "three times where that is set", took: 600 * time.Millisecond, ofOthers: 200 * time.Millisecond, seconds: 5, slowFactor: 2, out: true},
		{name: "where times are not compared", took: 5 * time.Second, ofOthers: 50 * time.Millisecond, seconds: 5, slowFactor: -1},
	} {
		t.Run(test.name, func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				c := newCluster(3, outlier.Settings{SlowFactor: test.slowFactor})
				for range test.seconds {
					c.measured(0, 12, test.took)
					c.measured(1, 12, test.ofOthers)
					c.measured(2, 12, test.ofOthers)
					c.group.Look()
				}
				if test.out {
					c.want(t, "node-0: slower than the others")
				} else {
					c.want(t)
				}
			})
		})
	}
}

func TestNeverMoreThanTheShareOfTheNodesIsLeftOut(t *testing.T) {
	for _, test := range []struct {
		nodes int
		share float64
		want  int
	}{{2, 0, 1}, {3, 0, 1}, {4, 0, 2}, {10, 0, 5}, {10, 0.25, 2}, {10, 0.05, 0}, {3, 0.99, 2}, {3, 1, 2}, {2, 1, 1}} {
		t.Run(fmt.Sprintf("%d nodes, %v", test.nodes, test.share), func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				c := newCluster(test.nodes, outlier.Settings{MaxShare: test.share})
				for i := range test.nodes { // one after the other, while the others answer
					for j := i + 1; j < test.nodes; j++ {
						c.call(j, 1000, outlier.Success)
					}
					c.call(i, 40, outlier.Failure)
				}
				if got := len(c.out()); got != test.want {
					t.Errorf("%d nodes are left out, want %d", got, test.want)
				}
			})
		})
	}
}

func TestANodeComesBackByATrial(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		sick := c.nodes[0]
		c.call(0, 5, outlier.Failure)
		for n, length := range []time.Duration{2 * time.Second, 4 * time.Second, 6 * time.Second} { // each time longer
			time.Sleep(length - time.Millisecond)
			bubbletest.Wait()
			if sick.Takes() {
				t.Fatalf("the node takes calls before %v are over, in time %d", length, n+1)
			}
			time.Sleep(time.Millisecond)
			bubbletest.Wait()
			if !sick.OnTrial() || !sick.Claim() || sick.Claim() || sick.Takes() {
				t.Fatalf("after %v there is not exactly one trial", length)
			}
			sick.EndTrial(outlier.Failure, time.Millisecond)
		}
		time.Sleep(8 * time.Second)
		bubbletest.Wait()
		sick.Claim()
		sick.EndTrial(outlier.Success, time.Millisecond)
		if c.want(t); !sick.Takes() || sick.OnTrial() {
			t.Error("the node takes no calls after a trial that went well")
		}
		c.call(0, 5, outlier.Failure)
		if last := c.changes[len(c.changes)-1]; last.For != 10*time.Second {
			t.Errorf("sick again at once it is left out for %v, want 10s", last.For)
		}
	})
}

func TestTheTimeOutIsBoundedAndShrinksWhileANodeIsWell(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{Base: time.Second, Max: 3 * time.Second})
		sick := c.nodes[0]
		length := func() time.Duration { return c.changes[len(c.changes)-1].For }
		c.call(0, 5, outlier.Failure)
		for range 5 {
			time.Sleep(length())
			bubbletest.Wait()
			sick.Claim()
			sick.EndTrial(outlier.Failure, 0)
		}
		if length() != 3*time.Second {
			t.Errorf("the sixth time lasts %v, want Max", length())
		}
		time.Sleep(length())
		bubbletest.Wait()
		sick.Claim()
		sick.EndTrial(outlier.Success, 0)
		time.Sleep(time.Minute)
		c.call(0, 5, outlier.Failure)
		if length() != time.Second {
			t.Errorf("after a minute that it was well it is left out for %v, want Base", length())
		}
	})
}

func TestATrialThatShowsNothingIsFollowedByAnother(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		c.call(0, 5, outlier.Failure)
		time.Sleep(2 * time.Second)
		bubbletest.Wait()
		c.nodes[0].Claim()
		c.nodes[0].EndTrial(outlier.Neither, 0)
		if !c.nodes[0].OnTrial() {
			t.Error("there is no further trial")
		}
	})
}

func TestANodeThatWasSlowComesBackByAnAnswerInTime(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		for range 3 {
			for node, took := range []time.Duration{time.Second, 10 * time.Millisecond, 10 * time.Millisecond} {
				c.measured(node, 12, took)
			}
			c.group.Look()
		}
		for _, trial := range []struct {
			took time.Duration
			out  int
		}{{time.Second, 1}, {20 * time.Millisecond, 0}} {
			time.Sleep(time.Minute)
			bubbletest.Wait()
			c.nodes[0].Claim()
			c.nodes[0].EndTrial(outlier.Success, trial.took)
			if got := len(c.out()); got != trial.out {
				t.Errorf("after a trial of %v %d nodes are left out, want %d", trial.took, got, trial.out)
			}
		}
	})
}

func TestATrialOfANodeThatIsLikeTheOthersBringsItBack(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		c.call(0, 5, outlier.Failure)
		time.Sleep(2 * time.Second)
		bubbletest.Wait()
		c.call(1, 10, outlier.Failure) // by now all are sick
		c.nodes[0].Claim()
		c.nodes[0].EndTrial(outlier.Failure, 0)
		c.want(t)
	})
}

func TestNodesComeBackWhenTooManyWouldBeLeftOut(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(4, outlier.Settings{})
		c.call(3, 1000, outlier.Success)
		c.call(0, 5, outlier.Failure)
		time.Sleep(time.Millisecond)
		c.call(1, 6, outlier.Failure)
		if len(c.out()) != 2 {
			t.Fatalf("left out are %q", c.out())
		}
		c.group.Follow(c.nodes[:3]) // of three one may be
		c.want(t, "node-1: failures one after the other")
	})
}

// Else one failure, of a node that came back by a trial which went well, would leave it out again.
func TestANodeThatIsBackBeginsWithoutItsOldFailures(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		c.call(0, 5, outlier.Failure)
		time.Sleep(2 * time.Second)
		bubbletest.Wait()
		c.nodes[0].Claim()
		c.nodes[0].EndTrial(outlier.Success, time.Millisecond)
		c.call(0, 1, outlier.Failure)
		c.want(t)
	})
}

func TestANodeThatHasGoneIsReportedToBeLeftOutNoMore(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(3, outlier.Settings{})
		c.call(0, 5, outlier.Failure)
		c.group.Follow(c.nodes[1:])
		if last := c.changes[len(c.changes)-1]; last.Node != "node-0" || last.Reason != "" {
			t.Errorf("the last change is %+v", last)
		}
	})
}

func TestAGroupWithoutNodesLeavesNoneOut(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		c := newCluster(2, outlier.Settings{})
		c.call(0, 5, outlier.Failure)
		c.want(t, "node-0: failures one after the other")
		c.group.Follow(nil)
		c.want(t)
	})
}

func TestNothingOfACallIsAllocated(t *testing.T) {
	c := newCluster(3, outlier.Settings{})
	if n := testing.AllocsPerRun(1000, func() { c.nodes[0].End(c.nodes[0].Begin(0), outlier.Success) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	var none *outlier.Record // where nothing is compared
	none.End(none.Begin(0), outlier.Failure)
	if !none.Takes() || none.OnTrial() {
		t.Error("a node without a record takes no calls")
	}
}

func BenchmarkCall(b *testing.B) {
	c := newCluster(3, outlier.Settings{})
	c.call(0, 1000, outlier.Success)
	c.group.Look() // from now on one of sixteen is measured
	b.ReportAllocs()
	n := uint32(0)
	for b.Loop() {
		n++
		c.nodes[0].End(c.nodes[0].Begin(n), outlier.Success)
	}
}
