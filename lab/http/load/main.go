// Command load measures the HTTP servers of the lab: under load of autocannon or wrk, in cold starts, or with many connections
// that do nothing. It checks a server's answers before and after. Its orders have an ask.Job.
package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"runtime"
	"time"

	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// The processes that are started here end with the thread that has started them; see endsWithThis.
func init() { runtime.LockOSThread() }

func main() { child.Main(start) }

// startTimeout is the time in which a server must listen after its start.
const startTimeout = 20 * time.Second

func start(o child.Order) (child.Job, error) {
	var job ask.Job
	if err := json.Unmarshal(o.Extra, &job); err != nil {
		return child.Job{}, fmt.Errorf("the order's extra: %w", err)
	}
	switch o.Work {
	case ask.ColdStart:
		return child.Job{Measure: func(time.Duration) (child.Sample, error) { return coldStarts(job) }}, nil
	case ask.IdleConnections:
		return child.Job{Measure: func(time.Duration) (child.Sample, error) { return idleConnections(job, o.Callers) }}, nil
	case ask.Hello, ask.UpdateUser:
		l := load{job: job, action: o.Work, address: o.Address, connections: o.Callers, pipelined: max(o.Size, 1)}
		return child.Job{Measure: l.measure}, l.ready()
	}
	return child.Job{}, fmt.Errorf("the work %q is not known", o.Work)
}

// ready waits until the server listens and checks its answers.
func (l load) ready() error {
	ctx, cancel := context.WithTimeout(context.Background(), startTimeout)
	defer cancel()
	conn, err := listening(ctx, l.address, nil)
	if err != nil {
		return err
	}
	conn.Close()
	return l.job.Server.Check(context.Background(), l.address)
}

// between is the time between two tries to connect.
const between = 200 * time.Microsecond

// listening waits until a server takes a connection; ended is closed when its process is gone, or nil.
func listening(ctx context.Context, address string, ended <-chan struct{}) (net.Conn, error) {
	for begun := time.Now(); ; {
		conn, err := (&net.Dialer{}).DialContext(ctx, "tcp", address)
		if err == nil {
			return conn, nil
		}
		select {
		case <-ended:
			return nil, errGone
		case <-ctx.Done():
			return nil, fmt.Errorf("the server did not listen on %s within %s", address, time.Since(begun).Round(time.Millisecond))
		case <-time.After(between):
		}
	}
}
