package sabir

import (
	"context"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/introspect"
)

var errSick = NewError(CodeUnavailable, "Sick", "the node is sick").AsRetryable()

// sickCluster is some nodes that offer svc.it, of which some are sick, and one that calls it.
type sickCluster struct {
	caller *Node
	sick   sync.Map     // ids of nodes whose handlers fail
	still  sync.Map     // ids of nodes whose handlers do not answer before their calls are cancelled
	began  chan string  // gets the id of each node whose handler stands still, where a test made it
	ended  atomic.Int64 // handlers that were cancelled
}

func newSickCluster(t *testing.T, ids []string, outlier cluster.Outlier, options ...NodeOption) *sickCluster {
	t.Helper()
	c := &sickCluster{}
	at := "mem://" + strings.NewReplacer("/", "-", ",", "", " ", "-").Replace(t.Name())
	begin := func(id string, more ...NodeOption) *Node {
		n := NewNode(append(more, NodeID(id))...)
		if err := n.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { n.Stop(context.Background()) })
		return n
	}
	for _, id := range ids {
		s := NewService("svc")
		Handle(s, "it", func(ctx context.Context, _ int) (string, error) {
			if _, sick := c.sick.Load(id); sick {
				return "", errSick
			}
			if _, still := c.still.Load(id); still {
				if c.began != nil {
					c.began <- id
				}
				<-ctx.Done()
				c.ended.Add(1)
				return "", ctx.Err()
			}
			return id, nil
		}, Idempotent())
		begin(id, Serve(s), Join(at))
	}
	c.caller = begin("caller", append(options, Join(at, outlier))...)
	for changed := c.caller.Changed(); len(nodesOf(c.caller, "svc.it")) < len(ids); changed = c.caller.Changed() {
		<-changed
	}
	return c
}

// call makes one call.
func (c *sickCluster) call(ctx context.Context, options ...CallOption) (string, error) {
	return Call[string](ctx, c.caller, "svc.it", 1, options...)
}

// tries makes up to three attempts of each call at once, and notes the nodes that they went to.
func tries(nodes *[]string) Middleware {
	return Middleware{Name: "tries", Remote: func(a *Action, next Handler) Handler {
		if a.Name != "svc.it" { // what the runtime itself asks other nodes
			return next
		}
		return func(ctx context.Context, r *Request) (err error) {
			for range 3 {
				err = next(ctx, r)
				*nodes = append(*nodes, r.Node())
				if err == nil {
					return nil
				}
			}
			return err
		}
	}}
}

func TestAnAttemptGoesToNoNodeThatFailedTheCallWhileThereIsAnother(t *testing.T) {
	for balancer := range balancers {
		for _, zone := range []string{"", "east"} {
			t.Run(balancer.String()+zone, func(t *testing.T) {
				var nodes []string
				c := newSickCluster(t, []string{"a", "b", "c"}, cluster.Outlier{Off: true}, Balance(balancer), Use(tries(&nodes)))
				c.sick.Store("a", true)
				c.sick.Store("b", true)
				for i := range 20 {
					nodes = nil
					on, err := c.call(t.Context(), ByKey(fmt.Sprint(i)))
					if on != "c" || err != nil {
						t.Fatalf("%q, %v after attempts on %q", on, err, nodes)
					}
					if slices.Sort(nodes); len(slices.Compact(slices.Clone(nodes))) != len(nodes) {
						t.Fatalf("attempts on %q", nodes)
					}
				}
			})
		}
	}
}

func TestWhereAllNodesHaveFailedACallOneOfThemIsTriedAgain(t *testing.T) {
	var nodes []string
	c := newSickCluster(t, []string{"a", "b"}, cluster.Outlier{Off: true}, Use(tries(&nodes)))
	c.sick.Store("a", true)
	c.sick.Store("b", true)
	if _, err := c.call(t.Context()); AsError(err).Name != "Sick" || len(nodes) != 3 {
		t.Errorf("%v after attempts on %q", err, nodes)
	}
}

func TestAvoidedNodesGetACallOnlyWhereThereIsNoOther(t *testing.T) {
	var avoid []string
	avoiding := Middleware{Name: "avoiding", Remote: func(_ *Action, next Handler) Handler {
		return func(ctx context.Context, r *Request) error {
			r.Avoid(avoid)
			return next(ctx, r)
		}
	}}
	c := newSickCluster(t, []string{"a", "b", "c"}, cluster.Outlier{}, Use(avoiding))
	for _, avoid = range [][]string{{"a", "b"}, {"c", "b"}, {"a", "b", "c"}} {
		for range 6 {
			on, err := c.call(t.Context())
			if err != nil || len(avoid) < 3 && slices.Contains(avoid, on) {
				t.Errorf("avoiding %q: %q, %v", avoid, on, err)
			}
		}
	}
}

