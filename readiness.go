package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/introspect"
)

const (
	// readyFor is the time for which the result of a check is given again.
	readyFor = 500 * time.Millisecond
	// readyLimit is the time that a check may take.
	readyLimit = time.Second
	// maxHanging bounds the runs of one check that do not end.
	maxHanging = 8
	// peersLimit is the time for which a node that has started is not ready since others do not know yet what it offers.
	peersLimit = 5 * time.Second
)

// Ready adds a check of what a node or a service needs from outside the process, such as a database:
//
//	sabir.NewService("users", sabir.Ready("db", db.PingContext))
//
// While it fails, the node is not ready, see [Node.Ready]: GET /ready answers 503, so that load balancers send requests elsewhere, and
// the log, $node.info, `sabir nodes` and the dashboard show the name of the check and its error. A check that takes longer than a second
// has failed, and its context has ended then. Checks run beside each other, each of them once at a time, and twice a second at most,
// however often the node is asked. One that does not end with its context is begun again beside the run that hangs, first after a second and then
// after twice the pause each time, so that it passes when what it needs is back; of those at most eight hang at once. The check of a service runs
// between the service's start and its stop.
func Ready(name string, check func(context.Context) error) interface {
	NodeOption
	ServiceOption
} {
	return readyOption{name: name, check: check, where: option.Caller()}
}

type readyOption struct {
	name  string
	check func(context.Context) error
	where option.Site
}

func (o readyOption) applyNode(n *Node) {
	if err := o.problem(); err != nil {
		n.optionProblem(err)
		return
	}
	n.readiness.add(o.make(nil))
}

func (o readyOption) applyService(s *Service) {
	if err := o.problem(); err != nil {
		s.problems = append(s.problems, err)
		return
	}
	s.checks = append(s.checks, o.make(s))
}

func (o readyOption) problem() error {
	if o.name == "" || o.check == nil {
		return fmt.Errorf("%s: Ready wants the name of what is checked, such as \"db\", and a function", o.where)
	}
	return nil
}

func (o readyOption) make(s *Service) *readyCheck {
	return &readyCheck{name: o.name, owner: s, ask: o.check}
}

// readinessExtension is an [Extension] that needs something outside the process, such as a broker.
type readinessExtension interface {
	Extension
	Ready(ctx context.Context) error
}

// readiness has the checks of a node, and whether it was ready when it was asked last.
type readiness struct {
	mu     sync.Mutex
	checks []*readyCheck
	failed string // what was wrong; "" for nothing
}

func (r *readiness) add(checks ...*readyCheck) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks = append(r.checks, checks...)
}

func (r *readiness) remove(checks ...*readyCheck) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.checks = slices.DeleteFunc(slices.Clone(r.checks), func(c *readyCheck) bool { return slices.Contains(checks, c) })
}

// results has what all checks found, in the order in which they were given.
func (r *readiness) results(ctx context.Context, n *Node) []introspect.Check {
	r.mu.Lock()
	checks := r.checks
	r.mu.Unlock()
	list := make([]introspect.Check, len(checks))
	var asked sync.WaitGroup
	for i, c := range checks {
		asked.Go(func() { list[i] = c.result(ctx, n) })
	}
	asked.Wait()
	return list
}

// awaitPeers adds a check that passes once: when the calls of all other nodes go by what this one offers, or when they had their time. So
// whoever stops another node as soon as this one is ready takes no call its last provider.
func (n *Node) awaitPeers() {
	m := n.cluster()
	if m == nil || n.joins[0].ClientOnly {
		return
	}
	until := time.Now().Add(peersLimit)
	c := &readyCheck{name: "peers"}
	c.ask = func(ctx context.Context) error {
		ctx, cancel := context.WithTimeout(ctx, readyFor)
		defer cancel()
		late := m.Unconfirmed(ctx)
		if late != nil && time.Now().Before(until) {
			return fmt.Errorf("these nodes do not know yet what this one offers: %s", strings.Join(late, ", "))
		}
		if late != nil {
			n.log.Warn("node is ready, though others have not confirmed that they know what it offers", "node", n.id, "others", late, "waited", peersLimit)
		}
		n.readiness.remove(c)
		return nil
	}
	n.readiness.add(c)
}

// Ready returns nil if calls should be sent to this node, as GET /ready does. The error is [ErrServiceUnavailable] and says what is
// wrong: the node does not run; the other nodes of the cluster have not confirmed yet that they know what it offers, for which they have five
// seconds after its start; services that its own depend on, see [DependsOn], are missing (its Data has their names as a list,
// "missing"); the node is drained, see [Node.Drain]; or a check of the function [Ready] or of an extension failed (its Data has the names as a list, "checks"). A node that is
// not ready takes calls all the same, as far as it can.
func (n *Node) Ready(ctx context.Context) error {
	_, err := n.checkReadiness(ctx)
	return err
}

