// Package introspect holds the documents by which nodes describe themselves: the inputs and outputs of the actions of $node,
// the service that every node has. The command line and the dashboard are made of them, and so can a tool of your own be:
//
//	nodes, err := sabir.Call[[]introspect.Node](ctx, node, "$node.nodes", sabir.Empty{})
//	for _, n := range nodes {
//		actions, err := sabir.Call[[]introspect.Action](ctx, node, "$node.actions", sabir.Empty{}, sabir.ToNode(n.ID))
//		…
//	}
//
// The methods Info, Nodes and Services of sabir.Node give the same documents without a call. All of them are plain values with
// one form as JSON.
package introspect

import "time"

// Node describes a node of the cluster: the output of $node.info, and of $node.nodes for each that the asked one is linked with.
type Node struct {
	ID         string            `json:"id"`
	State      string            `json:"state"` // "not started", "starting", "running", "stopping" or "stopped"
	Since      time.Time         `json:"since"`
	Addr       string            `json:"addr,omitempty"`      // where its links are dialled; "" outside a cluster
	AdminAddr  string            `json:"adminAddr,omitempty"` // where probes and metrics are, see package admin; $node.info has it
	Zone       string            `json:"zone,omitempty"`
	Labels     map[string]string `json:"labels,omitempty"`
	ClientOnly bool              `json:"guest,omitempty"`  // it joined with cluster.Config.ClientOnly
	Codecs     []string          `json:"codecs,omitempty"` // formats that it takes; nil for any
	Host       string            `json:"host"`
	PID        int               `json:"pid"`
	Go         string            `json:"go"`
	CPUs       int               `json:"cpus"`
	Framework  string            `json:"framework,omitempty"` // of a node that a bridge speaks with, such as "moleculer 0.15.2"; "" for Sabir's own
	Services   int               `json:"services"`
	Actions    int               `json:"actions"`
	// Load is its load in its last heartbeat.
	Load struct {
		CPU      float64 `json:"cpu"`      // share of its processors that its process uses, 0 to 1
		InFlight int     `json:"inFlight"` // calls from other nodes that it is serving
	} `json:"load"`
	// Memory counts the bytes that wait in the node for something slow; see sabir.Limits. $node.info has it.
	Memory struct {
		Waiting int64 `json:"waiting"` // bytes
		Streams int64 `json:"streams"` // bytes of them in streams and in answers over HTTP
		Limit   int64 `json:"limit"`   // bytes
		Refused int64 `json:"refused"` // values and streams that there was no space for, since the node was made
		Ended   int64 `json:"ended"`   // streams and answers that were cut off, since their receivers stood still
	} `json:"memory,omitzero"`
	RTT   time.Duration `json:"rtt,omitempty"`   // of a ping over the link to it, in nanoseconds
	Links int           `json:"links,omitempty"` // connections that calls go over: from the node that was asked to it, or of that node to all others; 0 where the first call makes one
	// NotReady says why calls should rather go to other nodes, as GET /ready does; "" where they may come. $node.info has it.
	NotReady string `json:"notReady,omitempty"`
	// Checks are the last results of the checks of readiness of its services and extensions. $node.info has them.
	Checks []Check `json:"checks,omitempty"`

	// Unmet lists services that those of the node depend on and that no node offers; see sabir.DependsOn. Of another node than the one that is asked
	// for $node.nodes it has those that services wait for before they start.
	Unmet []Dependency `json:"unmet,omitempty"`

	// Refused counts what the node took from nobody, since its start. $node.info has it, and the node that is asked for $node.nodes of itself.
	Refused Refused `json:"refused,omitzero"`

	Drained bool `json:"drained,omitempty"` // calls and events go to other nodes where there are some, see sabir.Node.Drain

	Routes []Route `json:"routes,omitempty"` // how calls are shared out, as this node knows it. $node.info has it, and the node that is asked for $node.nodes of itself

	// As the node that was asked sees it by its own calls; empty for itself.
	Silent  bool      `json:"silent,omitempty"`  // it answers nothing for the moment: calls prefer others
	LeftOut []LeftOut `json:"leftOut,omitempty"` // actions of it that get no calls for a while
}

// Route says how the calls of a name are shared out in the whole cluster: the input of $node.route, which answers with the list of all that are
// set. Call it with sabir.CallJSON. Without shares the name's route ends, and without a name nothing changes.
type Route struct {
	Name   string  `json:"name"`             // of an action, or a pattern: "users.get", "users.*"
	Shares []Share `json:"shares,omitempty"` // 100 % together at most; the rest goes where it would go without
	// Undrain is a node whose drain ends, in the input only. Any node can be asked, so that it ends for one that has gone and would be drained still
	// when it comes back.
	Undrain string `json:"undrain,omitempty"`
}

