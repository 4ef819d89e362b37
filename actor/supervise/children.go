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

// Info is a supervisor with its children, or a child of one.
type Info struct {
	ID         string    `json:"id,omitempty"` // that its supervisor knows it by; "" for a child of a dynamic supervisor
	PID        actor.PID `json:"pid"`          // zero while it has no process
	Behavior   string    `json:"behavior"`
	Supervisor bool      `json:"supervisor,omitempty"` // it is one
	Restart    string    `json:"restart,omitempty"`    // Child.Restart; "" where no supervisor was asked for it
	Restarts   int       `json:"restarts"`             // how often it was started again by its supervisor
	// State is "running"; "restarting", where it has no process since the last attempt to restart it failed, or since it waits for others to end;
	// "ending", where its supervisor has sent it an exit; or "ended", where it has no process and will not get one by itself.
	State string `json:"state"`

	Name     string `json:"name,omitempty"`     // of a supervisor: Config.Name
	Strategy string `json:"strategy,omitempty"` // of a supervisor: Config.Strategy
	Dynamic  bool   `json:"dynamic,omitempty"`  // of a supervisor: it was made by Dynamic
	Children []Info `json:"children,omitempty"` // of a supervisor; of those of another supervisor Tree shows them, and Describe does not
	Unlisted int    `json:"unlisted,omitempty"` // children that are not in Children, as it lists up to 1000
	Problem  string `json:"problem,omitempty"`  // why it is not known what is below a supervisor
}

// maxListed bounds the Children of an Info. Only dynamic supervisors usually have more.
const maxListed = 1000

// Describe asks a supervisor about itself and its children: in the order of their start, those of a dynamic supervisor in none. Errors
// are those of actor.Call; ErrNotHandled is from a process that is no supervisor.
func (s Supervisor) Describe(ctx context.Context) (Info, error) {
	d, err := actor.Call[description](ctx, s.from, s.to, describe{})
	if err != nil {
		return Info{}, err
	}
	i := Info{Supervisor: true, Behavior: fixedName, State: running, PID: s.to.PID()}
	if d.Dynamic {
		i.Behavior = dynamicName
	}
	i.add(d)
	return i, nil
}

// A supervisor answers about itself with a description, and in it about each child.
type (
	description struct {
		Name     string
		Strategy string
		Dynamic  bool
		Children []described
		Unlisted int
	}
	described struct {
		ID         string
		PID        actor.PID
		Behavior   string
		Supervisor bool
		Restart    string
		Restarts   int
		State      string
	}
)

// add adds to the Info of a supervisor what it answered.
func (i *Info) add(d description) {
	i.Name, i.Strategy, i.Dynamic, i.Unlisted = d.Name, d.Strategy, d.Dynamic, d.Unlisted
	i.Children = make([]Info, len(d.Children))
	for n, c := range d.Children {
		i.Children[n] = Info{ID: c.ID, PID: c.PID, Behavior: c.Behavior, Supervisor: c.Supervisor, Restart: c.Restart, Restarts: c.Restarts, State: c.State}
	}
}

type describe struct{}

func (s *supervisor) describe(*actor.Process, describe) (description, error) {
	d := description{Name: s.config.Name, Strategy: s.config.Strategy}
	listed := s.children[:min(len(s.children), maxListed)]
	d.Unlisted = len(s.children) - len(listed)
	d.Children = make([]described, len(listed))
	for i, c := range listed {
		d.Children[i] = described{c.ID, c.pid, c.Start.Behavior(), supervises(c.Start.Behavior()), c.Restart, c.restarts, c.state}
	}
	return d, nil
}
