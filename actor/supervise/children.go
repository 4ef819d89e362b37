package supervise

import (
	"context"

	"github.com/sabir-go/sabir/actor"
)

// The states of a child, as Info has them.
const (
	running    = "running"
	restarting = "restarting"
	ending     = "ending"
	ended      = "ended"
)

// Info is a child as its supervisor sees it.
type Info struct {
	ID         string    `json:"id,omitempty"` // "" for a child of a dynamic supervisor
	PID        actor.PID `json:"pid"`          // zero while it has no process
	Behavior   string    `json:"behavior"`
	Supervisor bool      `json:"supervisor,omitempty"` // it is one
	Restart    Restart   `json:"restart"`
	Restarts   int       `json:"restarts"` // how often it was started again by its supervisor
	// State is "running"; "restarting", where it has no process since the last attempt to restart it failed, or since it waits for others to end;
	// "ending", where its supervisor has sent it an exit; or "ended", where it has no process and will not get one by itself.
	State string `json:"state"`
}

// Description is a supervisor with its children.
type Description struct {
	Name     string   `json:"name,omitempty"` // see Config.Name
	Strategy Strategy `json:"strategy"`
	Dynamic  bool     `json:"dynamic,omitempty"` // see Dynamic
	Children []Info   `json:"children"`
	Unlisted int      `json:"unlisted,omitempty"` // children that are not in Children, as it lists up to 1000
}

// maxListed bounds the children in a Description. Only dynamic supervisors usually have more.
const maxListed = 1000

// Describe asks a supervisor about its children: in the order of their start, those of a dynamic supervisor in none. Errors
// are those of actor.Call; ErrNotHandled is from a process that is no supervisor.
func Describe[A actor.Address](ctx context.Context, from actor.Sender, supervisor A) (Description, error) {
	return actor.Call[Description](ctx, from, supervisor, describe{})
}

// Children is the children of Describe.
func Children[A actor.Address](ctx context.Context, from actor.Sender, supervisor A) ([]Info, error) {
	d, err := Describe(ctx, from, supervisor)
	return d.Children, err
}

type describe struct{}

func (s *supervisor) describe(*actor.Process, describe) (Description, error) {
	d := Description{Name: s.config.Name, Strategy: s.config.Strategy}
	listed := s.children[:min(len(s.children), maxListed)]
	d.Unlisted = len(s.children) - len(listed)
	d.Children = make([]Info, len(listed))
	for i, c := range listed {
		d.Children[i] = Info{c.ID, c.pid, c.Start.Behavior(), supervises(c.Start.Behavior()), c.Restart, c.restarts, c.state}
	}
	return d, nil
}
