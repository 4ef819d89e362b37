package admission

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// machine is a simulated one with one processor, which runs in turn what is ready to run.
type machine struct {
	control   *Control
	processor chan struct{}
	requests  sync.WaitGroup
	computing atomic.Int64 // goroutines that run or are ready to

	mu     sync.Mutex
	groups map[time.Duration]*group // by their timeouts
}

// group counts the requests of one timeout.
type group struct {
	inTime, late int
	refusals     []time.Duration
}

func newMachine() *machine {
	m := &machine{control: New(), processor: make(chan struct{}, 1)}
	m.control.processors = 1
	m.control.limit.Store(m.control.firstLimit())
	m.control.lag = func() time.Duration {
		start := time.Now()
		m.compute(0)
		return time.Since(start)
	}
	m.control.read = func(bool) { time.Sleep(readPause) }
	m.control.ready = func() int64 { return max(0, m.computing.Load()-1) }
	return m
}

// compute keeps the processor busy, once it is free.
func (m *machine) compute(d time.Duration) {
	m.computing.Add(1)
	defer m.computing.Add(-1)
	m.processor <- struct{}{}
	time.Sleep(d)
	<-m.processor
}

// load has so many requests come in a second, with each of the timeouts in turn. It returns how they ended.
func (m *machine) load(rate int, lasting time.Duration, handler func(), timeouts ...time.Duration) map[time.Duration]*group {
	m.mu.Lock()
	m.groups = make(map[time.Duration]*group)
	for _, timeout := range timeouts {
		m.groups[timeout] = &group{}
	}
	groups := m.groups
	m.mu.Unlock()
	for i := range int(lasting.Seconds() * float64(rate)) {
		time.Sleep(time.Second / time.Duration(rate))
		timeout := timeouts[i%len(timeouts)]
		m.requests.Go(func() { m.request(groups[timeout], timeout, handler) })
	}
	return groups
}

// overhead is the time to read a request and to refuse it.
const overhead = 5 * time.Microsecond

func (m *machine) request(g *group, timeout time.Duration, handler func()) {
	came := time.Now()
	m.compute(overhead)
	entered := m.control.Enter(context.Background(), Normal, timeout)
	if entered {
		handler()
		m.control.Leave()
	}
	took := time.Since(came)
	m.mu.Lock()
	defer m.mu.Unlock()
	switch {
	case !entered:
		g.refusals = append(g.refusals, took)
	case took > timeout:
		g.late++
	default:
		g.inTime++
	}
}

func TestAMachineThatIsAskedForMoreThanItCanDoServesAllDeadlinesAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: run it without -short")
	}
	for _, timeouts := range [][]time.Duration{
		{20 * time.Millisecond}, {50 * time.Millisecond}, {time.Second}, {20 * time.Millisecond, 100 * time.Millisecond, time.Second},
	} {
		for _, rate := range []int{1500, 3000, 10_000} {
			t.Run(fmt.Sprintf("%v, %d per second", timeouts, rate), func(t *testing.T) {
				bubbletest.Run(t, func(t *testing.T) { overload(t, rate, timeouts) })
			})
		}
	}
}

// overload has a machine that can do 1,000 requests in a second asked for more, and checks the floors.
func overload(t *testing.T, rate int, timeouts []time.Duration) {
	m := newMachine()
	defer m.control.Close()
	compute := func() { m.compute(time.Millisecond) }
	m.load(rate, time.Second, compute, timeouts...) // until the rate is known
	const lasting = 4 * time.Second
	groups := m.load(rate, lasting, compute, timeouts...)
	m.requests.Wait()
	all, capacity := 0, int(lasting/time.Millisecond)
	for _, timeout := range timeouts {
		g := groups[timeout]
		slices.Sort(g.refusals)
		refused := g.refusals[len(g.refusals)*99/100]
		t.Logf("%v: %d in time, %d late, %d refused (99 %% within %v)", timeout, g.inTime, g.late, len(g.refusals), refused)
		if all += g.inTime; g.inTime < capacity/len(timeouts)/2 {
			t.Errorf("of the requests with %v %d were in time", timeout, g.inTime)
		}
		// It is read behind the handlers that run, perProcessor of a millisecond each until the lowest limit was found, and may wait for a quarter
		// of the least time.
		if refused > perProcessor*time.Millisecond+5*time.Millisecond {
			t.Errorf("of the requests with %v 1 %% were refused after more than %v", timeout, refused)
		}
	}
	if all < capacity*85/100 {
		t.Errorf("%d of %d were in time", all, capacity)
	}
}

func TestCallersThatWaitForEachAnswerAreNotRefusedWhileTheyHaveTheTime(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := newMachine()
		defer m.control.Close()
		g := &group{}
		for range 64 {
			m.requests.Go(func() {
				for range 50 {
					m.request(g, 30*time.Second, func() { m.compute(time.Millisecond) })
				}
			})
		}
		m.requests.Wait()
		if len(g.refusals) > 0 || g.late > 0 {
			t.Errorf("%d were refused, %d late", len(g.refusals), g.late)
		}
	})
}

