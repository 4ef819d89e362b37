package grain_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

var serve = []grain.Served{counters, homes}

// home reports where it is, and does what the tests of moving want.
type home struct{ grain.State[tally] }

type where struct{}

func (h *home) Where(p *actor.Process, _ where) (string, error) { return p.PID().Node(), nil }
func (h *home) Add(p *actor.Process, m add) (int, error) {
	h.Value.Sum += m.N
	return h.Value.Sum, h.Save(p)
}
func (h *home) Nap(_ *actor.Process, m nap) (int, error)       { h.Value.Sum += m.N; return h.Value.Sum, nil }
func (h *home) Note(_ *actor.Process, m note) error            { h.Value.Sum += m.I; return nil }
func (h *home) Who(p *actor.Process, _ who) (actor.PID, error) { return p.Sender(), nil }
func (h *home) Hold(p *actor.Process, m hold) (int, error) {
	held <- p.PID()
	<-p.Context().Done()
	return 0, p.Context().Err()
}
func (h *home) Deactivate(p *actor.Process) {
	if h.Value.Sum > 0 {
		_ = h.Save(p) // the test sees what is missing
	}
}

type hold struct{}

var held = make(chan actor.PID, 100)

var homes = grain.Define("home", grain.OnCall((*home).Where), grain.OnCall((*home).Add), grain.OnCall((*home).Nap), grain.OnMessage((*home).Note),
	grain.OnCall((*home).Who), grain.OnCall((*home).Hold))

