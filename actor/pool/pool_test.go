package pool_test

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/pool"
)

const testTimeout = 2 * time.Minute

var quiet = slog.New(slog.NewTextHandler(io.Discard, nil))

func newSystem(t testing.TB) *actor.System {
	s := actor.NewSystem(actor.Config{Logger: quiet})
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := s.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return s
}

type (
	who  struct{ Key string }
	note struct {
		Key string
		Seq int
	}
	crash struct{}
	hold  struct{ Held, Until chan struct{} }
)

// got is a note as the test sees it.
type got struct {
	worker, sender actor.PID
	note           note
}

type worker struct{ notes chan got }

var errCrash = errors.New("crashed as asked")

func (w *worker) Init(p *actor.Process, notes chan got) error { w.notes = notes; return nil }
func (w *worker) Who(p *actor.Process, _ who) (actor.PID, error) {
	return p.PID(), nil
}
func (w *worker) Note(p *actor.Process, n note) error {
	w.notes <- got{p.PID(), p.Sender(), n}
	return nil
}
func (w *worker) Crash(*actor.Process, crash) error { return errCrash }
func (w *worker) Hold(_ *actor.Process, h hold) error {
	h.Held <- struct{}{}
	<-h.Until
	return nil
}

var workerB = actor.Define("worker", (*worker).Init, actor.OnMessage((*worker).Note), actor.OnMessage((*worker).Crash), actor.OnMessage((*worker).Hold), actor.OnCall((*worker).Who))

func start(t testing.TB, s *actor.System, config pool.Config) (actor.PID, chan got) {
	t.Helper()
	notes := make(chan got, 1000)
	pid, err := pool.Spec(workerB.Spec(notes), config).Start(s)
	if err != nil {
		t.Fatal(err)
	}
	return pid, notes
}

func call(t testing.TB, s *actor.System, to actor.PID, in who) actor.PID {
	t.Helper()
	pid, err := actor.Call[actor.PID](t.Context(), s, to, in)
	if err != nil {
		t.Fatal(err)
	}
	return pid
}

func info(t testing.TB, s *actor.System, of actor.PID) pool.Info {
	t.Helper()
	i, err := pool.Ask(t.Context(), s, of)
	if err != nil {
		t.Fatal(err)
	}
	return i
}

func next[T any](t testing.TB, from chan T) T {
	t.Helper()
	select {
	case v := <-from:
		return v
	case <-time.After(testTimeout):
		t.Fatal("nothing came")
		panic("")
	}
}

func TestRoundRobinGivesEachWorkerItsTurn(t *testing.T) {
	s := newSystem(t)
	p, _ := start(t, s, pool.Config{Size: 4})
	counts := map[actor.PID]int{}
	for range 40 {
		counts[call(t, s, p, who{})]++
	}
	for pid, n := range counts {
		if n != 10 {
			t.Errorf("%s had %d of 40", pid, n)
		}
	}
	if len(counts) != 4 {
		t.Errorf("%d workers had calls", len(counts))
	}
}

func TestRandomReachesAllWorkers(t *testing.T) {
	s := newSystem(t)
	p, _ := start(t, s, pool.Config{Size: 3, Pick: "random"})
	seen := map[actor.PID]bool{}
	for range 1000 {
		seen[call(t, s, p, who{})] = true
	}
	if len(seen) != 3 {
		t.Errorf("1000 calls came to %d workers of 3", len(seen))
	}
}

func TestLeastWaitingPassesBusyWorkersBy(t *testing.T) {
	s := newSystem(t)
	p, notes := start(t, s, pool.Config{Size: 2, Pick: "least-waiting"})
	busy := info(t, s, p).Workers[0]
	until, held := make(chan struct{}), make(chan struct{})
	actor.Send(s, busy, hold{held, until})
	next(t, held)
	actor.Send(s, busy, note{Key: "behind"}) // one waits
	for i := range 100 {
		actor.Send(s, p, note{Seq: i})
		if g := next(t, notes); g.worker == busy {
			t.Fatal("the busy worker got a message")
		}
	}
	close(until)
}

func TestMessagesOfOneKeyGoToOneWorkerInOrder(t *testing.T) {
	s := newSystem(t)
	p, notes := start(t, s, pool.Config{Size: 4, Key: func(m any) string { return m.(note).Key }})
	for i := range 50 {
		for k := range 10 {
			actor.Send(s, p, note{fmt.Sprint(k), i})
		}
	}
	workers, last := map[string]actor.PID{}, map[string]int{}
	used := map[actor.PID]bool{}
	for range 500 {
		g := next(t, notes)
		if w, ok := workers[g.note.Key]; ok && w != g.worker {
			t.Fatalf("key %s came to two workers", g.note.Key)
		}
		if g.note.Seq != last[g.note.Key] {
			t.Fatalf("key %s: %d came, not %d", g.note.Key, g.note.Seq, last[g.note.Key])
		}
		workers[g.note.Key] = g.worker
		last[g.note.Key]++
		used[g.worker] = true
	}
	if len(used) < 2 {
		t.Error("all keys came to one worker")
	}
}

// teller sends a note to the process that it is given, with its own name.
type teller struct{}

func (*teller) Tell(p *actor.Process, to actor.PID) (actor.PID, error) {
	return p.PID(), actor.Send(p, to, note{Key: "from teller"})
}

var tellerB = actor.Define[teller, struct{}]("teller", nil, actor.OnCall((*teller).Tell))