func TestAllAreServedWithinASecondOfTheEndOfAnOverload(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := newMachine()
		defer m.control.Close()
		compute := func() { m.compute(time.Millisecond) }
		m.load(10_000, 3*time.Second, compute, 50*time.Millisecond)
		m.load(700, time.Second, compute, 50*time.Millisecond)
		after := m.load(700, time.Second, compute, 50*time.Millisecond)[50*time.Millisecond]
		m.requests.Wait()
		if after.inTime < 700 {
			t.Errorf("%d of 700 were in time, %d late, %d refused", after.inTime, after.late, len(after.refusals))
		}
	})
}

func TestABurstIsServed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := newMachine()
		defer m.control.Close()
		g := &group{}
		for range 10 {
			for _, requests := range []int{60, 30} { // the second part comes when the rate is known, and a queue is there
				for range requests {
					m.requests.Go(func() { m.request(g, time.Second, func() { m.compute(time.Millisecond) }) })
				}
				time.Sleep(40 * time.Millisecond)
			}
			time.Sleep(time.Second)
		}
		m.requests.Wait()
		if g.inTime < 900 {
			t.Errorf("%d of 900 were in time, %d refused", g.inTime, len(g.refusals))
		}
	})
}

// For longer than the callers wait the processor runs nothing, as of a process that is stopped. What was finished in that time is no rate
// to refuse by.
func TestAProcessThatStoodStillRefusesNothingOnceItGoesOn(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := newMachine()
		defer m.control.Close()
		compute := func() { m.compute(time.Millisecond) }
		before := &group{}
		for range 3 * m.control.firstLimit() {
			m.requests.Go(func() { m.request(before, time.Second, compute) })
		}
		time.Sleep(5 * time.Millisecond)
		m.compute(7 * time.Second)
		after := &group{}
		for range 20 {
			m.requests.Go(func() {
				for range 100 {
					m.request(after, 5*time.Second, compute)
				}
			})
		}
		m.requests.Wait()
		if after.inTime < 2000 {
			t.Errorf("%d of 2000 were in time, %d late, %d refused", after.inTime, after.late, len(after.refusals))
		}
	})
}

func TestHandlersThatHoldAllPlacesForLongDelayNoOthersWhereOthersCompute(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := newMachine()
		defer m.control.Close()
		ctx, stop := context.WithCancel(t.Context())
		for range 3 {
			m.requests.Go(func() {
				for ctx.Err() == nil {
					m.compute(time.Millisecond)
				}
			})
		}
		for range 10 * m.control.firstLimit() {
			m.requests.Go(func() { m.request(&group{}, 0, func() { <-ctx.Done() }) })
		}
		quick := m.load(1000, 2*time.Second, func() { m.compute(10 * time.Microsecond) }, time.Second)[time.Second]
		stop()
		m.requests.Wait()
		if len(quick.refusals) > 0 || quick.late > 0 {
			t.Errorf("%d were in time, %d late, %d refused", quick.inTime, quick.late, len(quick.refusals))
		}
	})
}

// Other goroutines of the process keep the processor busy, and the handlers wait for something. No request is refused once the limit had
// forty times as long as a handler takes.
func TestHandlersThatWaitAreNotLimitedForLongWhereOthersCompute(t *testing.T) {
	const rate = 2000
	for _, takes := range []time.Duration{10 * time.Millisecond, 100 * time.Millisecond} {
		t.Run(takes.String(), func(t *testing.T) {
			bubbletest.Run(t, func(t *testing.T) {
				m := newMachine()
				defer m.control.Close()
				busy, stop := context.WithCancel(t.Context())
				for range 3 {
					m.requests.Go(func() {
						for busy.Err() == nil {
							m.compute(time.Millisecond)
						}
					})
				}
				wait := func() { time.Sleep(takes) }
				m.load(rate, 40*takes, wait, time.Second)
				g := m.load(rate, 40*takes, wait, time.Second)[time.Second]
				stop()
				m.requests.Wait()
				if refused, all := len(g.refusals), int(40*takes.Seconds()*rate); refused > 0 { // 102 of 8,000, where the limit rose by trials only
					t.Errorf("%d of %d were refused, at a limit of %d", refused, all, m.control.limit.Load())
				}
			})
		})
	}
}

func TestGoroutinesThatWaitForAProcessorLongAreLetThroughBeforeARequestIsServed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		m := newMachine()
		defer m.control.Close()
		time.Sleep(time.Second)
		m.control.Yield()
		if m.control.Crowded() {
			t.Error("crowded with an idle processor")
		}
		time.Sleep(readEvery)
		var read atomic.Int64
		for range 10 { // connections whose requests are not read yet
			m.requests.Go(func() { m.compute(time.Millisecond); read.Add(1) })
		}
		bubbletest.Wait()
		m.control.Yield()
		if read.Load() != 10 || !m.control.Crowded() {
			t.Errorf("%d of 10 ran first; crowded: %v", read.Load(), m.control.Crowded())
		}
		m.control.Yield()
		if m.control.Crowded() {
			t.Error("still crowded after that")
		}
		m.requests.Wait()
	})
}
