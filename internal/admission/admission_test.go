package admission

import (
	"context"
	"math"
	"runtime"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"go.uber.org/goleak"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

// withLimit is a control that does not look for another limit.
func withLimit(t *testing.T, limit int64) *Control {
	c := New()
	c.limit.Store(limit)
	c.watching.Store(true) // as if it was looked at
	c.search.tick = 1
	t.Cleanup(c.Close)
	return c
}

// waiter is a ticket that notes when it was granted.
func waiter(granted *[]string, name string) *Ticket {
	return &Ticket{Granted: func() { *granted = append(*granted, name) }}
}

func TestNoMoreRunThanTheLimit(t *testing.T) {
	c := withLimit(t, 2)
	var granted []string
	for i, want := range []bool{true, true, false} {
		if got := c.Ask(waiter(&granted, "third"), Normal); got != want {
			t.Errorf("place %d: got %v, want %v", i+1, got, want)
		}
	}
	c.Done()
	if len(granted) != 1 {
		t.Errorf("after a place was given back: granted %q", granted)
	}
}

func TestWhatWaitsIsGrantedByClassAndThenInOrder(t *testing.T) {
	c := withLimit(t, 1)
	var granted []string
	c.Ask(&Ticket{}, Normal)
	for _, w := range []struct {
		name  string
		class Class
	}{{"sheddable", Sheddable}, {"normal 1", Normal}, {"normal 2", Normal}, {"nested", Nested}, {"critical", Critical}} {
		c.Ask(waiter(&granted, w.name), w.class)
	}
	better := waiter(&granted, "better")
	c.Ask(better, Sheddable)
	c.Ask(better, Critical)
	for range 6 {
		c.Done()
	}
	want := []string{"critical", "better", "nested", "normal 1", "normal 2", "sheddable"}
	for i := range want {
		if i >= len(granted) || granted[i] != want[i] {
			t.Fatalf("granted %q, want %q", granted, want)
		}
	}
}

func TestAWithdrawnTicketIsNotGranted(t *testing.T) {
	c := withLimit(t, 1)
	var granted []string
	c.Ask(&Ticket{}, Normal)
	w := waiter(&granted, "withdrawn")
	c.Ask(w, Normal)
	if !c.Withdraw(w) {
		t.Error("it could not be withdrawn")
	}
	if c.Withdraw(w) {
		t.Error("it was withdrawn twice")
	}
	c.Done()
	if len(granted) > 0 || c.running.Load() != 0 {
		t.Errorf("granted %q, %d places taken", granted, c.running.Load())
	}
}

func TestARequestThatCannotBeginInTimeIsRefusedAtOnce(t *testing.T) {
	c := withLimit(t, 1)
	c.Came(6000)
	if !c.Fits(time.Millisecond, 0) {
		t.Error("refused before anything is known about the rate")
	}
	c.rate.Store(math.Float64bits(1000))
	for _, test := range []struct {
		waiting int64
		timeout time.Duration
		want    bool
	}{
		{1, time.Nanosecond, false}, {0, time.Nanosecond, true}, {10, 40 * time.Millisecond, true}, {11, 40 * time.Millisecond, false},
		{2500, 10 * time.Second, true}, {2501, 10 * time.Second, false}, {5000, time.Minute, true}, {5001, time.Minute, false}, {5000, 0, true}, {5001, 0, false},
	} {
		c.bound.Store(int64(longestWait)) // as one request moves it
		if got := c.Fits(test.timeout, 6000-test.waiting); got != test.want {
			t.Errorf("behind %d requests, with a timeout of %v, at 1000/s: got %v", test.waiting, test.timeout, got)
		}
	}
}

func TestARateIsKnownOnceAsManyAsRanWereFinishedWhileOthersWaited(t *testing.T) {
	c := withLimit(t, 1)
	for _, test := range []struct {
		name    string
		drained bool
		gaveUp  int64
		known   float64
		running int64
		seconds int
		want    float64
	}{
		{"none waited for a moment", true, 0, 0, 0, 1, 0},
		{"none waited for a moment, as those that waited were given up", true, 1, 0, 0, 1, 100},
		{"they waited all the time", false, 0, 0, 0, 1, 100},
		{"none waited for a moment, and more was done than the rate", true, 0, 50, 0, 1, 100},
		{"none waited for a moment, and less was done than the rate", true, 0, 500, 0, 1, 500},
		{"they waited all the time, and less was done than the rate", false, 0, 500, 0, 1, 100},
		{"more run than were finished", false, 0, 0, 101, 1, 0},
		{"more run than were finished, and more was done than the rate", false, 0, 50, 101, 1, 100},
		{"more run than were finished in the longest time that a request waits", false, 0, 0, 101, 5, 20},
	} {
		c.mu.Lock()
		c.rate.Store(math.Float64bits(test.known))
		c.search.turn = turn{}
		c.beginWindow(0)
		c.begun.Add(100)
		c.gaveUp.Add(test.gaveUp)
		c.search.looks, c.search.full = 10, 10
		c.drained.Store(test.drained)
		c.endWindow(int64(test.seconds)*int64(time.Second), test.running)
		c.mu.Unlock()
		if got := math.Float64frombits(c.rate.Load()); got != test.want {
			t.Errorf("%s: the rate is %v, want %v", test.name, got, test.want)
		}
	}
}

func TestARequestThatFindsNoneWaitingEmptiesTheQueue(t *testing.T) {
	c := withLimit(t, 1)
	c.Came(2)
	if c.Begun(); c.drained.Load() {
		t.Error("one waits still, and the queue counts as empty")
	}
	if c.Begun(); !c.drained.Load() {
		t.Error("none waits, and the queue does not count as empty")
	}
}

func TestNoRequestWaitsForLongerThanNineOfTenOthersMay(t *testing.T) {
	for _, test := range []struct {
		name     string
		timeouts []time.Duration // of requests that come in turn
		want     time.Duration
	}{
		{"all have much time", []time.Duration{time.Minute}, 5 * time.Second},
		{"all have any time", []time.Duration{0}, 5 * time.Second},
		{"all have a second", []time.Duration{time.Second}, 250 * time.Millisecond},
		{"every second has little time", []time.Duration{time.Second, 40 * time.Millisecond}, 10 * time.Millisecond},
		{"every fifth has little time", []time.Duration{0, 0, 0, 0, 40 * time.Millisecond}, 10 * time.Millisecond},
		{"one of fifty has little time", append(make([]time.Duration, 49), 40*time.Millisecond), 4550 * time.Millisecond},
		{"all have hardly any time", []time.Duration{time.Millisecond}, shortestWait},
	} {
		t.Run(test.name, func(t *testing.T) {
			c := withLimit(t, 1)
			c.rate.Store(math.Float64bits(1000))
			for range 2000 {
				for _, timeout := range test.timeouts {
					c.Fits(timeout, 0)
				}
			}
			if got := c.longest(0); got < test.want*85/100 || got > test.want*115/100 {
				t.Errorf("they wait for %v at most, want %v", got, test.want)
			}
		})
	}
}

func TestAClosedControlGrantsWhatWaitsAndAdmitsAll(t *testing.T) {
	c := withLimit(t, 1)
	var granted []string
	c.Ask(&Ticket{}, Normal)
	c.Ask(waiter(&granted, "waiting"), Normal)
	c.Close()
	if len(granted) != 1 {
		t.Error("what waited was not granted")
	}
	if !c.Ask(&Ticket{}, Normal) {
		t.Error("not admitted after the close")
	}
}

// requests runs so many at a time for a while, and returns how many were finished in a second.
func requests(c *Control, callers int, lasting time.Duration, work func()) float64 {
	ctx, cancel := context.WithTimeout(context.Background(), lasting)
	defer cancel()
	var finished atomic.Int64
	var running sync.WaitGroup
	begun := time.Now()
	for range callers {
		running.Go(func() {
			for ctx.Err() == nil {
				if !c.Enter(ctx, Normal, 0) {
					time.Sleep(10 * time.Millisecond) // as callers do who are refused
					continue
				}
				work()
				c.Leave()
				finished.Add(1)
			}
		})
	}
	running.Wait()
	return float64(finished.Load()) / time.Since(begun).Seconds()
}

func TestHandlersThatWaitRunAllAtOnce(t *testing.T) {
	c := New()
	defer c.Close()
	const callers = 500
	// Other work of the machine slows now the one and now the other. A limit that held up handlers that wait would slow each round.
	for range 5 {
		alone := requests(nil, callers, time.Second, func() { time.Sleep(10 * time.Millisecond) })
		rate := requests(c, callers, time.Second, func() { time.Sleep(10 * time.Millisecond) })
		t.Logf("%.0f/s with a limit, %.0f/s without", rate, alone)
		if rate >= alone/4 {
			return
		}
	}
	t.Error("the limit holds them up")
}

func BenchmarkEnterAndLeave(b *testing.B) {
	c := New()
	defer c.Close()
	b.ReportAllocs()
	for b.Loop() {
		c.Enter(context.Background(), Normal, 0)
		c.Leave()
	}
}

// The grant comes in the moment in which the caller's context ends: whichever is seen, no place is lost.
func TestAPlaceThatIsGrantedToACallerWhoHasJustGoneIsGivenBack(t *testing.T) {
	for range 2000 {
		c := withLimit(t, 1)
		c.Ask(&Ticket{}, Normal)
		ctx, cancel := context.WithCancel(t.Context())
		entered := make(chan bool)
		go func() { entered <- c.Enter(ctx, Normal, 0) }()
		for c.waiting.Load() == 0 {
			runtime.Gosched()
		}
		c.mu.Lock() // so that the grant, which is under way then, waits for nothing but the caller
		cancel()
		c.mu.Unlock()
		c.Done()
		if <-entered {
			c.Leave()
		}
		if running, _, waiting := c.Load(); running != 0 || waiting != 0 {
			t.Fatalf("%d places are taken, and %d wait", running, waiting)
		}
	}
}

func TestACriticalRequestIsNotRefusedForTheLengthOfTheQueue(t *testing.T) {
	c := withLimit(t, 1)
	c.Ask(&Ticket{}, Normal)
	c.rate.Store(math.Float64bits(1)) // a second for each
	c.came.Add(100)
	if c.Enter(t.Context(), Normal, time.Second) {
		t.Fatal("a normal request was not refused behind a hundred")
	}
	entered := make(chan bool)
	go func() { entered <- c.Enter(t.Context(), Critical, time.Minute) }()
	for c.waiting.Load() == 0 {
		select {
		case <-entered:
			t.Fatal("it was refused at once")
		default:
			runtime.Gosched()
		}
	}
	c.Done()
	if !<-entered {
		t.Error("it was not served")
	}
	c.Leave()
}

func TestTheClassOfACallGoesByItsPriorityAndThenByWhatWasDoneForItBefore(t *testing.T) {
	for i, c := range []struct {
		priority string
		level    int
	}{{CriticalValue, 0}, {"", 1}, {"", 0}, {SheddableValue, 3}} {
		if got := ClassOf(c.priority, c.level); got != Class(i) {
			t.Errorf("%q at level %d is of class %d, want %d", c.priority, c.level, got, i)
		}
	}
}