func TestNodesShareOutTheGrainsAndReachAllOfThem(t *testing.T) {
	w := newCluster(t, store.Memory())
	a, b, c := w.join("a", serve...), w.join("b", serve...), w.join("c", serve...)
	observer := w.join("observer")
	all := []*member{a, b, c, observer}
	agree(t, "home", 3, all...)
	at := map[string]int{}
	for i := range 300 {
		of := homes.Key(fmt.Sprint(i))
		owner, err := a.grains.Owner(of)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range all {
			want(t, "where the grain is", call[string](t, m, of, where{}), owner)
		}
		at[owner]++
	}
	pid, err := actor.Spawn(observer, askers, homes.Key("1"))
	if err != nil {
		t.Fatal(err)
	}
	seen, err := actor.Call[actor.PID](t.Context(), observer, pid, who{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "the sender that the grain sees", seen, pid.PID())
	for _, m := range all[:3] {
		if n := at[m.id]; n < 50 || int64(n) != m.grains.Stats().Active {
			t.Errorf("%s owns %d grains and has %d active", m.id, n, m.grains.Stats().Active)
		}
	}
}

func TestANodeServesOnlyWhatItSays(t *testing.T) {
	w := newCluster(t, store.Memory())
	a, b := w.join("a", counters), w.join("b", homes)
	for _, m := range []*member{a, b} {
		for _, kind := range []string{"counter", "home"} {
			if err := m.grains.WaitFor(t.Context(), kind, 1); err != nil {
				t.Fatal(err)
			}
		}
	}
	short, cancel := context.WithCancel(t.Context())
	cancel()
	wantError(t, a.grains.WaitFor(short, "home", 2), grain.ErrNoOwner)
	for i := range 50 {
		want(t, "where", call[string](t, a, homes.Key(fmt.Sprint(i)), where{}), "b")
	}
	want(t, "the other kind", call[int](t, b, counters.Key("x"), add{3}), 3)
	want(t, "active there", a.grains.Stats().Active, 1)
}

func TestErrorsOfGrainsOnOtherNodesAreTheSame(t *testing.T) {
	w := newCluster(t, store.Memory())
	a, b := w.joinWith("a", grain.Config{MaxActive: 1}, counters), w.join("b")
	agree(t, "counter", 1, a, b)
	_, err := grain.Call[int](t.Context(), b, ada, careful{-1})
	wantError(t, err, sabir.ErrPanic)
	_, err = grain.Call[int](t.Context(), b, ada, bump{1})
	wantError(t, err, actor.ErrNotHandled)
	_, err = grain.Call[int](t.Context(), b, counters.Key("bob"), count{})
	wantError(t, err, sabir.NewError(sabir.CodeResourceExhausted, "TooManyGrains", ""))
	want(t, "and it goes on", call[int](t, b, ada, add{1}), 1)
	wantError(t, grain.SendConfirmed(t.Context(), b, ada, add{1}), actor.ErrNotHandled)
	if err := grain.SendConfirmed(t.Context(), b, ada, bump{5}); err != nil {
		t.Fatal(err)
	}
	want(t, "after SendConfirmed", call[int](t, b, ada, count{}), 6)
	if err := grain.Send(b, ada, bump{5}); err != nil {
		t.Fatal(err)
	}
	want(t, "after Send", call[int](t, b, ada, count{}), 11)
}

func TestGrainsMoveToANodeThatComesAndFromOneThatStops(t *testing.T) {
	const grains = 200
	w := newCluster(t, store.Memory())
	a := w.join("a", serve...)
	for i := range grains {
		call[int](t, a, homes.Key(fmt.Sprint(i)), nap{1}) // saved by Deactivate only
	}
	b := w.join("b", serve...)
	agree(t, "home", 2, a, b)
	// Where the new owner was asked before the old one had saved, one of them is fenced, and the caller tries again.
	again := func(m *member, of grain.Address) int {
		t.Helper()
		for {
			n, err := grain.Call[int](t.Context(), m, of, add{1})
			if err == nil {
				return n
			}
			wantError(t, err, store.ErrFenced)
		}
	}
	until(t, "what moves has saved", func() bool {
		stay := 0
		for i := range grains {
			if owner, err := a.grains.Owner(homes.Key(fmt.Sprint(i))); err == nil && owner == "a" {
				stay++
			}
		}
		return a.grains.Stats().Active == int64(stay)
	})
	for i := range grains {
		want(t, "after b has come", again(a, homes.Key(fmt.Sprint(i))), 2)
	}
	if n := b.grains.Stats().Active; n < grains/4 {
		t.Errorf("%d of %d grains have moved", n, grains)
	}
	a.stop()
	for i := range grains {
		want(t, "after a has stopped", again(b, homes.Key(fmt.Sprint(i))), 3)
	}
	want(t, "active on b", b.grains.Stats().Active, grains)
}

func TestNoNodeSendsGrainsToOneThatHasStopped(t *testing.T) {
	w := newCluster(t, store.Memory())
	a, b, c := w.join("a", serve...), w.join("b", serve...), w.join("c", serve...)
	agree(t, "home", 3, a, b, c)
	left := []*member{a, b, c}
	for len(left) > 1 {
		gone := left[0]
		left = left[1:]
		if err := gone.grains.Stop(t.Context()); err != nil {
			t.Fatal(err)
		}
		for _, m := range left {
			for i := range 100 {
				of := homes.Key(fmt.Sprint(i))
				if owner, err := m.grains.Owner(of); err != nil || owner == gone.id {
					t.Fatalf("%s takes %s for the owner of %s (%v)", m.id, owner, of, err)
				}
			}
		}
	}
}

func TestCallsGoOnWhileNodesComeAndGo(t *testing.T) {
	w := newCluster(t, store.Memory())
	observer := w.join("observer")
	a := w.join("a", serve...)
	agree(t, "home", 1, observer, a)
	const callers, each, grains = 8, 400, 40
	var done, fenced atomic.Int64
	var all sync.WaitGroup
	for c := range callers {
		all.Go(func() {
			for i := range each {
				of := homes.Key(fmt.Sprint((c*each + i) % grains))
				for {
					_, err := grain.Call[int](t.Context(), observer, of, add{1})
					if err == nil {
						done.Add(1)
						break
					}
					if !sabir.AsError(err).Retryable {
						t.Errorf("a call failed: %v", err)
						return
					}
					fenced.Add(1)
				}
			}
		})
	}
	reach := func(n int64) { until(t, "calls are made", func() bool { return done.Load() >= n || t.Failed() }) }
	reach(callers * each / 8)
	b := w.join("b", serve...)
	reach(callers * each * 3 / 8)
	c := w.join("c", serve...)
	reach(callers * each * 5 / 8)
	a.stop()
	reach(callers * each * 7 / 8)
	b.stop()
	all.Wait()
	t.Logf("%d calls, %d of them asked to try again", done.Load(), fenced.Load())
	sum := 0
	for i := range grains {
		sum += call[int](t, observer, homes.Key(fmt.Sprint(i)), nap{0})
	}
	want(t, "increments", sum, callers*each)
	if c.grains.Stats().Active == 0 {
		t.Error("the node that came has no grains")
	}
}

func TestMessagesGoOnToWhereTheGrainIs(t *testing.T) {
	w := newCluster(t, store.Memory())
	observer := w.join("observer")
	a := w.join("a", adders)
	agree(t, "adder", 1, observer, a)
	const n, grains = 4000, 40
	send := func(from, to int) {
		for i := from; i < to; i++ {
			if err := grain.Send(observer, adders.Key(fmt.Sprint(i%grains)), note{1}); err != nil {
				t.Fatal(err)
			}
		}
	}
	send(0, n/2)
	b := w.join("b", adders)
	send(n/2, n)
	agree(t, "adder", 2, observer, a, b)
	var sum int
	fenced := func() int64 { return a.grains.Stats().Fenced + b.grains.Stats().Fenced } // a message whose Save is fenced is not done
	until(t, "all messages are handled, or fenced", func() bool {
		sum = 0
		for i := range grains {
			got, err := grain.Call[int](t.Context(), observer, adders.Key(fmt.Sprint(i)), count{})
			if err != nil && !errors.Is(err, store.ErrFenced) {
				t.Fatal(err)
			}
			sum += got
		}
		return int64(sum)+fenced() >= n
	})
	if sum > n {
		t.Errorf("%d of %d messages were handled, %d were fenced", sum, n, fenced())
	}
	if lost := a.grains.Stats().Discarded + b.grains.Stats().Discarded; lost > fenced() {
		t.Errorf("%d messages were discarded, %d were fenced", lost, fenced())
	}
}

type adder struct{ grain.State[tally] }

func (a *adder) Note(p *actor.Process, m note) error      { a.Value.Sum += m.I; return a.Save(p) }
func (a *adder) Count(*actor.Process, count) (int, error) { return a.Value.Sum, nil }

var adders = grain.Define("adder", grain.OnMessage((*adder).Note), grain.OnCall((*adder).Count).Strong())

func TestACallWhoseNodeIsLostWhileItIsHandledHasAnUnknownOutcome(t *testing.T) {
	w := newCluster(t, store.Memory())
	observer, a := w.join("observer"), w.join("a", serve...)
	agree(t, "home", 1, observer, a)
	failed := make(chan error, 1)
	go func() {
		_, err := grain.Call[int](t.Context(), observer, homes.Key("x"), hold{})
		failed <- err
	}()
	<-held
	theCable().sever("observer", "a")
	err := <-failed
	wantError(t, err, store.ErrOutcomeUnknown)
	want(t, "retryable", sabir.AsError(err).Retryable, false)
	ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
	defer cancel()
	_, err = grain.Call[int](ctx, observer, homes.Key("x"), nap{1})
	wantError(t, err, grain.ErrNoOwner)
	want(t, "retryable, as it was not sent", sabir.AsError(err).Retryable, true)
	theCable().mend("observer", "a")
	until(t, "the node is back", func() bool {
		_, err := observer.grains.Owner(homes.Key("x"))
		return err == nil
	})
	want(t, "and answers", call[string](t, observer, homes.Key("x"), where{}), "a")
}

func TestInASplitClusterOneSideWritesAndAfterItOneActivationIsLeft(t *testing.T) {
	w := newCluster(t, store.Memory())
	a, b := w.join("a", serve...), w.join("b", serve...)
	agree(t, "home", 2, a, b)
	var of grain.Address // one of b's
	for i := 0; ; i++ {
		of = homes.Key(fmt.Sprint(i))
		if owner, err := a.grains.Owner(of); err == nil && owner == "b" {
			break
		}
	}
	want(t, "before the split", call[int](t, a, of, add{1}), 1)

	theCable().sever("a", "b")
	agreeAlone := func(m *member) {
		until(t, "the node is alone", func() bool {
			owner, err := m.grains.Owner(of)
			return err == nil && owner == m.id
		})
	}
	agreeAlone(a)
	agreeAlone(b)
	want(t, "one side", call[string](t, a, of, where{}), "a")
	want(t, "the other side", call[string](t, b, of, where{}), "b")
	want(t, "one writes", call[int](t, a, of, add{1}), 2)
	want(t, "the other may answer from what it knows", call[int](t, b, of, nap{0}), 1)
	_, err := grain.Call[int](t.Context(), b, of, add{1})
	wantError(t, err, store.ErrFenced)
	want(t, "and has the new state then", call[int](t, b, of, add{1}), 3)
	_, err = grain.Call[int](t.Context(), a, of, add{1})
	wantError(t, err, store.ErrFenced)

	theCable().mend("a", "b")
	agree(t, "home", 2, a, b)
	until(t, "one activation is left", func() bool { return a.grains.Stats().Active+b.grains.Stats().Active == 1 })
	want(t, "where", call[string](t, a, of, where{}), "b")
	want(t, "nothing is lost that was answered", call[int](t, a, of, add{1}), 4)
}

func TestTheSmallerSideOfASplitDoesNotAnswerWhereMostNodesMustBeSeen(t *testing.T) {
	w := newCluster(t, store.Memory())
	most := grain.Config{Among: 2}
	a, b, c := w.joinWith("a", most, serve...), w.joinWith("b", most, serve...), w.joinWith("c", most, serve...)
	agree(t, "home", 3, a, b, c)
	theCable().sever("a", "c")
	theCable().sever("b", "c")
	agree(t, "home", 2, a, b)
	of := homes.Key("x")
	until(t, "c is alone", func() bool { _, err := c.grains.Owner(of); return errors.Is(err, grain.ErrNoOwner) })
	want(t, "the larger side", call[int](t, a, of, add{1}), 1)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := grain.Call[int](ctx, c, of, nap{0})
	wantError(t, err, grain.ErrNoOwner)
	theCable().mend("a", "c")
	theCable().mend("b", "c")
	agree(t, "home", 3, a, b, c)
	want(t, "after it", call[int](t, c, of, add{1}), 2)
}

// Two clusters that do not know of each other and share a store: what no cluster can prevent.
func TestOfTwoActivationsAtMostOneSaves(t *testing.T) {
	st := store.Memory()
	one, _ := start(t, grain.Config{Store: st})
	other, _ := start(t, grain.Config{Store: st})
	const callers, each = 4, 200
	var done, fenced atomic.Int64
	var all sync.WaitGroup
	for c := range callers {
		system := []*actor.System{one, other}[c%2]
		all.Go(func() {
			for range each {
				for {
					_, err := grain.Call[int](t.Context(), system, ada, add{1})
					if err == nil {
						done.Add(1)
						break
					}
					if !errors.Is(err, store.ErrFenced) {
						t.Error(err)
						return
					}
					fenced.Add(1)
				}
			}
		})
	}
	all.Wait()
	t.Logf("%d saved, %d fenced", done.Load(), fenced.Load())
	var sum int
	until(t, "a state that is confirmed", func() (ok bool) {
		var err error
		sum, err = grain.Call[int](t.Context(), one, ada, exact{})
		return err == nil
	})
	want(t, "increments", sum, callers*each)
}