// Share is a part of the calls, and where it goes: "v2", a version of the service, for calls of the name without a version; "node=a", a node; or
// "track=canary", the nodes with that label. A route has shares of versions, or of nodes.
type Share struct {
	To      string  `json:"to"`
	Percent float64 `json:"percent"`
}

// Check is the last result of a check of readiness; see sabir.Ready.
type Check struct {
	Name    string        `json:"name"`
	Service string        `json:"service,omitempty"` // full name; "" for a check of the node or of an extension
	Error   string        `json:"error,omitempty"`   // "" where it passed
	Took    time.Duration `json:"took"`              // in nanoseconds
}

// Refused counts what a node refused. A number that grows means that somebody tries, or that a program speaks wrongly.
type Refused struct {
	// Forged are packets, records and announcements that no holder of the cluster key made, or that were changed or repeated on the way.
	Forged uint64 `json:"forged,omitempty"`
	// HTTPHeads are requests over HTTP whose form RFC 9112 does not allow, or lets a server refuse.
	HTTPHeads uint64 `json:"httpHeads,omitempty"`
}

// LeftOut is an action that answers worse on a node than on the others, so that it gets no calls there for a while; see cluster.Outlier.
// It is also the payload of the events "$node.left_out" and "$node.returned", which the node that sends no calls emits.
type LeftOut struct {
	Node   string    `json:"node"` // that gets no calls
	By     string    `json:"by"`   // whose calls show it, and that sends none there
	Action string    `json:"action"`
	Reason string    `json:"reason,omitempty"` // "" in "$node.returned"
	Since  time.Time `json:"since,omitzero"`
	Until  time.Time `json:"until,omitzero"` // when a call will try the node
	Times  int       `json:"times"`          // how often that was lately
}

// Service describes a running service: $node.services lists those that a node knows, of its own and of other nodes.
type Service struct {
	Name        string    `json:"name"` // full name
	Version     int       `json:"version,omitempty"`
	Group       string    `json:"group,omitempty"`
	Description string    `json:"description,omitempty"`
	Node        string    `json:"node"`
	Needs       []string  `json:"needs"`
	Actions     []string  `json:"actions"`        // full names
	Events      []string  `json:"events"`         // patterns
	Since       time.Time `json:"since,omitzero"` // on this node; zero for one of another
}

// Dependency is something that a service of a node depends on, beside one offer of it: $node.dependencies lists them.
type Dependency struct {
	Service string `json:"service"`           // full name of the one that depends
	On      string `json:"on"`                // full name of an action, or of a service
	Node    string `json:"node,omitempty"`    // that offers the action; "" where none does, and for a service
	Problem string `json:"problem,omitempty"` // why calls of it fail, or answer what cannot be read; "" where they can be served
}

// String is one line.
func (d Dependency) String() string {
	line := d.Service + " depends on " + d.On
	if d.Node != "" {
		line += " of node " + d.Node
	}
	if d.Problem != "" {
		line += ": " + d.Problem
	}
	return line
}

// Action describes an action in the list of $node.actions.
type Action struct {
	Name        string   `json:"name"`
	Service     string   `json:"service"`
	Version     int      `json:"version,omitempty"`
	Node        string   `json:"node"`
	Description string   `json:"description,omitempty"`
	Visibility  string   `json:"visibility"` // who may call it: "public" for all callers, over HTTP too, "cluster" for nodes of the cluster, "private" for callers on its node
	Stream      bool     `json:"stream,omitempty"`
	Shape       Shape    `json:"shape,omitempty"` // of a stream; "" for one with any number of values both ways
	Inline      bool     `json:"inline,omitempty"`
	In          string   `json:"in"`              // Go type; of an action of another framework what is known of it, as "{id: number}"
	Out         string   `json:"out"`             // Go type
	Nodes       []string `json:"nodes,omitempty"` // of an action of other nodes: those that offer it
}

// Shape says in which direction a stream has one value only.
type Shape string

// The shapes of streams; "" is any number of values both ways.
const (
	ServerStream Shape = "server" // one value comes in
	ClientStream Shape = "client" // one value goes out
)

// Reachable is an address that a node answers over HTTP: $node.http lists them, by path.
type Reachable struct {
	Method    string `json:"method"` // "*" for any
	Path      string `json:"path"`
	Action    string `json:"action,omitempty"`    // full name; "" for what is no action
	Forwarded bool   `json:"forwarded,omitempty"` // other nodes offer the action
	Callers   string `json:"callers"`             // in words: "everyone", "who is signed in", "role clerk or admin", "operators: ops"
}

// String is one line: "POST /orders/place: role clerk".
func (r Reachable) String() string { return r.Method + " " + r.Path + ": " + r.Callers }

// Status is a status of HTTP with which an action may answer.
type Status struct {
	Status  int      `json:"status"`
	Headers []string `json:"headers,omitempty"` // that come with it
}
