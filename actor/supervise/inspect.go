package supervise

import "github.com/sabir-go/sabir/actor"

// What supervisors report to a node's list of processes.

var _, _ actor.Overseer = (*supervisor)(nil), (*dynamic[int])(nil)

// Oversees marks a process that supervises others.
func (s *supervisor) Oversees() {}

// Inspect returns an actor.Oversight.
func (s *supervisor) Inspect() any { return oversight(s.describe(nil, describe{})) }

// Oversees marks a process that supervises others.
func (s *dynamic[A]) Oversees() {}

// Inspect returns an actor.Oversight.
func (s *dynamic[A]) Inspect() any { return oversight(s.describe(nil, describe{})) }

func oversight(d Description, _ error) actor.Oversight {
	o := actor.Oversight{Strategy: d.Strategy.String(), Wards: make([]actor.Ward, len(d.Children)), Unlisted: d.Unlisted}
	if d.Dynamic {
		o.Strategy = "dynamic"
	}
	for i, c := range d.Children {
		o.Wards[i] = actor.Ward{ID: c.ID, PID: c.PID, Behavior: c.Behavior, Restart: c.Restart.String(), Restarts: c.Restarts, State: c.State.String()}
	}
	return o
}
