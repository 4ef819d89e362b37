package actortest_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/actortest"
)

// job is a process that does what the test sends it.
type job struct{ log []string }

type (
	do   struct{ fn func(p *actor.Process) error }
	note struct{ text string }
	get  struct{}
	get2 struct{ to actor.PID }
)

func (j *job) Do(p *actor.Process, m do) error { return m.fn(p) }
func (j *job) Note(_ *actor.Process, m note) error {
	j.log = append(j.log, m.text)
	return nil
}
func (j *job) Get(*actor.Process, get) (string, error) { return strings.Join(j.log, " "), nil }
func (j *job) Get2(p *actor.Process, m get2) (string, error) {
	return actor.Call[string](p.Context(), p, m.to, get{})
}
func (j *job) Inspect() any { return len(j.log) }

var jobs = actor.Define[job, struct{}]("job", nil,
	actor.OnMessage((*job).Do), actor.OnMessage((*job).Note), actor.OnCall((*job).Get), actor.OnCall((*job).Get2))

func start(k *actortest.Kit) actor.PID { return actortest.Spawn(k, jobs, struct{}{}) }

var errOut = errors.New("out of stock")

// failed is a testing.TB that notes what fails.
type failed struct {
	testing.TB
	errors []string
	fatal  bool
}

func (f *failed) Errorf(format string, args ...any) {
	f.errors = append(f.errors, fmt.Sprintf(format, args...))
}
func (f *failed) Fatalf(format string, args ...any) {
	f.Errorf(format, args...)
	f.fatal = true
	panic(f)
}

// failing runs a test that is expected to fail, and returns its error messages.
func failing(t *testing.T, test func(t testing.TB)) string {
	t.Helper()
	f := &failed{TB: t}
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(f) {
				panic(v)
			}
		}()
		test(f)
	}()
	if len(f.errors) == 0 {
		t.Error("the test did not fail")
	}
	return strings.Join(f.errors, "; ")
}

func wantText(t *testing.T, text string, parts ...string) {
	t.Helper()
	for _, part := range parts {
		if !strings.Contains(text, part) {
			t.Errorf("%q does not contain %q", text, part)
		}
	}
}

func TestSendRunsUntilNothingIsReady(t *testing.T) {
	k := actortest.New(t)
	a, b := start(k), start(k)
	actortest.Send(k, a, do{func(p *actor.Process) error {
		for i := range 5 {
			actor.Send(p, b, note{fmt.Sprint(i)})
		}
		return nil
	}})
	if got, err := actortest.Call[string](k, b, get{}); got != "0 1 2 3 4" || err != nil {
		t.Error(got, err)
	}
	if k.Run() != 0 {
		t.Error("something was still ready")
	}
}

func TestAStepHandlesOneMessage(t *testing.T) {
	k := actortest.New(t)
	var got []string
	say := func(text string) do {
		return do{func(*actor.Process) error { got = append(got, text); return nil }}
	}
	a, b := start(k), start(k)
	for _, text := range []string{"1", "2", "3"} {
		actor.Send(k.System(), a, say("a"+text))
		actor.Send(k.System(), b, say("b"+text))
	}
	for step, want := range []string{"a1", "b1", "a2", "b2", "a3", "b3"} {
		if !k.Step() || got[len(got)-1] != want || len(got) != step+1 {
			t.Fatalf("after %d steps: %v", step+1, got)
		}
	}
	if k.Step() {
		t.Error("there was one step too many")
	}
}

func TestTheSameTestRunsTheSameWayEachTime(t *testing.T) {
	run := func() (got []string) {
		k := actortest.New(t)
		var all []actor.PID
		for range 10 {
			all = append(all, start(k))
		}
		var spread func(depth int) do
		spread = func(depth int) do {
			return do{func(p *actor.Process) error {
				got = append(got, fmt.Sprint(slices.Index(all, p.PID()), depth))
				for i := range 3 {
					if depth < 4 {
						actor.Send(p, all[(depth*7+i*3+len(got))%10], spread(depth+1))
					}
				}
				return nil
			}}
		}
		actortest.Send(k, all[0], spread(0))
		return got
	}
	first := run()
	for range 5 {
		if again := run(); !slices.Equal(first, again) {
			t.Fatalf("%v, and then %v", first, again)
		}
	}
	if len(first) != 121 {
		t.Errorf("%d messages were handled, not 121", len(first))
	}
}

