package main

import (
	"runtime"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// publications is the name of the one event.
const publications = "publications"

// publishHere publishes one message to many processes of one node.
func publishHere(n node, processes int, inside *problems) child.Job {
	return child.Job{Measure: func(time.Duration) (child.Sample, error) {
		send, err := n.publisher()
		if err != nil {
			return child.Sample{}, err
		}
		deliveries, subscribing := newTally(processes), time.Now()
		if err := n.subscribe("", processes, deliveries); err != nil {
			return child.Sample{}, err
		}
		subscribed := time.Since(subscribing)
		s, err := counted(int64(processes), inside, func() error { return send(published) }, deliveries.await)
		if err != nil {
			return child.Sample{}, err
		}
		s.Figures["subscribe"], s.Figures["processes"] = float64(subscribed), float64(processes)
		return s, nil
	}}
}

// await waits for all deliveries and says when the last one was, and what was wrong.
func (t *tally) await() (time.Time, faults) {
	if t.wait("taken the message") != nil {
		return time.Now(), faults{Lost: uint64(t.want - t.got.Load())}
	}
	return t.finished, faults{Wrong: uint64(t.wrong.Load())}
}

// publishingSide is the node that has the event.
func publishingSide(n node, inside *problems) (child.Job, error) {
	send, err := n.publisher()
	return sends(func() error { return send(published) }, inside), err
}

// subscribedSide is the other node, with the subscribers.
func subscribedSide(n node, o child.Order, inside *problems) (child.Job, error) {
	deliveries := newTally(o.Size)
	err := n.subscribe(o.Peer, o.Size, deliveries)
	runtime.GC() // as in counted
	return receives(deliveries.await, inside), err
}