// checkReadiness is Ready with what the checks found. It logs when the result is another one than the last time.
func (n *Node) checkReadiness(ctx context.Context) ([]introspect.Check, error) {
	if n.callingNode() == nil {
		return nil, errNotMade()
	}
	state := n.stateNow()
	if missing := n.unmetNeeds(state); missing != nil {
		n.noteReadiness(missing.Message)
		return nil, missing
	}
	if state != stateRunning {
		return nil, n.notReady("the node is "+state.String(), nil)
	}
	list := n.readiness.results(ctx, n)
	if n.decisions.Load().Drained(n.id) {
		return list, n.notReady("the node is drained", nil)
	}
	var names, texts []string
	for _, c := range list {
		if c.Error != "" {
			names, texts = append(names, c.Name), append(texts, c.Name+": "+c.Error)
		}
	}
	if names == nil {
		n.noteReadiness("")
		return list, nil
	}
	err := n.notReady(strings.Join(texts, "\n"), map[string]any{"checks": names})
	if ctx.Err() == nil { // else it may be the caller that did not wait
		n.noteReadiness(err.Message)
	}
	return list, err
}

// notReady is the error of a node to which calls should not be sent. It is not inlined, since that takes half a kilobyte of every program.
//
//go:noinline
func (n *Node) notReady(why string, data any) *Error {
	return &Error{Code: CodeUnavailable, Name: ErrServiceUnavailable.Name, Node: n.id, Retryable: true, Message: why, Data: data}
}

// noteReadiness logs that the node is ready no longer, or again.
func (n *Node) noteReadiness(failed string) {
	r := &n.readiness
	r.mu.Lock()
	before := r.failed
	r.failed = failed
	r.mu.Unlock()
	switch {
	case before == "" && failed != "":
		n.log.Warn("node is not ready", "node", n.id, "reason", failed)
	case before != "" && failed == "":
		n.log.Info("node is ready again", "node", n.id)
	}
}

// readyCheck runs one check and keeps its result for readyFor.
type readyCheck struct {
	name  string
	owner *Service // nil for a check of the node
	ask   func(context.Context) error

	mu      sync.Mutex
	done    chan struct{} // of the last run, closed when it has ended; nil when it has
	hanging int           // runs before it that have not
	began   time.Time     // of the last run
	ended   time.Time     // of the last run that has
	took    time.Duration
	failed  string // "" where it passed
}

// result runs the check, waits for a run that is under way, or returns a result that is new enough.
func (c *readyCheck) result(ctx context.Context, n *Node) introspect.Check {
	c.mu.Lock()
	if c.mayBegin() {
		if c.done != nil {
			c.hanging++
		}
		c.done, c.began = make(chan struct{}), time.Now()
		go c.run(n, c.done, c.began)
	}
	done, left := c.done, readyLimit-time.Since(c.began)
	c.mu.Unlock()
	if done == nil {
		return c.last()
	}
	timer := time.NewTimer(left)
	defer timer.Stop()
	select {
	case <-done:
		return c.last()
	case <-timer.C:
		return c.describe(noAnswer, readyLimit)
	case <-ctx.Done():
		return c.describe("was not asked to the end: "+ctx.Err().Error(), readyLimit-left)
	}
}

var noAnswer = fmt.Sprintf("no answer within %v", readyLimit)

// mayBegin reports whether another run is due. Where the last one hangs, since the check does not heed its context, another one that is begun later may
// pass: the first may wait for a connection that has long been replaced.
func (c *readyCheck) mayBegin() bool {
	if c.done != nil {
		return c.hanging < maxHanging-1 && time.Since(c.began) >= readyLimit<<c.hanging
	}
	return c.ended.IsZero() || time.Since(c.ended) >= readyFor
}

// run asks once. Its goroutine may outlive the limit where the check does not heed its context. Then a later run has the say.
func (c *readyCheck) run(n *Node, done chan struct{}, began time.Time) {
	ctx, cancel := context.WithTimeout(context.Background(), readyLimit)
	defer cancel()
	var failed string
	ask := func(ctx context.Context) error {
		switch err := c.ask(ctx); {
		case errors.Is(err, context.DeadlineExceeded):
			failed = noAnswer
		case err != nil:
			failed = err.Error() // here, where a panic of the error's method is caught
		}
		return nil
	}
	isolateGoroutine("the readiness check "+c.name, ctx, ask, func(err error) {
		n.logPanic(ctx, err)
		if err != nil {
			failed = err.Error()
		}
		c.mu.Lock()
		defer c.mu.Unlock()
		close(done)
		if c.done != done {
			c.hanging--
			return
		}
		c.ended, c.took, c.failed, c.done = time.Now(), time.Since(began), failed, nil
		if failed == "" && c.took > readyLimit {
			c.failed = noAnswer // as those heard who did not wait for it
		}
	})
}

func (c *readyCheck) last() introspect.Check {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.describe(c.failed, c.took)
}

func (c *readyCheck) describe(failed string, took time.Duration) introspect.Check {
	d := introspect.Check{Name: c.name, Error: failed, Took: took}
	if c.owner != nil {
		d.Service = c.owner.fullName()
	}
	return d
}

// extensionChecks makes the checks of extensions that have some.
func extensionChecks(started []Extension) (checks []*readyCheck) {
	for _, e := range started {
		if e, ok := e.(readinessExtension); ok {
			checks = append(checks, &readyCheck{name: e.Name(), ask: e.Ready})
		}
	}
	return checks
}
