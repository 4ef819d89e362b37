package grain_test

import (
	"errors"
	"fmt"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
)

var ada = counters.Key("ada")

func TestAGrainIsThereWhenItIsCalled(t *testing.T) {
	system, _ := start(t, grain.Config{})
	want(t, "the first call", call[int](t, system, ada, add{5}), 5)
	want(t, "the second call", call[int](t, system, ada, add{2}), 7)
	want(t, "another key", call[int](t, system, counters.Key("bob"), count{}), 0)
}

func TestASavedStateOutlivesTheActivation(t *testing.T) {
	system, g := start(t, grain.Config{})
	call[int](t, system, ada, add{5})
	call[int](t, system, ada, nap{3})
	call[int](t, system, ada, rest{})
	until(t, "the grain rests", func() bool { return g.Stats().Active == 0 })
	want(t, "what was saved", call[int](t, system, ada, count{}), 5)
	want(t, "what was not", call[int](t, system, ada, nap{0}), 0)
}

func TestADeletedStateIsGone(t *testing.T) {
	system, g := start(t, grain.Config{})
	call[int](t, system, ada, add{5})
	want(t, "saved after Delete", call[bool](t, system, ada, drop{}), false)
	want(t, "the value until the grain rests", call[int](t, system, ada, count{}), 5)
	call[int](t, system, ada, rest{})
	until(t, "the grain rests", func() bool { return g.Stats().Active == 0 })
	want(t, "what is left", call[int](t, system, ada, count{}), 0)
}

func TestWhatAFailureLeavesIsForgotten(t *testing.T) {
	st := watch()
	system, _ := start(t, grain.Config{Store: st})
	call[int](t, system, ada, add{5})
	call[int](t, system, ada, nap{3})

	t.Run("a panic", func(t *testing.T) {
		_, err := grain.Call[int](t.Context(), system, ada, careful{-100})
		wantError(t, err, sabir.ErrPanic)
		want(t, "saved state", call[int](t, system, ada, count{}), 5)
		want(t, "what is not saved", call[int](t, system, ada, nap{0}), 0)
	})
	t.Run("a Save that fails", func(t *testing.T) {
		st.set(store.ErrStoreUnreachable)
		_, err := grain.Call[int](t.Context(), system, ada, add{100})
		wantError(t, err, store.ErrStoreUnreachable)
		want(t, "retryable", sabir.AsError(err).Retryable, true)
		st.set(nil)
		want(t, "saved state", call[int](t, system, ada, count{}), 5)
	})
	t.Run("a message that fails", func(t *testing.T) {
		if err := grain.Send(system, ada, bump{-100}); err != nil {
			t.Fatal(err)
		}
		want(t, "saved state", call[int](t, system, ada, count{}), 5)
	})
	t.Run("but not that of a call whose handler only returns an error", func(t *testing.T) {
		_, err := grain.Call[int](t.Context(), system, ada, spoil{errRefused})
		wantError(t, err, errRefused)
		want(t, "the state", call[int](t, system, ada, count{}), 1005)
	})
}

func TestAnErrorAfterASaveIsNotRetryable(t *testing.T) {
	st := watch()
	system, _ := start(t, grain.Config{Store: st})
	for what, test := range map[string]struct {
		between func()
		want    error
	}{
		"the store is away": {func() { st.set(store.ErrStoreUnreachable) }, store.ErrStoreUnreachable},
		"another has saved": {func() { saveElsewhere(t, st, ada, 70) }, store.ErrFenced},
	} {
		_, err := grain.Call[int](t.Context(), system, ada, twice{test.between})
		wantError(t, err, test.want)
		want(t, what+": retryable", sabir.AsError(err).Retryable, false)
		st.set(nil)
	}
}

func TestASaveWithAnUnknownOutcomeIsLoadedAgain(t *testing.T) {
	st := watch()
	system, _ := start(t, grain.Config{Store: st})
	call[int](t, system, ada, add{5})
	st.set(store.ErrOutcomeUnknown)
	_, err := grain.Call[int](t.Context(), system, ada, add{100})
	wantError(t, err, store.ErrOutcomeUnknown)
	want(t, "retryable", sabir.AsError(err).Retryable, false)
	st.set(nil)
	want(t, "the state", call[int](t, system, ada, count{}), 5)
}

// saveElsewhere writes a counter as another node would.
func saveElsewhere(t *testing.T, st store.Store, of grain.Address, sum int) {
	t.Helper()
	entry, err := st.Load(t.Context(), of.Kind, of.Key)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := st.Save(t.Context(), of.Kind, of.Key, fmt.Appendf(nil, `j{"Sum":%d}`, sum), entry.Revision); err != nil {
		t.Fatal(err)
	}
}

func TestAnActivationThatIsFencedTellsItsCallerAndIsLoadedAnew(t *testing.T) {
	st := store.Memory()
	system, g := start(t, grain.Config{Store: st})
	call[int](t, system, ada, add{5})
	saveElsewhere(t, st, ada, 70)
	want(t, "a call that does not save", call[int](t, system, ada, count{}), 5)
	_, err := grain.Call[int](t.Context(), system, ada, add{1})
	wantError(t, err, store.ErrFenced)
	want(t, "retryable", sabir.AsError(err).Retryable, true)
	want(t, "the next call", call[int](t, system, ada, add{1}), 71)
	want(t, "counted", g.Stats().Fenced, 1)
}