// awaitOf makes calls until the condition holds.
func (c *sickCluster) awaitOf(t *testing.T, what string, holds func() bool) {
	t.Helper()
	for limit := time.Now().Add(time.Minute); !holds(); {
		if time.Now().After(limit) {
			t.Fatal("it does not come to this: " + what)
		}
		c.call(t.Context())
	}
}

// leftOut lists what the caller shows of the node.
func (c *sickCluster) leftOut(id string) []introspect.LeftOut {
	for _, n := range c.caller.Nodes() {
		if n.ID == id {
			return n.LeftOut
		}
	}
	return nil
}

func TestASickNodeIsLeftOutAndComesBackWhenItIsWell(t *testing.T) {
	for balancer := range balancers {
		if balancer == cluster.EWMA {
			continue // it avoids a node from its first failure on, so that there are no five
		}
		t.Run(balancer.String(), func(t *testing.T) {
			var lock sync.Mutex
			var signals [][3]string
			listen := Middleware{Name: "listen", Signal: func(kind, action, node string) {
				lock.Lock()
				defer lock.Unlock()
				signals = append(signals, [3]string{kind, action, node})
			}}
			events := make(chan introspect.LeftOut, 1000)
			audience := NewService("audience")
			On(audience, "$node.*", func(_ context.Context, left introspect.LeftOut) error {
				events <- left
				return nil
			})
			c := newSickCluster(t, []string{"a", "b", "c"}, cluster.Outlier{Base: 20 * time.Millisecond}, Balance(balancer), Use(listen), Serve(audience))
			c.sick.Store("a", true)
			c.awaitOf(t, "a is left out", func() bool { return len(c.leftOut("a")) == 1 })
			if got := c.leftOut("a")[0]; got.Action != "svc.it" || got.Reason != "failures one after the other" || got.Times < 1 || !got.Until.After(got.Since) {
				t.Errorf("it is shown as %+v", got)
			}
			failed := 0
			for range 300 {
				if _, err := c.call(t.Context()); err != nil {
					failed++
				}
			}
			if failed > 20 { // trials, the more the slower the machine
				t.Errorf("%d of 300 calls failed while the node is left out", failed)
			}
			c.sick.Delete("a")
			c.awaitOf(t, "a answers again", func() bool {
				on, _ := c.call(t.Context())
				return on == "a" && len(c.leftOut("a")) == 0
			})
			if left := <-events; left.Node != "a" || left.By != "caller" || left.Action != "svc.it" {
				t.Errorf("the first event is %+v", left)
			}
			lock.Lock()
			defer lock.Unlock()
			first, last := signals[0], signals[len(signals)-1]
			if want := ([3]string{signal.NodeLeftOut, "svc.it", "a"}); first != want {
				t.Errorf("the first signal is %+v, want %+v", first, want)
			}
			if want := ([3]string{signal.NodeReturned, "svc.it", "a"}); last != want {
				t.Errorf("the last signal is %+v, want %+v", last, want)
			}
		})
	}
}

func TestAnswersOfHandlersLeaveNoNodeOut(t *testing.T) {
	for name, err := range map[string]*Error{
		"NotFound":     NewError(CodeNotFound, "NoUser", ""),
		"BadInput":     NewError(CodeInvalidArgument, "BadInput", ""),
		"Internal":     NewError(CodeInternal, "Broken", ""),
		"not to retry": NewError(CodeFailedPrecondition, "Closed", ""),
	} {
		t.Run(name, func(t *testing.T) {
			for _, o := range []struct {
				err  error
				well bool
			}{{err, true}, {err.AsRetryable(), false}} {
				if got := outcomeOf(o.err) == 0; got != o.well { // outlier.Success
					t.Errorf("%v shows that the node is well: %v", o.err, got)
				}
			}
		})
	}
}

func TestNoNodeIsLeftOutWhereThatIsOff(t *testing.T) {
	c := newSickCluster(t, []string{"a", "b", "c"}, cluster.Outlier{Off: true})
	c.sick.Store("a", true)
	for range 300 {
		c.call(t.Context())
	}
	if left := c.leftOut("a"); left != nil {
		t.Errorf("left out: %+v", left)
	}
}

