package main

import (
	"fmt"
	"runtime"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

func pongName(pair int) string { return "pong" + strconv.Itoa(pair) }

// receiveAll starts the receiving process of each pair.
func receiveAll(n node, o child.Order) ([]*counter, error) {
	var counters []*counter
	for pair := range pairsOf(o) {
		c := newCounter(uint64(o.Size))
		if err := n.receive(pongName(pair), c); err != nil {
			return nil, fmt.Errorf("start %s: %w", pongName(pair), err)
		}
		counters = append(counters, c)
	}
	return counters, nil
}

// sendAll starts the sending process of each pair. begin lets them all go.
func sendAll(n node, o child.Order) (begin func() error, err error) {
	var all []func() error
	for pair := range pairsOf(o) {
		one, err := n.send(place{o.Peer, pongName(pair)}, uint64(o.Size))
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

// pingHere is the ping on one node.
func pingHere(n node, o child.Order, inside *problems) child.Job {
	return child.Job{Measure: func(time.Duration) (child.Sample, error) {
		counters, err := receiveAll(n, o)
		if err != nil {
			return child.Sample{}, err
		}
		begin, err := sendAll(n, o)
		if err != nil {
			return child.Sample{}, err
		}
		return counted(int64(o.Size*pairsOf(o)), inside, begin, func() (time.Time, faults) { return awaitAll(counters) })
	}}
}

// counted is a sample of work that has its own end.
func counted(operations int64, inside *problems, begin func() error, end func() (time.Time, faults)) (child.Sample, error) {
	runtime.GC() // what getting ready left behind is not the work's
	before, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	started := time.Now()
	if err := begin(); err != nil {
		return child.Sample{}, err
	}
	finished, found := end()
	after, err := child.CPU()
	s := child.Sample{Operations: operations, Elapsed: finished.Sub(started), CPU: after - before, Figures: map[string]float64{"memory": peak()}}
	s.Wrong, s.Problem = judge(found, inside)
	return s, err
}

// receivingSide is the receiving node of a ping across two.
func receivingSide(n node, o child.Order, inside *problems) (child.Job, error) {
	counters, err := receiveAll(n, o)
	return receives(func() (time.Time, faults) { return awaitAll(counters) }, inside), err
}

// sendingSide is the sending node.
func sendingSide(n node, o child.Order, inside *problems) (child.Job, error) {
	begin, err := sendAll(n, o)
	return sends(begin, inside), err
}
