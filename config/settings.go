package config

import (
	"time"

	"github.com/sabir-go/sabir/secret"
)

// Settings has a field for each setting of a node that an operator may decide. A setting that is not given keeps the default of the option of NewNode or
// Join that it stands for.
type Settings struct {
	ID       string            `json:"id" doc:"The name of the node. Default: made of the host's and the process's."`
	Join     string            `json:"join" doc:"The address by which the node joins its cluster, such as tcp://0.0.0.0:7700. Default: none, which is a node alone."`
	Key      secret.Secret     `json:"key" doc:"The secret that the nodes of the cluster share; a second one, after a comma, is accepted too."`
	NodeKey  secret.Secret     `json:"node_key" doc:"The private key by which the node proves its id; sabir pubkey prints its public key."`
	NodeKeys map[string]string `json:"node_keys" doc:"Public keys of nodes by patterns of their ids, such as orders-*. With them each other node has to prove its id."`
	Seeds    []string          `json:"seeds" doc:"Addresses of nodes that are asked for the others, such as tcp://shop-nodes:7700; a DNS name may have the addresses of all. It can change while the node runs." live:"yes"`
	Zone     string            `json:"zone" doc:"Where the node is; calls prefer nodes of the same zone. It can change while the node runs." live:"yes"`
	Labels   map[string]string `json:"labels" doc:"What tells this node from others, for balancing and listings. It can change while the node runs." live:"yes"`
	// Advertise is the host under which other nodes reach this one, where the host of Join is that of all addresses.
	Advertise string `json:"advertise" doc:"The host under which other nodes reach this one."`

	StartTimeout time.Duration `json:"start_timeout" doc:"How long a start waits for services of other nodes. Default: without end. It can change while the node runs." validate:"min=0" live:"yes"`
	StopTimeout  time.Duration `json:"stop_timeout" doc:"How long a stop waits for calls in flight. Default: 10s. It can change while the node runs." validate:"min=0" live:"yes"`
	MaxDepth     int           `json:"max_depth" doc:"How deep calls may nest. Default: 100. It can change while the node runs." validate:"min=0" live:"yes"`

	HTTP  HTTP  `json:"http" doc:"The HTTP side for callers; the program imports package web for it."`
	Admin Admin `json:"admin" doc:"The address for operators: probes, metrics and profiles."`
	Log   Log   `json:"log" doc:"The log of the node."`
	// Policies go around the calls of the actions that a pattern takes, in the order of policy.Stack. All patterns that take an action count;
	// where two set one policy, the pattern that comes first by its name is the outer one. They can change while the node runs.
	Policies map[string]Policy `json:"policies" doc:"Policies by pattern of action names, such as users.*. They can change while the node runs." validate:"dive"`
}

// HTTP is the HTTP side for callers; see sabir.HTTP.
type HTTP struct {
	Address string        `json:"address" doc:"Where it listens, such as :3000 for this machine, or 0.0.0.0:3000. Default: nowhere."`
	Key     secret.Secret `json:"key" doc:"The key that callers send as Authorization: Bearer; old ones, after commas, are accepted too. It can change while the node runs." live:"yes"`
}

// Admin is the address for operators; see package admin.
type Admin struct {
	Address  string        `json:"address" doc:"Where it listens, such as :9464. Default: nowhere."`
	Key      secret.Secret `json:"key" doc:"The key for metrics and profiles. Needed where other machines reach the address and one of them is on; old ones, after commas, are accepted too. It can change while the node runs." live:"yes"`
	Metrics  bool          `json:"metrics" doc:"Serves metrics for Prometheus at /metrics."`
	Profiler bool          `json:"profiler" doc:"Serves profiles at /debug/pprof/."`
}

// Log is the log of the node, which goes to standard error.
type Log struct {
	Level  string `json:"level" doc:"The least level that is logged. It can change while the node runs." validate:"omitempty,oneof=debug info warn error" live:"yes"`
	Format string `json:"format" doc:"text or json. Default: text. It can change while the node runs." validate:"omitempty,oneof=text json" live:"yes"`
}

// Policy is the policies of the actions that a pattern takes; see package policy.
type Policy struct {
	Timeout  time.Duration `json:"timeout" doc:"The longest time that a call may take." validate:"min=0" live:"yes"`
	Attempts int           `json:"attempts" doc:"How often a call is tried in all, where it may be repeated." validate:"min=0" live:"yes"`
	Breaker  bool          `json:"breaker" doc:"Stops calling for a while where most calls fail." live:"yes"`
	MaxCalls int           `json:"max_calls" doc:"How many calls of an action may run at once; others wait a moment, and are then refused." validate:"min=0" live:"yes"`
	Rate     float64       `json:"rate" doc:"How many calls of an action a second are taken." validate:"min=0" live:"yes"`
}
