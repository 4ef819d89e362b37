// Package inspect has the documents in which a system of processes describes itself to tools: a dashboard, the command line, a
// test. [github.com/sabir-go/sabir/actor.System] makes them with its methods Info, List, Tree and Stats, and a node with
// processes offers the same by the actions $processes.list and $processes.tree:
//
//	list, err := system.List(inspect.Query{Sort: "age", Limit: 20})
//
// Documents name a process by the text of its PID, which the method UnmarshalText of actor.PID reads.
package inspect

import "time"

// Query selects processes, as the input of $processes.list and $processes.tree. The zero Query selects all.
type Query struct {
	// Match is a part of the name, behaviour or PID, or a whole one with * for anything; "" for all. Of List only.
	Match string `json:"match,omitempty"`
	// Sort is "waiting" for the most messages first, "age" for the oldest first, or "name" for the order of names, then behaviours, those without a
	// name last. Default: "waiting". Of List only.
	Sort string `json:"sort,omitempty"`
	// Limit bounds the processes in the answer. Default and maximum: 1000.
	Limit int `json:"limit,omitempty"`
	// Depth bounds the levels below a root supervisor. Default and maximum: 20. Of Tree only.
	Depth int `json:"depth,omitempty"`
}

// Stats counts the messages that no process handled, since the system started.
type Stats struct {
	Undelivered int64 `json:"undelivered"` // to processes that had ended, or ended before they handled them
	Overflowed  int64 `json:"overflowed"`  // to full mailboxes
	NotHandled  int64 `json:"notHandled"`  // of a type that the process has no handler for
}

// Process describes a process in a List or a Tree.
type Process struct {
	PID       string        `json:"pid,omitempty"`
	Name      string        `json:"name,omitempty"`
	Behavior  string        `json:"behavior,omitempty"`
	Parent    string        `json:"parent,omitempty"` // a PID; "" if a system started it
	Life      string        `json:"life,omitempty"`   // initializing, sleeping, ready or running
	Waiting   int           `json:"waiting"`          // messages in its mailbox that count for its bound
	Bound     int           `json:"bound,omitempty"`  // of its mailbox
	Links     int           `json:"links,omitempty"`
	Monitored int           `json:"monitored,omitempty"` // monitors of it
	Age       time.Duration `json:"age,omitempty"`       // since it was started, by the system's clock; in nanoseconds
}

// Info describes one process in full.
type Info struct {
	PID       string        `json:"pid"`
	Name      string        `json:"name,omitempty"` // that it is registered under; "" for none
	Behavior  string        `json:"behavior"`
	Parent    string        `json:"parent,omitempty"`   // a PID; "" if a system started it
	Life      string        `json:"life"`               // as in Process
	Waiting   int           `json:"waiting"`            // messages in its mailbox that count for its bound
	Bound     int           `json:"bound"`              // of its mailbox
	Overflow  string        `json:"overflow"`           // what happens to one message too many
	Traps     bool          `json:"traps"`              // exits come as messages
	Links     []string      `json:"links,omitempty"`    // PIDs, sorted
	Monitors  []string      `json:"monitors,omitempty"` // PIDs that it monitors, once for each monitor, sorted
	Monitored int           `json:"monitored"`          // monitors of it
	Groups    []string      `json:"groups,omitempty"`   // that it is in
	Aliases   int           `json:"aliases"`
	Age       time.Duration `json:"age"` // since it was started, by the system's clock; in nanoseconds
}

// List describes processes of a node.
type List struct {
	Node      string    `json:"node"`
	Count     int       `json:"count"` // all processes of the node
	Stats     Stats     `json:"lost"`
	Processes []Process `json:"processes"`
	More      int       `json:"more"` // others that match
}

// Trees describes the supervision trees of a node.
type Trees struct {
	Node  string `json:"node"`
	Count int    `json:"count"` // all processes of the node
	Stats Stats  `json:"lost"`
	Trees []Tree `json:"trees"` // from supervisors that have no supervisor
	More  int    `json:"more"`  // root supervisors that are not in Trees

	Unsupervised     []Process `json:"loose"`     // some processes without a supervisor, the most messages waiting first
	MoreUnsupervised int       `json:"moreLoose"` // processes without a supervisor that are not in Unsupervised
}

// Tree is a process with the processes that it supervises.
type Tree struct {
	Process
	ID       string `json:"id,omitempty"`       // that its supervisor knows it by
	Restart  string `json:"restart,omitempty"`  // when its supervisor restarts it: permanent, transient or temporary
	Restarts int    `json:"restarts,omitempty"` // how often it did
	State    string `json:"state,omitempty"`    // its state in its supervisor: running, restarting, ending or ended
	Strategy string `json:"strategy,omitempty"` // of a supervisor
	Children []Tree `json:"children,omitempty"` // of a supervisor
	Unlisted int    `json:"unlisted,omitempty"` // children that are not in Children
	Problem  string `json:"problem,omitempty"`  // why it is not known what is below
}