func TestAStrongHandlerDoesNotAnswerFromAnOldState(t *testing.T) {
	st := store.Memory()
	system, _ := start(t, grain.Config{Store: st})
	want(t, "at first", call[int](t, system, ada, exact{}), 0)
	saveElsewhere(t, st, ada, 70)
	_, err := grain.Call[int](t.Context(), system, ada, exact{})
	wantError(t, err, store.ErrFenced)
	want(t, "the next call", call[int](t, system, ada, exact{}), 70)
}

func TestAStateThatCannotBeReadIsAnError(t *testing.T) {
	for what, saved := range map[string]string{"another form": "x123", "no JSON": "j{", "another type": `j{"Sum":"x"}`, "nothing": ""} {
		t.Run(what, func(t *testing.T) {
			st := store.Memory()
			system, g := start(t, grain.Config{Store: st})
			if _, err := st.Save(t.Context(), ada.Kind, ada.Key, []byte(saved), 0); err != nil {
				t.Fatal(err)
			}
			_, err := grain.Call[int](t.Context(), system, ada, count{})
			wantError(t, err, sabir.NewError(sabir.CodeDataLoss, "BadGrainState", ""))
			until(t, "nothing is left behind", func() bool { return g.Stats().Active == 0 })
		})
	}
}

// Hooks that the test sees.
type hooked struct {
	grain.State[tally]
	woken int
}

var hooks struct {
	activate   func(*hooked, *actor.Process) error
	deactivate func(*hooked, *actor.Process)
}

func (h *hooked) Activate(p *actor.Process) error { return hooks.activate(h, p) }
func (h *hooked) Deactivate(p *actor.Process)     { hooks.deactivate(h, p) }
func (h *hooked) Count(*actor.Process, count) (int, error) {
	return h.Value.Sum + h.woken, nil
}
func (h *hooked) Rest(p *actor.Process, _ rest) (int, error) { h.State.Rest(p); return 0, nil }

var hookeds = grain.Define("hooked", grain.OnCall((*hooked).Count), grain.OnCall((*hooked).Rest))

func TestHooksRunWithTheStateAtTheBeginningAndTheEnd(t *testing.T) {
	st := store.Memory()
	of := hookeds.Key("x")
	saveElsewhere(t, st, of, 5)
	hooks.activate = func(h *hooked, _ *actor.Process) error { h.woken = h.Value.Sum * 100; return nil }
	done := make(chan error, 1)
	hooks.deactivate = func(h *hooked, p *actor.Process) { h.Value.Sum++; done <- h.Save(p) }
	system, _ := start(t, grain.Config{Store: st}, hookeds)
	want(t, "activated", call[int](t, system, of, count{}), 505)
	call[int](t, system, of, rest{})
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	want(t, "activated again", call[int](t, system, of, count{}), 606)
}

func TestAnActivateThatFailsIsTheCallersErrorAndLeavesNothing(t *testing.T) {
	for what, test := range map[string]struct {
		activate func(*hooked, *actor.Process) error
		want     error
	}{
		"an error": {func(*hooked, *actor.Process) error { return errRefused }, errRefused},
		"a panic":  {func(*hooked, *actor.Process) error { panic("no") }, sabir.ErrPanic},
	} {
		t.Run(what, func(t *testing.T) {
			hooks.activate = test.activate
			hooks.deactivate = func(*hooked, *actor.Process) { t.Error("Deactivate was called") }
			system, g := start(t, grain.Config{}, hookeds)
			_, err := grain.Call[int](t.Context(), system, hookeds.Key("x"), count{})
			wantError(t, err, test.want)
			until(t, "nothing is left behind", func() bool { return g.Stats().Active == 0 })
		})
	}
}

func TestAGrainWithoutAStateNeedsNoStore(t *testing.T) {
	system := actor.NewSystem(actor.Config{})
	t.Cleanup(func() { system.Stop(t.Context()) })
	g := grain.New(system, grain.Config{}, plains)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	want(t, "answer", call[string](t, system, plains.Key("x"), who{}), "plain/x")
	if err := g.Stop(t.Context()); err != nil {
		t.Fatal(err)
	}
}

type plain struct{ grain.State[struct{}] }

func (p *plain) Who(*actor.Process, who) (string, error) { return p.Address().String(), nil }

var plains = grain.Define("plain", grain.OnCall((*plain).Who))

func TestAKindWithAStateNeedsAStore(t *testing.T) {
	system := actor.NewSystem(actor.Config{})
	defer system.Stop(t.Context())
	err := grain.New(system, grain.Config{}, counters).Start(t.Context())
	if err == nil {
		t.Fatal("it started")
	}
	_, err = grain.Call[int](t.Context(), system, ada, count{})
	wantError(t, err, sabir.NewError(sabir.CodeFailedPrecondition, "GrainsNotStarted", ""))
	if errors.Is(err, grain.ErrNoOwner) {
		t.Fatal(err)
	}
}
