package admission

import (
	"math/rand/v2"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/bubbletest"
)

// pool is an action whose requests wait for one of ten connections, for 10 ms or for 5 to 15: it can do 1,000 in a second.
type pool struct {
	action      Action
	uneven      bool
	connections chan struct{}
	running     sync.WaitGroup

	mu                     sync.Mutex
	goesOn                 time.Time // until then no request ends
	inTime, late, rejected int
	inTimeOf               map[time.Duration]int // by timeout
}

// load asks for so many requests in a second, with the timeouts in turn, for a time, and forgets what was before.
func (p *pool) load(rate int, lasting time.Duration, timeouts ...time.Duration) {
	p.mu.Lock()
	p.inTime, p.late, p.rejected, p.inTimeOf = 0, 0, 0, make(map[time.Duration]int)
	p.mu.Unlock()
	for i := range int(lasting.Seconds() * float64(rate)) {
		time.Sleep(time.Second / time.Duration(rate))
		p.running.Go(func() { p.one(timeouts[i%len(timeouts)]) })
	}
}

func (p *pool) counts() (inTime, late, rejected int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.inTime, p.late, p.rejected
}

func (p *pool) one(timeout time.Duration) {
	since, ok := p.action.Begin()
	if !ok {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.rejected++
		return
	}
	begun := time.Now()
	p.connections <- struct{}{}
	took := 10 * time.Millisecond
	if p.uneven {
		took = 5*time.Millisecond + rand.N(10*time.Millisecond)
	}
	time.Sleep(took)
	p.mu.Lock()
	goesOn := p.goesOn
	p.mu.Unlock()
	time.Sleep(time.Until(goesOn))
	<-p.connections
	late := time.Since(begun) > timeout
	p.action.End(since, timeout, func() bool { return late })
	p.mu.Lock()
	defer p.mu.Unlock()
	if late {
		p.late++
	} else {
		p.inTime++
		p.inTimeOf[timeout]++
	}
}

func TestAnActionThatIsAskedForMoreThanItCanDoIsInTime(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: run it without -short")
	}
	for _, timeout := range []time.Duration{20 * time.Millisecond, 50 * time.Millisecond, 200 * time.Millisecond, time.Second} {
		for _, rate := range []int{1500, 3000, 10_000} {
			t.Run(timeout.String(), func(t *testing.T) {
				bubbletest.Run(t, func(t *testing.T) {
					p := &pool{connections: make(chan struct{}, 10)}
					p.load(rate, 5*time.Second, timeout) // until the limit is found
					p.load(rate, 5*time.Second, timeout)
					if inTime, late, rejected := p.counts(); inTime < 4900 {
						t.Errorf("asked for %d/s: %d of 5000 in time, %d late, %d refused", rate, inTime, late, rejected)
					}
					p.load(700, time.Second, timeout) // to let it go back
					p.load(700, time.Second, timeout)
					if inTime, late, rejected := p.counts(); inTime < 690 {
						t.Errorf("after the load: %d of 700 in time, %d late, %d refused", inTime, late, rejected)
					}
					p.running.Wait()
				})
			})
		}
	}
}

func TestAnActionWhoseCallersHaveDifferentDeadlinesServesAllOfThemAlike(t *testing.T) {
	if testing.Short() {
		t.Skip("takes seconds: run it without -short")
	}
	ms := time.Millisecond
	for _, timeouts := range [][]time.Duration{{20 * ms, 100 * ms, time.Second}, {50 * ms, 20 * ms}, {30 * ms, time.Second, time.Second, time.Second}} {
		for _, uneven := range []bool{false, true} {
			for _, rate := range []int{1500, 3000, 10_000} {
				bubbletest.Run(t, func(t *testing.T) {
					p := &pool{connections: make(chan struct{}, 10), uneven: uneven}
					p.load(rate, 5*time.Second, timeouts...) // until the limit is found
					p.load(rate, 5*time.Second, timeouts...)
					p.running.Wait()
					inTime, late, rejected := p.counts()
					if share := 5000 / len(timeouts); inTime < 4250 || p.inTimeOf[timeouts[0]] < share*3/4 || p.inTimeOf[timeouts[1]] < share*3/4 {
						t.Errorf("asked for %d/s, handlers take the same time %v: %d of 5000 in time, %v by deadline, %d late, %d refused",
							rate, !uneven, inTime, p.inTimeOf, late, rejected)
					}
				})
			}
		}
	}
}

// With 5 ms for a handler that takes 10 no limit helps; the others must not be shut out for them.
func TestCallersWhoseDeadlinesAnActionCannotMeetDoNotLowerItsLimit(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := &pool{connections: make(chan struct{}, 10)}
		timeouts := []time.Duration{5 * time.Millisecond, 100 * time.Millisecond}
		p.load(3000, 5*time.Second, timeouts...)
		p.load(3000, 5*time.Second, timeouts...)
		p.running.Wait()
		if inTime, late, rejected := p.counts(); inTime < 2400 || inTime+late < 4250 {
			t.Errorf("%d of 2500 in time, %d late, %d refused", inTime, late, rejected)
		}
	})
}

// With as many running as are just not looked at, only some of those that end are; the others count for the rate too.
func TestAnActionThatDoesWhatItIsAskedForIsNotLimited(t *testing.T) {
	for _, rate := range []int{700, 800, 850, 900, 950} {
		for _, uneven := range []bool{false, true} {
			bubbletest.Run(t, func(t *testing.T) {
				p := &pool{connections: make(chan struct{}, 10), uneven: uneven}
				p.load(rate, 20*time.Second, 50*time.Millisecond)
				p.running.Wait()
				if inTime, late, rejected := p.counts(); rejected > inTime/1000 {
					t.Errorf("asked for %d/s, handlers take the same time %v: %d in time, %d late, %d refused", rate, !uneven, inTime, late, rejected)
				}
			})
		}
	}
}

func TestABurstThatIsInTimeIsNotLimited(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		p := &pool{connections: make(chan struct{}, 10_000)} // as good as no limit
		p.load(100, time.Second, time.Second)
		for range 10 {
			for range 1000 {
				p.running.Go(func() { p.one(time.Second) })
			}
			time.Sleep(100 * time.Millisecond)
		}
		p.running.Wait()
		if p.rejected > 0 || p.late > 0 {
			t.Errorf("%d refused, %d late", p.rejected, p.late)
		}
	})
}

// All connections stand still for longer than the callers wait, as those of a process that is stopped or of a database that fails over.
func TestAnActionThatStoodStillRefusesNothingOnceItGoesOn(t *testing.T) {
	for _, running := range []int{100, 150, 300} {
		bubbletest.Run(t, func(t *testing.T) {
			p := &pool{connections: make(chan struct{}, 10)}
			p.load(1, time.Millisecond, time.Second)
			for range running {
				p.running.Go(func() { p.one(time.Second) })
			}
			time.Sleep(55 * time.Millisecond)
			p.mu.Lock()
			p.goesOn = time.Now().Add(7 * time.Second)
			p.mu.Unlock()
			p.running.Wait()
			p.load(1, time.Millisecond, time.Second) // forgets those counts
			for range 5 {
				for range 400 { // as many at once as are in time
					p.running.Go(func() { p.one(time.Second) })
				}
				p.running.Wait()
			}
			if inTime, late, rejected := p.counts(); inTime < 2000 {
				t.Errorf("%d ran meanwhile: of 2000 after it %d were in time, %d late, %d refused", running, inTime, late, rejected)
			}
		})
	}
}
