package supervise

import "github.com/sabir-go/sabir/actor/inspect"

// What supervisors report to a node's list of processes.

var _, _ inspect.Supervising = (*supervisor)(nil), (*dynamic[int])(nil)

// Supervises marks a process that supervises others.
func (s *supervisor) Supervises() {}

// Inspect returns an inspect.Supervisor.
func (s *supervisor) Inspect() any { return inspected(s.describe(nil, describe{})) }

// Supervises marks a process that supervises others.
func (s *dynamic[A]) Supervises() {}

// Inspect returns an inspect.Supervisor.
func (s *dynamic[A]) Inspect() any { return inspected(s.describe(nil, describe{})) }

func inspected(d Description, _ error) inspect.Supervisor {
	s := inspect.Supervisor{Strategy: d.Strategy.String(), Children: make([]inspect.Child, len(d.Children)), Unlisted: d.Unlisted}
	if d.Dynamic {
		s.Strategy = "dynamic"
	}
	for i, c := range d.Children {
		s.Children[i] = inspect.Child{ID: c.ID, Behavior: c.Behavior, Restart: c.Restart.String(), Restarts: c.Restarts, State: c.State}
		if !c.PID.Zero() {
			s.Children[i].PID = c.PID.String()
		}
	}
	return s
}
