package grain_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

func TestCallsThatComeAtOnceWaitForOneActivation(t *testing.T) {
	st := watch()
	st.hold = make(chan struct{})
	system, _ := start(t, grain.Config{Store: st})
	const callers = 100
	var all sync.WaitGroup
	var sum atomic.Int64
	for range callers {
		all.Go(func() {
			if n, err := grain.Call[int](t.Context(), system, ada, nap{1}); err != nil {
				t.Error(err)
			} else {
				sum.Add(int64(n))
			}
		})
	}
	until(t, "the state is asked for", func() bool { return st.loaded("ada") == 1 })
	close(st.hold)
	all.Wait()
	want(t, "loads", st.loaded("ada"), 1)
	want(t, "each call was handled by the same", sum.Load(), callers*(callers+1)/2)
}

func TestALoadThatFailsIsTheErrorOfAllWhoWaitAndLeavesNothing(t *testing.T) {
	st := watch()
	st.hold = make(chan struct{})
	st.set(store.ErrStoreUnreachable)
	system, g := start(t, grain.Config{Store: st})
	var all sync.WaitGroup
	for range 20 {
		all.Go(func() {
			if _, err := grain.Call[int](t.Context(), system, ada, count{}); !errors.Is(err, store.ErrStoreUnreachable) {
				t.Errorf("got %v, want ErrStoreUnreachable", err)
			}
		})
	}
	until(t, "the state is asked for", func() bool { return st.loaded("ada") > 0 })
	close(st.hold)
	all.Wait()
	until(t, "nothing is left", func() bool { return g.Stats().Active == 0 })
	st.set(nil)
	want(t, "the next call", call[int](t, system, ada, add{1}), 1)
}

func TestIdleGrainsRestAndUsedOnesDoNot(t *testing.T) {
	c := newClock()
	system, g := startOn(t, actortest.NewSystem(actor.Config{}, c), grain.Config{IdleAfter: time.Minute})
	for i := range 100 {
		call[int](t, system, counters.Key(fmt.Sprint(i)), nap{1})
	}
	call[int](t, system, ada, nap{1})
	for range 5 { // a minute and a quarter
		c.advance(15 * time.Second)
		until(t, "the look is over", func() bool { return c.waits(15 * time.Second) })
		call[int](t, system, ada, nap{1})
	}
	until(t, "the others rest", func() bool { return g.Stats().Active == 1 })
	want(t, "the used one", call[int](t, system, ada, nap{0}), 6)
	want(t, "one of the others", call[int](t, system, counters.Key("7"), nap{0}), 0)
}

// waits reports whether there is a timer of exactly so long.
func (c *clock) waits(d time.Duration) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	for x := range c.timers {
		if x.at.Equal(c.now.Add(d)) {
			return true
		}
	}
	return false
}

func TestNothingIsLostBetweenRestAndTheNextActivation(t *testing.T) {
	system, g := start(t, grain.Config{})
	const senders, each = 8, 500
	var all sync.WaitGroup
	for range senders {
		all.Go(func() {
			for range each {
				if err := grain.Send(system, ada, bump{1}); err != nil {
					t.Error(err)
				}
				if _, err := grain.Call[int](t.Context(), system, ada, rest{}); err != nil {
					t.Error(err)
				}
			}
		})
	}
	all.Wait()
	want(t, "messages handled", call[int](t, system, ada, count{}), senders*each)
	want(t, "messages lost", g.Stats().Discarded, 0)
	if loaded := g.Stats().Loaded; loaded < 10 {
		t.Fatalf("the grain has rested %d times only: the test shows nothing", loaded)
	}
}

func TestMessagesOfOneProcessKeepTheirOrderAcrossActivations(t *testing.T) {
	system, _ := start(t, grain.Config{}, recorders)
	to := recorders.Key("x")
	const n = 2000
	for i := range n {
		if err := grain.Send(system, to, note{i}); err != nil {
			t.Fatal(err)
		}
		if i%10 == 0 {
			call[int](t, system, to, rest{})
		}
	}
	want(t, "the last in order", call[int](t, system, to, count{}), n)
}

type recorder struct{ grain.State[tally] }

type note struct{ I int }