func TestAProbeKeepsWhatItIsSentInOrder(t *testing.T) {
	k := actortest.New(t)
	db := k.Probe("db")
	pid := start(k)
	actortest.Send(k, pid, do{func(p *actor.Process) error {
		actor.Send(p, db.PID(), note{"a"})
		actor.Send(p, actor.Name{Name: "db"}, 5)
		return nil
	}})
	if len(db.Kept()) != 2 {
		t.Errorf("kept %v", db.Kept())
	}
	if m, from := actortest.Expect[note](t, db), db.Sender(); m.text != "a" || from != pid {
		t.Error(m, from)
	}
	if n := actortest.Expect[int](t, db); n != 5 {
		t.Error(n)
	}
	db.ExpectNothing(t)
}

func TestAnExpectationThatIsNotMetFailsTheTest(t *testing.T) {
	k := actortest.New(t)
	db := k.Probe("db")
	wantText(t, failing(t, func(t testing.TB) { actortest.Expect[note](t, db) }), `nothing has come to the probe "db"`, "actortest_test.note")
	actor.Send(k.System(), db.PID(), 5)
	wantText(t, failing(t, func(t testing.TB) { actortest.Expect[note](t, db) }), "int5", "actortest_test.note")
	wantText(t, failing(t, func(t testing.TB) { db.ExpectNothing(t) }), "int5")
	for range 20 {
		actor.Send(k.System(), db.PID(), 5)
	}
	wantText(t, failing(t, func(t testing.TB) { db.ExpectNothing(t) }), "and 11 more")
	db.Clear()
	db.ExpectNothing(t)
}

func TestAProbeAnswersCallsByItsStubs(t *testing.T) {
	k := actortest.New(t)
	db, pid := k.Probe("db"), start(k)
	_, err := actortest.Call[string](k, pid, get2{db.PID()})
	if !errors.Is(err, actor.ErrNotHandled) {
		t.Errorf("without a stub: %v", err)
	}
	actortest.Stub(db, func(get) (string, error) { return "stubbed", nil })
	if got, err := actortest.Call[string](k, pid, get2{db.PID()}); got != "stubbed" || err != nil {
		t.Error(got, err)
	}
	actortest.Stub(db, func(get) (string, error) { return "", errOut })
	if _, err := actortest.Call[string](k, pid, get2{db.PID()}); !errors.Is(err, errOut) {
		t.Error(err)
	}
	if calls := db.Calls(); len(calls) != 3 || calls[0] != (actortest.Message{From: pid, Body: get{}}) || len(db.Calls()) != 0 {
		t.Error(calls)
	}
}

func TestACallbackMayCallAProcessThatHasOtherMessagesFirst(t *testing.T) {
	k := actortest.New(t)
	a, b := start(k), start(k)
	actor.Send(k.System(), b, note{"first"})
	if got, err := actortest.Call[string](k, a, get2{b}); got != "first" || err != nil {
		t.Error(got, err)
	}
}

func TestACallbackMayCallAProcessThatCalls(t *testing.T) {
	k := actortest.New(t)
	last := start(k)
	actortest.Send(k, last, note{"deep"})
	ask := func(p *actor.Process) (string, error) { return actor.Call[string](p.Context(), p, last, get{}) }
	for range 50 {
		inner, next := ask, start(k)
		ask = func(p *actor.Process) (out string, err error) {
			actor.Send(p, next, do{func(p *actor.Process) error { out, err = inner(p); return nil }})
			_, err2 := actor.Call[string](p.Context(), p, next, get{})
			return out, errors.Join(err, err2)
		}
	}
	actortest.Send(k, start(k), do{func(p *actor.Process) error {
		if got, err := ask(p); got != "deep" || err != nil {
			t.Error(got, err)
		}
		return nil
	}})
}

func TestACallThatCannotBeAnsweredFailsTheTestAndIsNamed(t *testing.T) {
	text := failing(t, func(tb testing.TB) {
		k := actortest.New(tb)
		a, b := start(k), start(k)
		actortest.Send(k, a, do{func(p *actor.Process) error {
			_, err := actor.Call[string](p.Context(), p, b, get2{a})
			if !errors.Is(err, actor.ErrCallTimeout) {
				t.Error(err)
			}
			return nil
		}})
		wantText(t, tb.(*failed).errors[0], b.String()+" calls "+a.String()+" with", "actortest_test.get", "meanwhile "+a.String()+" calls "+b.String(), "get2")
	})
	if strings.Count(text, "nobody who is ready") != 1 {
		t.Error(text)
	}
}

