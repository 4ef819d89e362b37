package actor

import (
	"context"
	"fmt"
	"strings"
)

// Stepping has callbacks for the code that steps a system without workers; each may be nil. They run on the goroutine that
// steps or starts a process, and must not use the system.
type Stepping struct {
	// Started is called when a process was started, before its Init runs.
	Started func(pid, parent PID, behavior string)
	// Ended is called when a process has ended, also one whose Init has failed.
	Ended func(pid PID, behavior string, reason error)
	// Stuck reports that a call of a process cannot be answered, because no process is ready. The call fails with
	// ErrCallTimeout.
	Stuck func(problem string, to PID)
}

// Stepped makes a system without workers, for tests that are to run the same way each time: its processes run only in Step,
// and in calls, one after another in the order in which they became ready. Package actortest is made of it. Nothing is held
// back when a callback sends. What differs:
//
//   - a call runs other processes until it is answered, and fails where none is ready;
//   - a sender that waits for space in a mailbox does the same;
//   - InitTimeout is not looked at.
//
// Such a system is used by one goroutine at a time. With a Clock that the test moves, nothing depends on time.
func Stepped(to Stepping) Option {
	return func(s *System) { s.scheduler.stepping = &stepping{system: s, hooks: to} }
}

// stepping replaces the workers of a system that is stepped.
type stepping struct {
	system       *System
	hooks        Stepping
	spare        []*worker     // unused now; a Step inside a call inside a Step needs another
	pendingCalls []pendingCall // calls in progress, the innermost last
}

// pendingCall is a call that steps other processes until it is answered.
type pendingCall struct {
	from, to PID
	with     string
}

func (q pendingCall) String() string {
	who := "the test"
	if !q.from.Zero() {
		who = q.from.String()
	}
	return fmt.Sprintf("%s calls %s with %s", who, q.to, q.with)
}

// Step lets the process that became ready first handle one message, in a system that was made with Stepped. It reports whether
// there was one.
func (s *System) Step() bool {
	c := &s.scheduler
	if c.stepping == nil {
		panic("actor: Step is for systems made with Stepped")
	}
	c.mu.Lock()
	at := c.take()
	var w *worker
	if n := len(c.stepping.spare); at != nil && n > 0 {
		w = c.stepping.spare[n-1]
		c.stepping.spare = c.stepping.spare[:n-1]
	}
	c.mu.Unlock()
	if at == nil {
		return false
	}
	if w == nil {
		w = &worker{scheduler: c}
		w.self.system = s // without a worker: there is no other to take its place
		w.self.box.owner = &w.self
	}
	w.drain(at)
	c.mu.Lock()
	c.stepping.spare = append(c.stepping.spare, w)
	c.mu.Unlock()
	return true
}

// call steps processes until waits reports that the call was answered.
func (st *stepping) call(ctx context.Context, by *Process, to PID, with string, waits func() bool, fail func(error)) {
	q := pendingCall{to: to, with: with}
	if by != nil {
		q.from = by.pid
	}
	st.pendingCalls = append(st.pendingCalls, q)
	for waits() {
		if err := ctx.Err(); err != nil {
			fail(err)
		} else if !st.system.Step() {
			fail(st.stuck())
		}
	}
	st.pendingCalls = st.pendingCalls[:len(st.pendingCalls)-1]
}

// stuck describes the call that will never be answered, and calls Stuck.
func (st *stepping) stuck() error {
	last := len(st.pendingCalls) - 1
	text := st.pendingCalls[last].String() + ", and nobody who is ready will answer"
	var outer []string
	for _, q := range st.pendingCalls[:last] {
		outer = append(outer, q.String())
	}
	if outer != nil {
		text += "; meanwhile " + strings.Join(outer, "; ")
	}
	if st.hooks.Stuck != nil {
		st.hooks.Stuck(text, st.pendingCalls[last].to)
	}
	return problem(ErrCallTimeout, st.system.nodeName(), "%s", text)
}

// runToEnd is the rest of System.Stop.
func (st *stepping) runToEnd() error {
	s := st.system
	for s.Step() {
	}
	if s.processes.count() == 0 {
		return nil
	}
	left := s.processes.count()
	for pid := range s.all() {
		s.Kill(pid)
	}
	for s.Step() {
	}
	return fmt.Errorf("actor: %d processes did not end when they were told to, and were killed", left)
}