func TestSettingsOfOutliersThatCannotWorkKeepANodeFromStarting(t *testing.T) {
	for what, o := range map[string]cluster.Outlier{
		"Failures":   {Failures: -1},
		"Gap":        {Gap: 1.5},
		"SlowFactor": {SlowFactor: 1},
		"Base":       {Base: 2, Max: 1},
		"MaxShare":   {MaxShare: 1},
	} {
		err := NewNode(Join("mem://outlier-settings", o)).Start(t.Context())
		if err == nil || !strings.Contains(err.Error(), "cluster.Outlier: ") || !strings.Contains(err.Error(), what) {
			t.Errorf("%+v: %v", o, err)
		}
	}
}

// hedging sends a copy of each call at once, if allow does.
func hedging(allow func() bool) Middleware {
	return Middleware{Name: "hedging", Remote: func(_ *Action, next Handler) Handler {
		return func(ctx context.Context, r *Request) error {
			return r.Hedge(ctx, time.Millisecond, allow, func(ctx context.Context) context.Context { return ctx }, next)
		}
	}}
}

func TestACopyOfACallGoesToAnotherNodeAndTheFirstAnswerEndsTheOther(t *testing.T) {
	began := make(chan string, 1)
	// The copy begins when the first attempt is in its handler: on a busy machine that could be cancelled on its way, and never begin.
	allow := func() bool {
		select {
		case <-began:
			return true
		case <-time.After(time.Minute):
			return false
		}
	}
	c := newSickCluster(t, []string{"a", "b"}, cluster.Outlier{Off: true}, Use(hedging(allow)), Balance(cluster.Hash))
	c.began = began
	c.still.Store("a", true)
	key := keyFor(t, c.caller, "a")
	for n := range int64(5) {
		if on, err := c.call(t.Context(), key); on != "b" || err != nil {
			t.Fatalf("%q, %v", on, err)
		}
		for limit := time.Now().Add(time.Minute); c.ended.Load() <= n; {
			if time.Now().After(limit) {
				t.Fatal("the attempt on the node that stands still was not cancelled")
			}
			runtime.Gosched()
		}
	}
}

func TestACallIsNotCopied(t *testing.T) {
	for _, test := range []struct {
		name    string
		nodes   []string
		allow   func() bool
		options []CallOption
	}{
		{name: "where that is not allowed", nodes: []string{"a", "b"}, allow: func() bool { return false }},
		{name: "where the permission panics", nodes: []string{"a", "b"}, allow: func() bool { panic("boom") }},
		{name: "where no other node offers the action", nodes: []string{"a"}},
		{name: "where it names its node", nodes: []string{"a", "b"}, options: []CallOption{ToNode("a")}},
	} {
		t.Run(test.name, func(t *testing.T) {
			allow := test.allow
			if allow == nil {
				allow = func() bool { t.Error("a copy is asked for"); return true }
			}
			c := newSickCluster(t, test.nodes, cluster.Outlier{Off: true}, Use(hedging(allow)), Balance(cluster.Hash))
			c.still.Store("a", true)
			_, err := c.call(t.Context(), append(test.options, keyFor(t, c.caller, "a"), WithTimeout(50*time.Millisecond))...)
			if AsError(err).Code != CodeDeadlineExceeded {
				t.Errorf("%v", err)
			}
		})
	}
}

func TestAnErrorOfTheFirstAttemptCountsUnlessTheCopyAnswers(t *testing.T) {
	began := make(chan string, 1)
	// The copy begins when the first attempt has its node: on a busy machine it could be the quicker of the two.
	allow := func() bool {
		select {
		case id := <-began:
			return id == "a"
		case <-time.After(10 * time.Second): // the call's time was over before its handler ran
			return false
		}
	}
	c := newSickCluster(t, []string{"a", "b"}, cluster.Outlier{Off: true}, Use(hedging(allow)), Balance(cluster.Hash))
	c.began = began
	c.still.Store("a", true)
	c.sick.Store("b", true)
	_, err := c.call(t.Context(), keyFor(t, c.caller, "a"), WithTimeout(2*time.Second))
	if AsError(err).Code != CodeDeadlineExceeded {
		t.Errorf("where the copy failed the call ended with %v, want the error of the first attempt", err)
	}
}
