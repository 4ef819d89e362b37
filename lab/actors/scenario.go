package main

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"runtime"
	"runtime/debug"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// scenario is one thing that is measured. Its figures are in the order of its columns; the first is the one that counts.
type scenario struct {
	name, title string
	columns     []column
	remote      bool // two OS processes, over loopback TCP
}

// column is a figure with how it is written.
type column struct {
	name  string
	write func(float64) string
	less  bool // the less, the better
}

// order says what a child is to do.
type order struct {
	Role      string        `json:"role"` // one of the roles in child.go
	Contender string        `json:"contender"`
	Scenario  string        `json:"scenario"`
	Address   string        `json:"address"`
	Peer      string        `json:"peer"`
	Pairs     int           `json:"pairs"`
	Messages  uint64        `json:"messages"` // of each pair
	Callers   int           `json:"callers"`
	Duration  time.Duration `json:"duration"` // of calls
	Processes int           `json:"processes"`
}

// outcome is what a run has come to.
type outcome struct {
	Figures  []float64 `json:"figures"` // one for each column
	Faults   faults    `json:"faults"`
	Problems []string  `json:"problems,omitempty"`
}

// faults are messages or calls that went wrong. Lost is exact to within publishEvery-1 messages for each pair.
type faults struct {
	Lost     uint64 `json:"lost,omitempty"`
	Disorder uint64 `json:"disorder,omitempty"`
	Wrong    uint64 `json:"wrong,omitempty"`
	Extra    uint64 `json:"extra,omitempty"`
}

func (f faults) String() string {
	var list []string
	for _, part := range []struct {
		count uint64
		what  string
	}{{f.Lost, "lost"}, {f.Disorder, "out of order"}, {f.Wrong, "wrong"}, {f.Extra, "too many"}} {
		if part.count > 0 {
			list = append(list, fmt.Sprintf("%d %s", part.count, part.what))
		}
	}
	return cmp.Or(strings.Join(list, ", "), "none")
}

func (f faults) add(g faults) faults {
	return faults{f.Lost + g.Lost, f.Disorder + g.Disorder, f.Wrong + g.Wrong, f.Extra + g.Extra}
}

// stallPatience is how long nothing may come before what has not come is lost.
const stallPatience = 20 * time.Second

// settle waits until done is closed, or nothing has moved for stallPatience. It says whether done was closed.
func settle(done <-chan struct{}, progress func() uint64) bool {
	const look = 200 * time.Millisecond
	ticker := time.NewTicker(look)
	defer ticker.Stop()
	last, still := progress(), time.Duration(0)
	for still < stallPatience {
		select {
		case <-done:
			return true
		case <-ticker.C:
			still += look
			if now := progress(); now != last {
				last, still = now, 0
			}
		}
	}
	return false
}

// wait waits until all have counted themselves.
func (t *tally) wait(what string) error {
	if !settle(t.done, func() uint64 { return uint64(t.got.Load()) }) {
		return fmt.Errorf("only %d of %d processes have %s, and no more for %s", t.got.Load(), t.want, what, stallPatience)
	}
	return nil
}

func pongName(pair int) string { return "pong" + strconv.Itoa(pair) }

// receiveAll starts the receiving process of each pair.
func receiveAll(n node, o order) ([]*counter, error) {
	var counters []*counter
	for pair := range o.Pairs {
		c := newCounter(o.Messages)
		if err := n.receive(pongName(pair), c); err != nil {
			return nil, fmt.Errorf("start %s: %w", pongName(pair), err)
		}
		counters = append(counters, c)
	}
	return counters, nil
}

// sendAll starts the sending process of each pair. begin lets them all go.
func sendAll(n node, o order) (begin func() error, err error) {
	var all []func() error
	for pair := range o.Pairs {
		one, err := n.send(place{o.Peer, pongName(pair)}, o.Messages)
		if err != nil {
			return nil, fmt.Errorf("start the sender to %s: %w", pongName(pair), err)
		}
		all = append(all, one)
	}
	return func() error {
		for _, one := range all {
			if err := one(); err != nil {
				return err
			}
		}
		return nil
	}, nil
}

// awaitAll waits for all messages and says when the last one came, and what was wrong.
func awaitAll(counters []*counter) (finished time.Time, found faults) {
	for _, c := range counters {
		if settle(c.done, c.seen.Load) && c.finished.After(finished) {
			finished = c.finished
		}
	}
	for _, c := range counters {
		found = found.add(faults{c.lost(), c.disorder.Load(), c.wrong.Load(), c.extra.Load()})
	}
	return finished, found
}

// perSecond is the rate of messages; none if any is lost.
func (o order) perSecond(elapsed time.Duration, found faults) float64 {
	if found.Lost > 0 || elapsed <= 0 {
		return 0
	}
	return float64(o.Messages) * float64(o.Pairs) / elapsed.Seconds()
}

// pingHere is the ping on one node.
func pingHere(n node, o order) (outcome, error) {
	counters, err := receiveAll(n, o)
	if err != nil {
		return outcome{}, err
	}
	begin, err := sendAll(n, o)
	if err != nil {
		return outcome{}, err
	}
	started := time.Now()
	if err := begin(); err != nil {
		return outcome{}, err
	}
	finished, found := awaitAll(counters)
	return outcome{Figures: []float64{o.perSecond(finished.Sub(started), found)}, Faults: found}, nil
}

const answerName = "answer"

// localStride is how many calls on one node share a reading of the clock, which takes about as long as a tenth of a call.
const localStride = 64

