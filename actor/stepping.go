package actor

import (
	"context"
	"fmt"
	"strings"
)

// Stepping is what a system without workers tells whoever steps it; each may be nil. They run on the goroutine that steps or
// starts a process, and must not use the system.
type Stepping struct {
	// Started tells that a process was started, before its Init runs.
	Started func(pid, parent PID, behavior string)
	// Ended tells that a process has ended, also one whose Init has failed.
	Ended func(pid PID, behavior string, reason error)
	// Stuck tells that a call of a process cannot be answered, because no process is ready. The call fails with
	// ErrCallTimeout.
	Stuck func(problem string, to PID)
}

// Stepped makes a system without workers, for tests that are to run the same way each time: its processes run only in Step,
// and in calls, one after another in the order in which they became ready. Package actortest is made of it. Nothing is held
// back when a callback sends. What differs:
//
//   - a call runs other processes until it is answered, and fails where none is ready;
//   - a sender that waits for room in a mailbox does the same;
//   - InitTimeout is not looked at.
//
// Such a system is used by one goroutine at a time. With a Clock that the test moves, nothing depends on time.
func Stepped(to Stepping) Option {
	return func(s *System) { s.crew.stepping = &stepping{tell: to} }
}

// stepping is the crew of a system that is stepped.
type stepping struct {
	tell   Stepping
	spare  []*worker  // that drain nothing now; one for each Step within a call within a Step
	asking []question // the calls that go on, the innermost last
}

// question is a call that runs other processes until it is answered.
type question struct {
	from, to PID
	with     string
}

func (q question) String() string {
	who := "the test"
	if !q.from.Zero() {
		who = q.from.String()
	}
	return fmt.Sprintf("%s calls %s with %s", who, q.to, q.with)
}

// Step lets the process that became ready first handle one message, in a system that was made with Stepped. It tells whether
// there was one.
func (s *System) Step() bool {
	c := &s.crew
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
		w = &worker{crew: c}
		w.self.system = s // without a worker: there is no other to take its place
		w.self.box.owner = &w.self
	}
	w.drain(at)
	c.mu.Lock()
	c.stepping.spare = append(c.stepping.spare, w)
	c.mu.Unlock()
	return true
}

// stepCall runs processes until a call is answered.
func (s *System) stepCall(ctx context.Context, by *Process, to PID, with string, waits func() bool, fail func(error)) {
	st := s.crew.stepping
	q := question{to: to, with: with}
	if by != nil {
		q.from = by.pid
	}
	st.asking = append(st.asking, q)
	for waits() {
		if err := ctx.Err(); err != nil {
			fail(err)
		} else if !s.Step() {
			fail(s.stuck())
		}
	}
	st.asking = st.asking[:len(st.asking)-1]
}

// stuck says which call will never be answered, and tells whoever steps.
func (s *System) stuck() error {
	st := s.crew.stepping
	last := len(st.asking) - 1
	text := st.asking[last].String() + ", and nobody who is ready will answer"
	var outer []string
	for _, q := range st.asking[:last] {
		outer = append(outer, q.String())
	}
	if outer != nil {
		text += "; meanwhile " + strings.Join(outer, "; ")
	}
	if st.tell.Stuck != nil {
		st.tell.Stuck(text, st.asking[last].to)
	}
	return problem(ErrCallTimeout, s.homeName(), "%s", text)
}

// stepToEnd is the rest of Stop.
func (s *System) stepToEnd() error {
	for s.Step() {
	}
	if s.table.count() == 0 {
		return nil
	}
	left := s.table.count()
	for pid := range s.all() {
		s.Kill(pid)
	}
	for s.Step() {
	}
	return fmt.Errorf("actor: %d processes did not end when they were told to, and were killed", left)
}
