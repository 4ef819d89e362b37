package actor

import (
	"context"
	"fmt"
	"strings"

	seam "github.com/sabir-go/sabir/actor/internal/stepping"
)

func init() {
	seam.NewSystem, seam.Step = newSystem, (*System).step
}

// stepping replaces the workers in a system for tests that run the same way each time: its processes run only in step, and in
// calls, one after another in the order in which they became ready. Nothing is held back when a callback sends. What differs:
//
//   - a call runs other processes until it is answered, and fails where none is ready;
//   - a sender that waits for space in a mailbox does the same;
//   - InitTimeout is not looked at.
//
// Such a system is used by one goroutine at a time. With a clock that the test moves, nothing depends on time.
type stepping struct {
	system       *System
	hooks        *seam.Hooks[PID]
	spare        []*worker     // unused now; a step inside a call inside a step needs another
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

// step lets the process that became ready first handle one message, and reports whether there was one.
func (s *System) step() bool {
	c := &s.scheduler
	if c.stepping == nil {
		panic("actor: only a system without workers is stepped")
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
		} else if !st.system.step() {
			fail(st.stuck())
		}
	}
	st.pendingCalls = st.pendingCalls[:len(st.pendingCalls)-1]
}

// stuck describes the call that will never be answered, and calls the hook.
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
	for s.step() {
	}
	if s.processes.count() == 0 {
		return nil
	}
	left := s.processes.count()
	for pid := range s.all() {
		s.Kill(pid)
	}
	for s.step() {
	}
	return fmt.Errorf("actor: %d processes did not end when they were asked to, and were killed", left)
}