// callsTo measures calls to the answering process at a place: mean time, calls per second, and the median and 99th percentile
// of their latencies. The callers warm up for a fifth of the duration, then begin together.
func callsTo(n node, o order, to place, stride int) (outcome, error) {
	var (
		callers, warming sync.WaitGroup
		begin            = make(chan struct{})
		all              = make([]caller, o.Callers)
		problems         = make([]error, o.Callers)
	)
	warming.Add(o.Callers)
	for i := range all {
		all[i] = caller{sequence: uint64(i) << 32, stride: stride, latencies: hdrhistogram.New(1, int64(time.Minute), 3)}
		callers.Go(func() {
			warm := sync.OnceFunc(warming.Done)
			defer warm() // also where no call can be made
			problems[i] = n.calling(to, func(call func(Message) (Message, error)) error {
				if err := all[i].run(call, o.Duration/5); err != nil {
					return err
				}
				all[i].calls = 0
				all[i].latencies.Reset()
				warm()
				<-begin
				return all[i].run(call, o.Duration)
			})
		})
	}
	warming.Wait()
	started := time.Now()
	close(begin)
	callers.Wait()
	elapsed := time.Since(started)
	var (
		calls  int64
		result outcome
		total  = hdrhistogram.New(1, int64(time.Minute), 3)
	)
	for _, c := range all {
		total.Merge(c.latencies)
		calls += c.calls
		result.Faults.Wrong += c.wrong
	}
	if err := errors.Join(problems...); err != nil {
		return outcome{}, err
	}
	result.Figures = []float64{float64(elapsed) * float64(o.Callers) / float64(calls), float64(calls) / elapsed.Seconds(),
		float64(total.ValueAtQuantile(50)), float64(total.ValueAtQuantile(99))}
	return result, nil
}

// caller makes one call after another.
type caller struct {
	sequence  uint64 // of the next request
	stride    int    // calls for each reading of the clock
	calls     int64
	wrong     uint64
	latencies *hdrhistogram.Histogram // in nanoseconds, the mean of each stride
}

// run makes calls for some time, at least one stride.
func (c *caller) run(call func(Message) (Message, error), duration time.Duration) error {
	before := time.Now()
	for end := before.Add(duration); ; {
		for range c.stride {
			request := messageAt(c.sequence)
			c.sequence++
			reply, err := call(request)
			if err != nil {
				return err
			}
			if reply != request.answer() {
				c.wrong++
			}
		}
		now := time.Now()
		c.latencies.RecordValue(max(int64(now.Sub(before))/int64(c.stride), 1))
		c.calls += int64(c.stride)
		if before = now; !now.Before(end) {
			return nil
		}
	}
}

func callHere(n node, o order) (outcome, error) {
	if err := n.answer(answerName); err != nil {
		return outcome{}, err
	}
	return callsTo(n, o, place{"", answerName}, localStride)
}

// startMany starts processes that do nothing, and measures the memory they take: live heap and stacks as the runtime has them
// after a collection, and what the operating system has given after all that is free has been returned.
func startMany(n node, o order) (outcome, error) {
	heapBefore, rssBefore, err := memoryNow()
	if err != nil {
		return outcome{}, err
	}
	ready, started := newTally(o.Processes), time.Now()
	if err := n.idle(o.Processes, ready); err != nil {
		return outcome{}, err
	}
	if err := ready.wait("started"); err != nil {
		return outcome{}, err
	}
	elapsed := max(time.Since(started), 1)
	collecting := time.Now()
	runtime.GC()
	collected := time.Since(collecting)
	heap, rss, err := memoryNow()
	if err != nil {
		return outcome{}, err
	}
	each := 1 / float64(o.Processes)
	result := outcome{Figures: []float64{(heap - heapBefore) * each, (rss - rssBefore) * each, elapsed.Seconds(),
		float64(o.Processes) / elapsed.Seconds(), collected.Seconds(), float64(o.Processes)}}
	if extra := ready.got.Load() - ready.want; extra > 0 {
		result.Faults.Extra = uint64(extra)
	}
	return result, nil
}

// memoryNow is what is in use after a collection: heap and stacks, and resident memory (Linux).
func memoryNow() (used, resident float64, err error) {
	runtime.GC()
	debug.FreeOSMemory()
	var m runtime.MemStats
	runtime.ReadMemStats(&m)
	text, err := os.ReadFile("/proc/self/statm")
	if err != nil {
		return 0, 0, fmt.Errorf("the resident memory of this process: %w", err)
	}
	fields := strings.Fields(string(text))
	if len(fields) < 2 {
		return 0, 0, fmt.Errorf("/proc/self/statm has %q, want at least two numbers", text)
	}
	pages, err := strconv.ParseFloat(fields[1], 64)
	return float64(m.HeapAlloc + m.StackInuse), pages * float64(os.Getpagesize()), err
}

// publishToMany publishes one message to many processes.
func publishToMany(n node, o order) (outcome, error) {
	deliveries := newTally(o.Processes)
	subscribing := time.Now()
	send, err := n.subscribe(o.Processes, deliveries)
	if err != nil {
		return outcome{}, err
	}
	subscribed := time.Since(subscribing)
	runtime.GC() // what starting the processes left behind is not the publication's
	started := time.Now()
	if err := send(published); err != nil {
		return outcome{}, err
	}
	result := outcome{Figures: []float64{0, subscribed.Seconds(), float64(o.Processes)}}
	if err := deliveries.wait("taken the message"); err != nil {
		result.Faults.Lost = uint64(max(deliveries.want-deliveries.got.Load(), 0))
		return result, nil
	}
	result.Faults.Wrong = uint64(deliveries.wrong.Load())
	result.Figures[0] = float64(o.Processes) / deliveries.finished.Sub(started).Seconds()
	return result, nil
}