func (r *recorder) Note(p *actor.Process, m note) error {
	if m.I != r.Value.Sum {
		return fmt.Errorf("message %d comes after %d", m.I, r.Value.Sum)
	}
	r.Value.Sum++
	return r.Save(p)
}
func (r *recorder) Rest(p *actor.Process, _ rest) (int, error) { r.State.Rest(p); return 0, nil }
func (r *recorder) Count(*actor.Process, count) (int, error)   { return r.Value.Sum, nil }

var recorders = grain.Define("recorder", grain.OnMessage((*recorder).Note), grain.OnCall((*recorder).Rest), grain.OnCall((*recorder).Count))

func TestThereIsABoundOfActivations(t *testing.T) {
	system, g := start(t, grain.Config{MaxActive: 3})
	for i := range 3 {
		call[int](t, system, counters.Key(fmt.Sprint(i)), count{})
	}
	_, err := grain.Call[int](t.Context(), system, ada, count{})
	wantError(t, err, sabir.NewError(sabir.CodeResourceExhausted, "TooManyGrains", ""))
	wantError(t, grain.Send(system, ada, bump{1}), sabir.NewError(sabir.CodeResourceExhausted, "TooManyGrains", ""))
	call[int](t, system, counters.Key("0"), rest{})
	until(t, "one rests", func() bool { return g.Stats().Active == 2 })
	want(t, "then there is room", call[int](t, system, ada, count{}), 0)
}

func TestThereIsABoundOfWhatWaitsForAGrain(t *testing.T) {
	st := watch()
	st.hold = make(chan struct{})
	system, _ := start(t, grain.Config{Store: st, Mailbox: 5})
	for range 5 {
		if err := grain.Send(system, ada, bump{1}); err != nil {
			t.Fatal(err)
		}
	}
	wantError(t, grain.Send(system, ada, bump{1}), actor.ErrMailboxFull)
	_, err := grain.Call[int](t.Context(), system, ada, count{})
	wantError(t, err, actor.ErrMailboxFull)
	close(st.hold)
	until(t, "there is room", func() bool { _, err = grain.Call[int](t.Context(), system, ada, count{}); return err == nil })
	want(t, "what was taken", call[int](t, system, ada, count{}), 5)
}

func TestWhatAGrainHasNoHandlerForIsRefused(t *testing.T) {
	system, g := start(t, grain.Config{})
	call[int](t, system, ada, rest{})
	until(t, "the grain rests", func() bool { return g.Stats().Active == 0 })
	for range 2 { // at rest and active
		_, err := grain.Call[int](t.Context(), system, ada, bump{1})
		wantError(t, err, actor.ErrNotHandled)
		wantError(t, grain.Send(system, ada, add{1}), actor.ErrNotHandled)
		wantError(t, grain.SendConfirmed(t.Context(), system, ada, add{1}), actor.ErrNotHandled)
	}
	call[int](t, system, ada, rest{})
	until(t, "it still comes to rest", func() bool { return g.Stats().Active == 0 })
}

func TestAKindThatNoNodeServesHasNoOwner(t *testing.T) {
	system, _ := start(t, grain.Config{})
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := grain.Call[string](ctx, system, plains.Key("x"), who{})
	wantError(t, err, grain.ErrNoOwner)
	wantError(t, grain.Send(system, plains.Key("x"), who{}), grain.ErrNoOwner)
}

func TestAKilledActivationIsReplaced(t *testing.T) {
	system, _ := start(t, grain.Config{}, selves)
	of := selves.Key("x")
	pid := call[actor.PID](t, system, of, who{})
	if err := actor.Kill(system, pid); err != nil {
		t.Fatal(err)
	}
	until(t, "it has ended", func() bool { return !system.Alive(pid) })
	until(t, "another answers", func() bool {
		other, err := grain.Call[actor.PID](t.Context(), system, of, who{})
		return err == nil && other != pid
	})
}

func TestAnActivationThatStopsItsProcessIsReplacedAtOnce(t *testing.T) {
	system, _ := start(t, grain.Config{}, selves)
	of := selves.Key("x")
	pid := call[actor.PID](t, system, of, who{})
	call[bool](t, system, of, quit{})
	until(t, "it has ended", func() bool { return !system.Alive(pid) })
	if other := call[actor.PID](t, system, of, who{}); other == pid {
		t.Fatalf("%s answers still", pid)
	}
}

