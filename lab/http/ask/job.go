package ask

// Job is the Extra of a child.Order for the load program. The order's Work names the measurement: an action, ColdStart or
// IdleConnections. Its Callers are the connections, its Size the requests under way on each.
type Job struct {
	Server Server `json:"server"`

	// Tool is the command line of autocannon or wrk, and Kind which of them it is, for actions.
	Kind string   `json:"kind,omitempty"`
	Tool []string `json:"tool,omitempty"`

	// Command starts the server, in Dir and with Env besides, where the load program does that itself; an address is put after
	// it, and then Arguments.
	Command   []string `json:"command,omitempty"`
	Arguments []string `json:"arguments,omitempty"`
	Dir       string   `json:"dir,omitempty"`
	Env       []string `json:"env,omitempty"`
}

// The kinds of tools.
const (
	Autocannon = "autocannon"
	Wrk        = "wrk"
)

// What is measured besides the actions.
const (
	ColdStart       = "cold-start"
	IdleConnections = "idle-connections"
)
