//go:build unix

package faults_test

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
)

// workload is calls of work.echo, of work.once, or of work.hold, that a node is to make.
type workload struct {
	Hold    bool // call work.hold
	Once    bool // call work.once
	To      string
	Callers int
	Calls   int           // in all; 0 for as many as there are until For is over or the load is halted
	For     time.Duration // 0 for no end
	Timeout time.Duration // of each call; 0 for none
	Wait    time.Duration // that each call takes at its handler
	Work    time.Duration // for which each call keeps a processor of its handler's node busy
	Pause   time.Duration // about how long each caller waits between two calls
	Size    int           // bytes of each call
	Keys    bool          // each call has a key, see sabir.ByKey

	Priority string // "", "critical" or "sheddable"
}

// report sums up the results of a load's calls.
type report struct {
	Calls   int
	Failed  map[string]int // by code and name
	Example string         // an error
	ByNode  map[string]int // the nodes that answered
	P50     time.Duration
	P99     time.Duration
	P999    time.Duration
	Slowest time.Duration
	Quicker time.Duration // the shortest that any took
	Took    time.Duration
}

func (r report) failures() (count int) {
	for _, n := range r.Failed {
		count += n
	}
	return count
}

func (r report) String() string {
	text := fmt.Sprintf("%d calls in %v, p50 %v, p99 %v, p99.9 %v, slowest %v", r.Calls, r.Took.Round(time.Millisecond), r.P50, r.P99, r.P999, r.Slowest.Round(10*time.Microsecond))
	if len(r.Failed) > 0 {
		text += fmt.Sprintf(", failed: %s, such as %q", names(r.Failed), r.Example)
	}
	return text
}

// load makes the calls.
func (h *host) load(w workload) report {
	var (
		began   = time.Now()
		tickets atomic.Int64
		callers sync.WaitGroup
		mu      sync.Mutex
		all     = newTally()
	)
	for range w.Callers {
		callers.Go(func() {
			own := newTally()
			for h.goesOn(w, began, &tickets) {
				h.one(w, own)
			}
			mu.Lock()
			all.add(own)
			mu.Unlock()
		})
	}
	callers.Wait()
	all.report.P50, all.report.P99, all.report.P999 = all.quantile(0.5), all.quantile(0.99), all.quantile(0.999)
	all.report.Took = time.Since(began)
	return all.report
}

// beginCalls begins the one load of a process, and returns when the first of its calls has ended.
func beginCalls(t *testing.T, p *process, w workload) (wait func() report) {
	t.Helper()
	before := p.figures().Made
	wait = begin[report](p, "load", w)
	until(t, waitLimit, "the calls are under way", func() bool { return p.figures().Made > before })
	return wait
}

func (h *host) goesOn(w workload, began time.Time, tickets *atomic.Int64) bool {
	if w.Pause > 0 {
		select {
		case <-h.halted:
		case <-time.After(w.Pause/2 + rand.N(w.Pause)):
		}
	}
	select {
	case <-h.halted:
		return false
	default:
	}
	return (w.Calls == 0 || tickets.Add(1) <= int64(w.Calls)) && (w.For == 0 || time.Since(began) < w.For)
}

// one makes one call.
func (h *host) one(w workload, into *tally) {
	var options []sabir.CallOption
	ctx := context.Background()
	switch w.Priority {
	case "critical":
		ctx = sabir.Critical(ctx)
	case "sheddable":
		ctx = sabir.Sheddable(ctx)
	}
	if w.Timeout > 0 {
		options = append(options, sabir.WithTimeout(w.Timeout))
	}
	if w.Keys {
		options = append(options, sabir.ByKey(fmt.Sprint(rand.N(1000))))
	}
	if w.To != "" {
		options = append(options, sabir.ToNode(w.To))
	}
	var (
		out   echoed
		err   error
		began = time.Now()
	)
	if w.Hold {
		_, err = sabir.Call[sabir.Empty](ctx, h, "work.hold", sabir.Empty{}, options...)
	} else {
		action := "work.echo"
		if w.Once {
			action = "work.once"
		}
		in := echo{Data: pattern[:min(w.Size, len(pattern))], Wait: w.Wait, Work: w.Work}
		out, err = sabir.Call[echoed](ctx, h, action, in, options...)
		if err == nil && string(out.Data) != string(in.Data) {
			err = sabir.NewError(sabir.CodeDataLoss, "WrongAnswer", "the answer is not what was sent")
		}
	}
	into.count(time.Since(began), out.Node, err)
	h.made.Add(1)
}

var pattern = func() []byte {
	data := make([]byte, 1<<20)
	for i := range data {
		data[i] = byte(i * i >> 4)
	}
	return data
}()

// tally counts calls. Times are counted in steps of 1/16 of a doubling, so it takes as much memory for a million.
type tally struct {
	report report
	times  [64 * 16]int
}

func newTally() *tally {
	return &tally{report: report{Failed: map[string]int{}, ByNode: map[string]int{}, Quicker: math.MaxInt64}}
}

func (t *tally) count(took time.Duration, node string, err error) {
	r := &t.report
	r.Calls++
	r.Slowest, r.Quicker = max(r.Slowest, took), min(r.Quicker, took)
	t.times[int(math.Log2(float64(max(took, 1)))*16)]++
	if err != nil {
		r.Failed[nameOf(err)]++
		r.Example = err.Error()
		return
	}
	r.ByNode[node]++
}

func (t *tally) add(other *tally) {
	r, o := &t.report, &other.report
	r.Calls += o.Calls
	r.Slowest, r.Quicker = max(r.Slowest, o.Slowest), min(r.Quicker, o.Quicker)
	for name, n := range o.Failed {
		r.Failed[name] += n
		r.Example = o.Example
	}
	for node, n := range o.ByNode {
		r.ByNode[node] += n
	}
	for i, n := range other.times {
		t.times[i] += n
	}
}

// quantile is the time that the share of all calls took at most, to 5 %.
func (t *tally) quantile(share float64) time.Duration {
	left := int(share * float64(t.report.Calls))
	for i, n := range t.times {
		if left -= n; left < 0 {
			return min(t.report.Slowest, time.Duration(math.Exp2(float64(i+1)/16))).Round(time.Microsecond)
		}
	}
	return 0
}
