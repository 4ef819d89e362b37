package work

import (
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// Pushing is one stream of blobs from client to server.
type Pushing struct {
	Send func() error
	// Finish ends the stream and returns what the server has received.
	Finish func() (messages, bytes int64, err error)
}

// clockEach is the number of messages that a stream sends between two readings of the clock.
const clockEach = 64

// push measures streams: each caller opens one, sends until the time is up, one message at least, and then asks the server
// what has come. Messages that the server has not counted are wrong.
func (c *Client) push(d time.Duration, callers, size int) (child.Sample, error) {
	type result struct {
		sent, counted int64
		problem       error
		_             [64]byte
	}
	var stop atomic.Bool
	var running sync.WaitGroup
	all := make([]result, callers)
	before, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	started := time.Now()
	for i := range all {
		running.Go(func() { all[i].sent, all[i].counted, all[i].problem = c.pushOne(i, size, &stop) })
	}
	timer := time.AfterFunc(d, func() { stop.Store(true) })
	defer timer.Stop()
	running.Wait()
	s := child.Sample{Elapsed: time.Since(started)}
	after, err := child.CPU()
	if err != nil {
		return child.Sample{}, err
	}
	s.CPU = after - before
	for _, r := range all {
		s.Operations += r.counted
		if r.problem == nil {
			continue
		}
		s.Wrong += max(r.sent-r.counted, 1)
		if s.Problem == "" {
			s.Problem = r.problem.Error()
		}
	}
	return s, nil
}

func (c *Client) pushOne(caller, size int, stop *atomic.Bool) (sent, counted int64, err error) {
	stream, err := c.Push(caller, size)
	if err != nil {
		return 0, 0, err
	}
	var sending error
	for sending == nil && (sent == 0 || sent%clockEach != 0 || !stop.Load()) {
		if sending = stream.Send(); sending == nil {
			sent++
		}
	}
	counted, bytes, err := stream.Finish()
	if err := errors.Join(sending, err); err != nil {
		return sent, counted, err
	}
	if counted != sent || bytes != sent*int64(size) {
		return sent, counted, fmt.Errorf("sent %d messages of %d bytes, the server counted %d with %d bytes", sent, size, counted, bytes)
	}
	return sent, counted, nil
}
