// Package supervising has what supervisors report to the trees of package inspect.
package supervising

// State is implemented by the states of processes that supervise others. Their Inspect returns a [Supervisor], and a tree
// shows their children below them.
type State interface {
	Inspect() any
	Supervises()
}

// Supervisor describes a supervisor and the processes that it supervises.
type Supervisor struct {
	Strategy string  `json:"strategy"`
	Children []Child `json:"wards"`
	Unlisted int     `json:"unlisted,omitempty"` // that are not in Children
}

// Child is a supervised process.
type Child struct {
	ID       string `json:"id,omitempty"`
	PID      string `json:"pid,omitempty"` // "" while it has no process
	Behavior string `json:"behavior"`
	Restart  string `json:"restart"`
	Restarts int    `json:"restarts"`
	State    string `json:"state"`
}
