// Package work has the parts that all programs that make calls share: the type of a contender, and the work that the lab orders.
package work

import (
	"fmt"
	"time"

	"github.com/sabir-go/sabir/lab/child"
)

// Contender is one way to get a message from one process to another, and back.
type Contender struct {
	Name string // in child.Order.Row

	// Serve starts the server's side at an address and returns when it listens. With a broker, the address is its URL.
	Serve func(address string) (stop func(), err error)
	// Dial starts the client's side for a number of concurrent callers.
	Dial func(address string, callers int) (*Client, error)
}

// The roles of a process: child.Order.Role.
const (
	Server = "server"
	Caller = "client" // it measures
	Alone  = "alone"  // both of them in one process; it measures
)

// What is measured: child.Order.Work.
const (
	Call   = "call"   // the 677-byte message there and back
	Echo   = "echo"   // a blob of child.Order.Size bytes there and back
	Mixed  = "mixed"  // blobs of 10 bytes to 1 MiB there and back
	Stream = "stream" // blobs one way, counted by the server
	Batch  = "batch"  // 25 messages of 677 bytes as one, answered by one of 25 of 611 bytes
)

// Client is the client's side of a contender. Of its functions those are set whose work the contender can do; each is called
// once for each caller.
type Client struct {
	Say   func(caller int) RoundTrip
	Echo  func(caller, size int) RoundTrip
	Push  func(caller, size int) (*Pushing, error)
	Batch Batching
	Fixed bool // each caller's Echo is of one size for ever
	Close func()
}

// RoundTrip makes one call and checks its reply: always that it is the reply of this call, with full every field.
type RoundTrip func(sequence int, full bool) error

// Main is the main function of a program with such contenders.
func Main(contenders []Contender) {
	child.Main(func(o child.Order) (child.Job, error) { return Start(contenders, o) })
}

// Start makes a process ready for its order.
func Start(contenders []Contender, o child.Order) (child.Job, error) {
	for _, c := range contenders {
		if c.Name == o.Row {
			return c.start(o)
		}
	}
	return child.Job{}, fmt.Errorf("no contender is called %q", o.Row)
}

func (c Contender) start(o child.Order) (child.Job, error) {
	switch o.Role {
	case Server:
		stop, err := c.Serve(o.Address)
		return child.Job{Stop: stop}, err
	case Caller:
		return c.call(o)
	case Alone:
		stop, err := c.Serve(o.Address)
		if err != nil {
			return child.Job{}, err
		}
		job, err := c.call(o)
		if err != nil {
			stop()
			return child.Job{}, err
		}
		hangUp := job.Stop
		job.Stop = func() { hangUp(); stop() }
		return job, nil
	}
	return child.Job{}, fmt.Errorf("no role is called %q", o.Role)
}

func (c Contender) call(o child.Order) (child.Job, error) {
	dialed, err := c.Dial(o.Address, o.Callers)
	if err != nil {
		return child.Job{}, err
	}
	measure, err := dialed.measuring(o)
	if err != nil {
		dialed.Close()
		return child.Job{}, err
	}
	return child.Job{Measure: measure, Stop: dialed.Close}, nil
}

// measuring returns the function that does the ordered work. Its first call is the warm-up: every reply is checked in full.
func (c *Client) measuring(o child.Order) (func(time.Duration) (child.Sample, error), error) {
	switch {
	case o.Callers < 1:
		return nil, fmt.Errorf("%d callers", o.Callers)
	case o.Work == Call && c.Say != nil:
		return calling(o, c.Say), nil
	case o.Work == Echo && c.Echo != nil:
		measure := calling(o, func(caller int) RoundTrip { return c.Echo(caller, o.Size) })
		return func(d time.Duration) (child.Sample, error) { return withVolume(o.Size)(measure(d)) }, nil
	case o.Work == Mixed && c.Echo != nil && !c.Fixed:
		return mixing(o, c.Echo), nil
	case o.Work == Stream && c.Push != nil:
		return func(d time.Duration) (child.Sample, error) { return withVolume(o.Size)(c.push(d, o.Callers, o.Size)) }, nil
	case o.Work == Batch && c.Batch != nil:
		b, err := newBatches(c, o.Callers)
		if err != nil {
			return nil, err
		}
		return b.measure, nil
	}
	return nil, fmt.Errorf("%s cannot do %q", o.Row, o.Work)
}

// withVolume adds the figure "megabytes": those of one direction, a second.
func withVolume(size int) func(child.Sample, error) (child.Sample, error) {
	return func(s child.Sample, err error) (child.Sample, error) {
		if s.Elapsed > 0 {
			s.Figures = map[string]float64{"megabytes": float64(s.Operations) * float64(size) / 1e6 / s.Elapsed.Seconds()}
		}
		return s, err
	}
}
