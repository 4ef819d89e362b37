package supervise

import "github.com/sabir-go/sabir/actor/internal/supervising"

// What supervisors report to a node's list of processes.

var _, _ supervising.State = (*supervisor)(nil), (*dynamic[int])(nil)

// Supervises marks a process that supervises others.
func (s *supervisor) Supervises() {}

// Inspect returns a supervising.Supervisor.
func (s *supervisor) Inspect() any { return inspected(s.describe(nil, describe{})) }

// Supervises marks a process that supervises others.
func (s *dynamic[A]) Supervises() {}

// Inspect returns a supervising.Supervisor.
func (s *dynamic[A]) Inspect() any { return inspected(s.describe(nil, describe{})) }

func inspected(d description, _ error) supervising.Supervisor {
	s := supervising.Supervisor{Strategy: d.Strategy, Children: make([]supervising.Child, len(d.Children)), Unlisted: d.Unlisted}
	if d.Dynamic {
		s.Strategy = "dynamic"
	}
	for i, c := range d.Children {
		s.Children[i] = supervising.Child{ID: c.ID, Behavior: c.Behavior, Restart: c.Restart, Restarts: c.Restarts, State: c.State}
		if !c.PID.Zero() {
			s.Children[i].PID = c.PID.String()
		}
	}
	return s
}