func TestWorkersSeeTheOriginalSender(t *testing.T) {
	s := newSystem(t)
	p, notes := start(t, s, pool.Config{})
	pid, err := actor.Spawn(s, tellerB, struct{}{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := actor.Call[actor.PID](t.Context(), s, pid, p); err != nil {
		t.Fatal(err)
	}
	if g := next(t, notes); g.sender != pid.PID() {
		t.Errorf("the sender is %s, not %s", g.sender, pid)
	}
}

func TestACallThatNoWorkerHandlesFails(t *testing.T) {
	s := newSystem(t)
	p, _ := start(t, s, pool.Config{})
	if _, err := actor.Call[int](t.Context(), s, p, "what"); !errors.Is(err, actor.ErrNotHandled) {
		t.Error(err)
	}
}

func TestWorkersAreStartedAnew(t *testing.T) {
	s := newSystem(t)
	p, notes := start(t, s, pool.Config{Size: 2})
	before := info(t, s, p).Workers
	actor.Send(s, p, crash{})
	for {
		i := info(t, s, p)
		if i.Restarts == 1 {
			if len(i.Workers) != 2 || (i.Workers[0] == before[0]) == (i.Workers[1] == before[1]) {
				t.Errorf("%v became %v", before, i.Workers)
			}
			break
		}
	}
	for range 2 {
		actor.Send(s, p, note{})
		next(t, notes)
	}
}

func TestAPoolWhoseWorkersEndTooOftenEnds(t *testing.T) {
	s := newSystem(t)
	p, _ := start(t, s, pool.Config{Size: 1, Restarts: 2, Within: time.Hour})
	downs := make(chan actor.Down, 1)
	if _, err := actor.Spawn(s, watcherB, watch{p, downs}); err != nil {
		t.Fatal(err)
	}
	for s.Alive(p) {
		actor.Send(s, p, crash{})
	}
	if d := next(t, downs); !errors.Is(d.Reason, errCrash) {
		t.Errorf("the pool ended with %v", d.Reason)
	}
}

type watch struct {
	pid   actor.PID
	downs chan actor.Down
}

type watcher struct{ watch }

func (w *watcher) Init(p *actor.Process, of watch) error {
	w.watch = of
	p.Monitor(of.pid)
	return nil
}
func (w *watcher) Down(_ *actor.Process, d actor.Down) error { w.downs <- d; return nil }

var watcherB = actor.Define("watcher", (*watcher).Init, actor.OnMessage((*watcher).Down))

func TestWorkersEndWithTheirPool(t *testing.T) {
	s := newSystem(t)
	p, _ := start(t, s, pool.Config{Size: 3})
	var wg sync.WaitGroup
	for _, w := range info(t, s, p).Workers {
		downs := make(chan actor.Down, 1)
		if _, err := actor.Spawn(s, watcherB, watch{w, downs}); err != nil {
			t.Fatal(err)
		}
		wg.Go(func() { next(t, downs) })
	}
	actor.Stop(s, p, nil)
	wg.Wait()
}

func TestAPoolGrowsAndShrinks(t *testing.T) {
	s := newSystem(t)
	p, notes := start(t, s, pool.Config{Size: 1})
	if err := pool.Resize(t.Context(), s, p, 5); err != nil {
		t.Fatal(err)
	}
	if n := len(info(t, s, p).Workers); n != 5 {
		t.Fatalf("%d workers, not 5", n)
	}
	for i := range 100 {
		actor.Send(s, p, note{Seq: i})
	}
	if err := pool.Resize(t.Context(), s, p, 2); err != nil {
		t.Fatal(err)
	}
	for range 100 { // those of the workers that end too
		next(t, notes)
	}
	for i := info(t, s, p); i.Retiring > 0; i = info(t, s, p) {
		if len(i.Workers) != 2 {
			t.Fatalf("%d workers, not 2", len(i.Workers))
		}
	}
	if n := info(t, s, p).Restarts; n != 0 {
		t.Errorf("%d restarts", n)
	}
}

// scarce is a worker of which only so many can be started.
type scarce struct{}

func (*scarce) Init(_ *actor.Process, left *atomic.Int32) error {
	if left.Add(-1) < 0 {
		return errors.New("no more of them")
	}
	return nil
}
func (*scarce) Note(*actor.Process, note) error { return nil }

var scarceB = actor.Define("scarce", (*scarce).Init, actor.OnMessage((*scarce).Note))

func TestAPoolThatCannotGrowStaysAsItIs(t *testing.T) {
	s := newSystem(t)
	var left atomic.Int32
	left.Store(3)
	p, err := pool.Spec(scarceB.Spec(&left), pool.Config{Size: 2}).Start(s)
	if err != nil {
		t.Fatal(err)
	}
	if err := pool.Resize(t.Context(), s, p, 5); err == nil || !strings.Contains(err.Error(), "no more of them") {
		t.Errorf("got %v", err)
	}
	if i := info(t, s, p); len(i.Workers) != 2 {
		t.Errorf("%+v, not 2 workers", i)
	}
}

func TestWhatAPoolRefuses(t *testing.T) {
	s := newSystem(t)
	for name, config := range map[string]pool.Config{
		"no workers":          {Size: -1},
		"too many workers":    {Size: 10_000 + 1},
		"an unknown pick":     {Pick: "first"},
		"restarts in no time": {Restarts: 1, Within: -1},
	} {
		t.Run(name, func(t *testing.T) {
			if _, err := pool.Spec(workerB.Spec(nil), config).Start(s); err == nil {
				t.Error("no error")
			}
		})
	}
}

func BenchmarkCallThroughAPool(b *testing.B) {
	s := newSystem(b)
	p, _ := start(b, s, pool.Config{})
	direct, _ := actor.Spawn(s, workerB, nil)
	for name, to := range map[string]actor.PID{"pool": p, "direct": direct.PID()} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			for b.Loop() {
				if _, err := actor.Call[actor.PID](b.Context(), s, to, who{}); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