type (
	self struct{ grain.State[struct{}] }
	quit struct{}
)

func (*self) Quit(p *actor.Process, _ quit) (bool, error) { p.Stop(nil); return true, nil }

func (*self) Who(p *actor.Process, _ who) (actor.PID, error) { return p.PID(), nil }

var selves = grain.Define("self", grain.OnCall((*self).Who), grain.OnCall((*self).Quit))

func TestTheHandlerSeesWhoSends(t *testing.T) {
	system, _ := start(t, grain.Config{})
	pid, err := actor.Spawn(system, askers, ada)
	if err != nil {
		t.Fatal(err)
	}
	seen, err := actor.Call[actor.PID](t.Context(), system, pid, who{})
	if err != nil {
		t.Fatal(err)
	}
	want(t, "sender", seen, pid.PID())
}

type asker struct{ to grain.Address }

var askers = actor.Define("asker", func(a *asker, _ *actor.Process, to grain.Address) error { a.to = to; return nil },
	actor.OnCall(func(a *asker, p *actor.Process, m who) (actor.PID, error) {
		return grain.Call[actor.PID](p.Context(), p, a.to, m)
	}))

func TestTheEndOfTheSystemIsTheEndOfItsGrains(t *testing.T) {
	saved := make(chan error, 1)
	hooks.activate = func(*hooked, *actor.Process) error { return nil }
	hooks.deactivate = func(h *hooked, p *actor.Process) { saved <- h.Save(p) }
	system := actor.NewSystem(actor.Config{})
	g := grain.New(system, grain.Config{Store: watch()}, hookeds)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	call[int](t, system, hookeds.Key("x"), count{})
	if err := system.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	if err := <-saved; err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_ = g.Stop(ctx) // its processes have ended already
}

func TestCallsThatNobodyWaitsForDoNotHoldUpStop(t *testing.T) {
	st := watch()
	st.hold = make(chan struct{})
	system, g := start(t, grain.Config{Store: st})
	var all sync.WaitGroup
	all.Go(func() { call[int](t, system, ada, nap{1}) })
	until(t, "the state is asked for", func() bool { return st.loaded("ada") == 1 })
	for range 20 { // they are in the grain's mailbox when their time is over
		all.Go(func() {
			ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
			defer cancel()
			_, err := grain.Call[int](ctx, system, ada, nap{1})
			wantError(t, err, context.DeadlineExceeded)
		})
	}
	time.AfterFunc(200*time.Millisecond, func() { close(st.hold) })
	all.Wait()
	want(t, "handled", call[int](t, system, ada, nap{0}), 1)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if err := g.Stop(ctx); err != nil {
		t.Error(err)
	}
	want(t, "active", g.Stats().Active, 0)
}

func TestTheErrorOfACallWhoseTimeIsOverNamesTheGrain(t *testing.T) {
	st := watch()
	st.hold = make(chan struct{})
	system, _ := start(t, grain.Config{Store: st})
	defer close(st.hold)
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Millisecond)
	defer cancel()
	_, err := grain.Call[int](ctx, system, ada, nap{1})
	wantError(t, err, context.DeadlineExceeded)
	if !strings.Contains(err.Error(), ada.String()) {
		t.Errorf("the error is %q", err)
	}
}

func TestStopEndsTheActivationsInPeace(t *testing.T) {
	saved := make(chan error, 100)
	hooks.activate = func(*hooked, *actor.Process) error { return nil }
	hooks.deactivate = func(h *hooked, p *actor.Process) { saved <- h.Save(p) }
	system, g := start(t, grain.Config{}, hookeds)
	for i := range 100 {
		call[int](t, system, hookeds.Key(fmt.Sprint(i)), count{})
	}
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "deactivated", len(saved), 100)
	want(t, "active", g.Stats().Active, 0)
	_, err := grain.Call[int](t.Context(), system, ada, count{})
	wantError(t, err, sabir.NewError(sabir.CodeFailedPrecondition, "GrainsNotStarted", ""))
}