func TestASilentProbeIsACallTimeout(t *testing.T) {
	k := actortest.New(t)
	db := k.Probe("db")
	actortest.Stub(db, func(get) (int, error) { return 0, actor.ErrNoReply })
	if _, err := actortest.Call[string](k, start(k), get2{db.PID()}); !errors.Is(err, actor.ErrCallTimeout) {
		t.Error(err)
	}
}

func TestTheClockMovesOnlyWhenItIsMoved(t *testing.T) {
	k := actortest.New(t)
	db := k.Probe("")
	begun := k.Now()
	var stop func() bool
	actortest.Send(k, start(k), do{func(p *actor.Process) error {
		after := func(d time.Duration, text string) func() bool { return actor.SendAfter(p, db.PID(), d, note{text}) }
		after(3*time.Second, "c")
		after(time.Second, "a")
		after(2*time.Second, "b")
		after(2*time.Second, "b2")
		stop = after(2*time.Second, "stopped")
		after(time.Hour, "late")
		return nil
	}})
	if !stop() || stop() || k.Timers() != 5 {
		t.Errorf("%d timers are left", k.Timers())
	}
	db.ExpectNothing(t)
	k.Advance(time.Second)
	if m := actortest.Expect[note](t, db); m.text != "a" {
		t.Error(m)
	}
	db.ExpectNothing(t)
	k.Advance(time.Minute)
	for _, want := range []string{"b", "b2", "c"} {
		if m := actortest.Expect[note](t, db); m.text != want {
			t.Error(m)
		}
	}
	if d := k.Now().Sub(begun); d != time.Minute+time.Second {
		t.Errorf("the clock was moved by %s", d)
	}
}

func TestWhatBecomesDueSeesItsOwnTime(t *testing.T) {
	k := actortest.New(t)
	var ticks []time.Duration
	begun := k.Now()
	var tick do
	tick.fn = func(p *actor.Process) error {
		ticks = append(ticks, p.Now().Sub(begun))
		actor.SendAfter(p, p.PID(), time.Second, tick)
		return nil
	}
	actortest.Send(k, start(k), tick)
	k.Advance(3500 * time.Millisecond)
	if !slices.Equal(ticks, []time.Duration{0, time.Second, 2 * time.Second, 3 * time.Second}) {
		t.Error(ticks)
	}
}

func TestATimerEndsWithItsProcess(t *testing.T) {
	k := actortest.New(t)
	db := k.Probe("")
	actortest.Send(k, start(k), do{func(p *actor.Process) error {
		actor.SendAfter(p, db.PID(), time.Second, note{"late"})
		return actor.ErrNormal
	}})
	k.Advance(time.Hour)
	db.ExpectNothing(t)
}

func TestAProbeSeesExitsAndEnds(t *testing.T) {
	k := actortest.New(t)
	linked, monitor := k.Probe("linked"), k.Probe("monitor")
	pid := start(k)
	linked.Link(pid)
	ref := monitor.Monitor(pid)
	actortest.Send(k, pid, do{func(*actor.Process) error { return errOut }})
	if e := actortest.Expect[actor.Exit](t, linked); e.From != pid || e.Reason != errOut {
		t.Errorf("%+v", e)
	}
	if d := actortest.Expect[actor.Down](t, monitor); d.PID != pid || d.Ref != ref || d.Reason != errOut {
		t.Errorf("%+v", d)
	}
	if reason, ended := k.Ended(pid); !ended || reason != errOut {
		t.Error(reason, ended)
	}
	if _, ended := k.Ended(linked.PID()); ended {
		t.Error("the probe has ended")
	}
}

func TestTheEndOfAProbeIsSeenByTheProcess(t *testing.T) {
	k := actortest.New(t)
	db, pid := k.Probe("db"), start(k)
	db.Link(pid)
	db.End(errOut)
	if reason, ended := k.Ended(pid); !ended || reason != errOut {
		t.Error(reason, ended)
	}
}

