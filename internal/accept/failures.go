// Package accept has what servers do that cannot accept a connection: they wait, and say why, and what helps.
package accept

import (
	"log/slog"
	"syscall"
	"time"
)

// Failures waits and logs where Accept of one listener fails. It is used by the goroutine that accepts alone.
type Failures struct {
	log             *slog.Logger
	address, others string
	wait            time.Duration
	causes          []cause     // those there were
	failed          int         // since connections were last accepted for a while
	again           *time.Timer // logs that they are, unless Accept fails before; nil while it fails, and before it ever did
}

type cause struct {
	number syscall.Errno // 0 for all others
	logged time.Time
	count  int // of failures that are not logged
}

const (
	firstWait = time.Millisecond
	lastWait  = time.Second
	// interval is the time between two lines of one cause, and the time without a failure after which connections are accepted
	// again. Whoever reaches the port can cause the lines.
	interval = time.Second
)

// NewFailures makes Failures. The lines of the log tell which address it is that others cannot connect to, and who these are, such as "nodes".
func NewFailures(log *slog.Logger, address, others string) *Failures {
	return &Failures{log: log, address: address, others: others}
}

// Pause counts a failure of Accept, logs it unless one of the same cause was logged within a second, and waits, from one time to the next
// longer, up to a second. It returns when done is closed.
func (f *Failures) Pause(err error, done <-chan struct{}) {
	if f.again != nil && !f.again.Stop() {
		f.failed = 0 // the line was logged, and this is the next time
	}
	f.again = nil
	f.failed++
	f.wait = min(max(firstWait, 2*f.wait), lastWait)
	c := f.cause(numberOf(err))
	c.count++
	if now := time.Now(); now.Sub(c.logged) >= interval {
		f.log.Warn("connections are not accepted for the moment", "error", Explain(err), "count", c.count, "address", f.address, "from", f.others)
		c.logged, c.count = now, 0
	}
	select {
	case <-time.After(f.wait):
	case <-done:
	}
}

// Accepted notes that Accept succeeded. Where it had failed, and does not fail again within a second, one line says that it is over: at a
// bound of open files each connection that ends lets one in, and the next one fails.
func (f *Failures) Accepted() {
	f.wait = 0
	if f.failed == 0 || f.again != nil {
		return
	}
	failed := f.failed
	f.again = time.AfterFunc(interval, func() {
		f.log.Info("connections are accepted again", "failed", failed, "address", f.address, "from", f.others)
	})
}

func (f *Failures) cause(number syscall.Errno) *cause {
	for i := range f.causes {
		if f.causes[i].number == number {
			return &f.causes[i]
		}
	}
	f.causes = append(f.causes, cause{number: number})
	return &f.causes[len(f.causes)-1]
}
