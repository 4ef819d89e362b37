package grain_test

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"go.uber.org/goleak"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/grain"
	"github.com/sabir-go/sabir/actor/grain/store"
	"github.com/sabir-go/sabir/internal/brokers"
)

func TestMain(m *testing.M) {
	if text := os.Getenv(memberVariable); text != "" {
		runMember(text)
		return
	}
	goleak.VerifyTestMain(brokers.Stopping(m))
}

// The grain of most tests: a counter, whose handlers do what the test orders.
type tally struct{ Sum int }

type counter struct {
	grain.State[tally]
	asleep int // not saved
}

type (
	add     struct{ N int }          // and saves
	count   struct{}                 // does not save
	exact   struct{}                 // count that is Strong
	careful struct{ N int }          // adds, saves, and panics if N is negative, before it has saved
	spoil   struct{ Err error }      // adds 1000 in memory and fails
	bump    struct{ N int }          // a message; negative fails
	rest    struct{}                 // asks for rest
	drop    struct{}                 // deletes
	twice   struct{ Between func() } // adds one and saves, two times
	nap     struct{ N int }          // changes what is not saved
	who     struct{}                 // reports the sender
)

var errRefused = errors.New("refused")

func (c *counter) Add(p *actor.Process, m add) (int, error) {
	c.Value.Sum += m.N
	return c.Value.Sum, c.Save(p)
}

func (c *counter) Careful(p *actor.Process, m careful) (int, error) {
	c.Value.Sum += m.N
	if m.N < 0 {
		panic("less than nothing")
	}
	return c.Value.Sum, c.Save(p)
}

func (c *counter) Twice(p *actor.Process, m twice) (int, error) {
	c.Value.Sum++
	if err := c.Save(p); err != nil {
		return 0, err
	}
	m.Between()
	c.Value.Sum++
	return c.Value.Sum, c.Save(p)
}

func (c *counter) Spoil(_ *actor.Process, m spoil) (int, error) {
	c.Value.Sum += 1000
	return 0, m.Err
}

func (c *counter) Bump(p *actor.Process, m bump) error {
	c.Value.Sum += m.N
	if m.N < 0 {
		return errRefused
	}
	return c.Save(p)
}

func (c *counter) Count(*actor.Process, count) (int, error) { return c.Value.Sum, nil }
func (c *counter) Exact(*actor.Process, exact) (int, error) { return c.Value.Sum, nil }
func (c *counter) Nap(_ *actor.Process, m nap) (int, error) { c.asleep += m.N; return c.asleep, nil }
func (c *counter) Drop(p *actor.Process, _ drop) (bool, error) {
	err := c.Delete(p)
	return c.Saved(), err
}
func (c *counter) Who(p *actor.Process, _ who) (actor.PID, error) {
	return p.Sender(), nil
}

func (c *counter) Rest(p *actor.Process, _ rest) (int, error) {
	c.State.Rest(p)
	return c.Value.Sum, nil
}

var counters = grain.Define("counter",
	grain.OnCall((*counter).Add), grain.OnCall((*counter).Careful), grain.OnCall((*counter).Spoil), grain.OnCall((*counter).Count),
	grain.OnCall((*counter).Exact).Strong(), grain.OnCall((*counter).Nap), grain.OnCall((*counter).Drop), grain.OnCall((*counter).Twice),
	grain.OnCall((*counter).Rest), grain.OnCall((*counter).Who), grain.OnMessage((*counter).Bump))

// start makes a system with grains that keep their states in memory, unless the settings have another store. They serve counters too.
func start(t testing.TB, config grain.Config, kinds ...grain.Served) (*actor.System, *grain.Grains) {
	t.Helper()
	return startOn(t, actor.NewSystem(actor.Config{}), config, kinds...)
}

func startOn(t testing.TB, system *actor.System, config grain.Config, kinds ...grain.Served) (*actor.System, *grain.Grains) {
	t.Helper()
	if config.Store == nil {
		config.Store = store.Memory()
	}
	g := grain.New(system, config, append(kinds, counters)...)
	if err := g.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		ctx, cancel := context.WithTimeout(context.Background(), testTimeout)
		defer cancel()
		if err := g.Stop(ctx); err != nil {
			t.Error(err)
		}
		if err := system.Stop(ctx); err != nil {
			t.Error(err)
		}
	})
	return system, g
}

// call is grain.Call that must not fail.
func call[Out, In any](t testing.TB, from actor.Sender, to grain.Address, in In) Out {
	t.Helper()
	out, err := grain.Call[Out](t.Context(), from, to, in)
	if err != nil {
		t.Fatalf("%T to %s: %v", in, to, err)
	}
	return out
}

func want[T comparable](t testing.TB, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Fatalf("%s: got %v, want %v", what, got, want)
	}
}

func wantError(t testing.TB, err, want error) {
	t.Helper()
	if !errors.Is(err, want) {
		t.Fatalf("got error %v, want %v", err, want)
	}
}

// clock is a time that the test moves.
type clock struct {
	mu     sync.Mutex
	now    time.Time
	timers map[*timer]struct{}
}

type timer struct {
	at time.Time
	fn func()
}

func newClock() *clock {
	return &clock{now: time.Unix(1_800_000_000, 0), timers: map[*timer]struct{}{}}
}

func (c *clock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *clock) AfterFunc(d time.Duration, fn func()) func() bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	x := &timer{c.now.Add(d), fn}
	c.timers[x] = struct{}{}
	return func() bool {
		c.mu.Lock()
		defer c.mu.Unlock()
		_, waits := c.timers[x]
		delete(c.timers, x)
		return waits
	}
}

// advance moves the time and runs what is due.
func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	c.now = c.now.Add(d)
	var due []func()
	for x := range c.timers {
		if !x.at.After(c.now) {
			due = append(due, x.fn)
			delete(c.timers, x)
		}
	}
	c.mu.Unlock()
	for _, fn := range due {
		fn()
	}
}

// testTimeout is the timeout of a test for what must happen: also for a million grains coming to rest, on a machine that has much
// else to do.
const testTimeout = 5 * time.Minute

// until waits until a condition holds that something else brings about.
func until(t testing.TB, what string, holds func() bool) {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), testTimeout)
	defer cancel()
	tick := time.NewTicker(time.Millisecond)
	defer tick.Stop()
	for !holds() {
		select {
		case <-tick.C:
		case <-ctx.Done():
			t.Fatalf("not within %v: %s", testTimeout, what)
		}
	}
}

// watched is a store that counts, and fails where the test orders it.
type watched struct {
	store.Store
	mu    sync.Mutex
	loads map[string]int
	fail  error         // of every Load and Save
	hold  chan struct{} // Load waits until it is closed
}

func watch() *watched { return &watched{Store: store.Memory(), loads: map[string]int{}} }

func (w *watched) set(err error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.fail = err
}

func (w *watched) loaded(key string) int {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.loads[key]
}

func (w *watched) Load(ctx context.Context, kind, key string) (store.Entry, error) {
	w.mu.Lock()
	w.loads[key]++
	err, hold := w.fail, w.hold
	w.mu.Unlock()
	if hold != nil {
		<-hold
	}
	if err != nil {
		return store.Entry{}, err
	}
	return w.Store.Load(ctx, kind, key)
}

func (w *watched) Save(ctx context.Context, kind, key string, state []byte, revision uint64) (uint64, error) {
	w.mu.Lock()
	err := w.fail
	w.mu.Unlock()
	if err != nil {
		return 0, err
	}
	return w.Store.Save(ctx, kind, key, state, revision)
}