func TestAMessageMayComeFromAProbe(t *testing.T) {
	k := actortest.New(t)
	client := k.Probe("client")
	actortest.Send(client, start(k), do{func(p *actor.Process) error { return actor.Send(p, p.Sender(), note{"thanks"}) }})
	actortest.Expect[note](t, client)
}

func TestTheProcessesThatAreStartedCanBeSeen(t *testing.T) {
	k := actortest.New(t)
	k.Probe("not shown")
	pid := start(k)
	actortest.Send(k, pid, do{func(p *actor.Process) error {
		for range 2 {
			if _, err := actor.Spawn(p, jobs, struct{}{}, actor.SpawnConfig{Linked: true}); err != nil {
				return err
			}
		}
		return nil
	}})
	children := k.Children(pid)
	if len(children) != 2 || len(k.Starts()) != 3 || k.Starts()[1] != (actortest.Start{PID: children[0], Parent: pid, Behavior: "job"}) {
		t.Fatalf("children %v; starts %v", children, k.Starts())
	}
	if info := k.Info(pid); len(info.Links) != 2 {
		t.Errorf("%+v", info)
	}
	actortest.Send(k, children[0], do{func(*actor.Process) error { return errOut }})
	if len(k.Children(pid)) != 0 || len(k.Starts()) != 3 {
		t.Errorf("children %v", k.Children(pid))
	}
	for _, p := range append(children, pid) {
		if reason, _ := k.Ended(p); reason != errOut {
			t.Errorf("%s: %v", p, reason)
		}
	}
}

func TestAnInitThatFailsIsSeen(t *testing.T) {
	k := actortest.New(t)
	b := actor.Define("broken", func(*job, *actor.Process, struct{}) error { return errOut })
	if _, err := actor.Spawn(k.System(), b, struct{}{}, actor.SpawnConfig{InitTimeout: time.Second}); !errors.Is(err, errOut) {
		t.Error(err)
	}
	wantText(t, failing(t, func(tb testing.TB) {
		actortest.Spawn(actortest.New(tb), b, struct{}{})
	}), "broken did not start", "out of stock")
	if reason, ended := k.Ended(k.Starts()[0].PID); !ended || reason != errOut {
		t.Error(reason, ended)
	}
}

func TestAPanicIsTheEndOfTheProcessAndNotOfTheTest(t *testing.T) {
	k := actortest.New(t)
	pid := start(k)
	actortest.Send(k, pid, do{func(*actor.Process) error { panic("oh") }})
	if reason, _ := k.Ended(pid); !errors.Is(reason, sabir.ErrPanic) {
		t.Error(reason)
	}
}

func TestInspectShowsTheState(t *testing.T) {
	k := actortest.New(t)
	pid := start(k)
	actortest.Send(k, pid, note{"one"})
	if n := actortest.Inspect[int](k, pid); n != 1 {
		t.Error(n)
	}
	wantText(t, failing(t, func(tb testing.TB) {
		k := actortest.New(tb)
		actortest.Inspect[string](k, start(k))
	}), "a int, not a string")
}

func TestASendThatCannotBeDeliveredFailsTheTest(t *testing.T) {
	wantText(t, failing(t, func(tb testing.TB) {
		actortest.Send(actortest.New(tb), actor.Name{Name: "nobody"}, 1)
	}), "nobody", "NoProcess")
}

func TestAMailboxThatIsFullIsDrainedForASenderThatWaits(t *testing.T) {
	k := actortest.New(t)
	slow := actortest.Spawn(k, jobs, struct{}{}, actor.SpawnConfig{Mailbox: 2, Overflow: actor.Wait})
	actortest.Send(k, start(k), do{func(p *actor.Process) error {
		for i := range 10 {
			if err := actor.Send(p, slow, note{fmt.Sprint(i)}); err != nil {
				return err
			}
		}
		return nil
	}})
	if got, err := actortest.Call[string](k, slow, get{}); got != "0 1 2 3 4 5 6 7 8 9" || err != nil {
		t.Error(got, err)
	}
}

func TestARunWithoutEndFailsTheTest(t *testing.T) {
	wantText(t, failing(t, func(tb testing.TB) {
		k := actortest.New(tb)
		var again do
		again.fn = func(p *actor.Process) error { return actor.Send(p, p.PID(), again) }
		actortest.Send(k, start(k), again)
	}), "still something to do")
}
