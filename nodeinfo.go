package sabir

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/internal/wire"
)

// NodeInfo describes a node of the cluster.
type NodeInfo struct {
	ID       string            `json:"id"`
	State    string            `json:"state"`
	Since    time.Time         `json:"since"`
	Addr     string            `json:"addr,omitempty"` // where its links are dialled; "" outside a cluster
	Zone     string            `json:"zone,omitempty"`
	Labels   map[string]string `json:"labels,omitempty"`
	Guest    bool              `json:"guest,omitempty"`
	Codecs   []string          `json:"codecs,omitempty"` // formats that it takes; nil for any
	Host     string            `json:"host"`
	PID      int               `json:"pid"`
	Go       string            `json:"go"`
	CPUs     int               `json:"cpus"`
	Services int               `json:"services"`
	Actions  int               `json:"actions"`
	Load     NodeLoad          `json:"load"`
	RTT      time.Duration     `json:"rtt,omitempty"` // of a ping over the link to it, in nanoseconds
}

// NodeLoad is a node's load in its last heartbeat.
type NodeLoad struct {
	CPU      float64 `json:"cpu"`      // share of its processors that its process uses, 0 to 1
	InFlight int     `json:"inFlight"` // calls from other nodes that it is serving
}

// Info describes this node.
func (n *Node) Info() NodeInfo {
	t := n.table.Load()
	actions := 0
	for _, p := range t.byFull {
		actions += len(p.endpoints)
	}
	n.tableLock.Lock()
	since := n.started
	n.tableLock.Unlock()
	info := NodeInfo{ID: n.id, State: n.State().String(), Since: since, Codecs: n.acceptedFormats(), Host: hostname(), PID: processID,
		Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Services: len(t.byFull), Actions: actions}
	if m := n.mesh.Load(); m != nil {
		self := m.Member()
		info.Addr, info.Zone, info.Labels, info.Guest = self.Addr, self.Zone, self.Labels, self.Guest
		info.Load = loadInfo(m.Load())
	}
	return info
}

// Nodes describes the nodes of the cluster that this one is linked with, itself first, the others by name.
func (n *Node) Nodes() []NodeInfo {
	list := []NodeInfo{n.Info()}
	if m := n.mesh.Load(); m != nil {
		for _, other := range m.Nodes() {
			list = append(list, remoteNodeInfo(other))
		}
	}
	return list
}

func loadInfo(l wire.Load) NodeLoad {
	return NodeLoad{CPU: max(0, float64(l.CPU)), InFlight: int(l.Calls)}
}

// ActionInfo describes an action, as $node.actions lists it.
type ActionInfo struct {
	Name        string     `json:"name"`
	Service     string     `json:"service"`
	Version     int        `json:"version,omitempty"`
	Node        string     `json:"node"`
	Description string     `json:"description,omitempty"`
	Visibility  Visibility `json:"visibility"`
	Stream      bool       `json:"stream,omitempty"`
	Inline      bool       `json:"inline,omitempty"`
	In          string     `json:"in"`              // Go type
	Out         string     `json:"out"`             // Go type
	Nodes       []string   `json:"nodes,omitempty"` // of an action of other nodes: those that offer it
}

// EmitRequest is the input of $node.emit.
type EmitRequest struct {
	Event     string             `json:"event" validate:"required"`
	Payload   stdjson.RawMessage `json:"payload"`
	Broadcast bool               `json:"broadcast"`
}

// newNodeService makes the service that every node has: what the command line and the dashboard ask a node for, they ask
// by calling its actions.
func newNodeService(n *Node) *Service {
	s := NewService("$node", Doc("describes the node it runs on"))
	Handle(s, "info", func(context.Context, Empty) (NodeInfo, error) { return n.Info(), nil },
		Doc("tells the node's name, state and size"))
	Handle(s, "nodes", func(context.Context, Empty) ([]NodeInfo, error) { return n.Nodes(), nil },
		Doc("lists the nodes of the cluster"))
	Handle(s, "services", func(context.Context, Empty) ([]ServiceInfo, error) { return n.Services(), nil },
		Doc("lists the services"))
	Handle(s, "actions", func(context.Context, Empty) ([]ActionInfo, error) {
		var list []ActionInfo
		for _, a := range n.Actions() {
			list = append(list, describe(a))
		}
		return list, nil
	}, Doc("lists the actions"))
	Handle(s, "api", func(_ context.Context, in DescribeRequest) (ActionDescription, error) {
		return n.describeAction(in.Action)
	},
		Doc("describes an action of the node with the schemas of its types"), Idempotent())
	Handle(s, "emit", func(ctx context.Context, in EmitRequest) (Empty, error) {
		if in.Broadcast {
			return Empty{}, Broadcast(ctx, n, in.Event, in.Payload)
		}
		return Empty{}, Emit(ctx, n, in.Event, in.Payload)
	}, Doc("emits or broadcasts an event"))
	return s
}

func describe(a *Action) ActionInfo {
	info := ActionInfo{Name: a.Name, Service: a.Service, Version: a.Version, Node: a.Node, Description: a.Description,
		Visibility: a.Visibility, Stream: a.Stream, Inline: a.Inline, In: typeName(a.In), Out: typeName(a.Out)}
	if other, ok := a.endpoint.(*remoteAction); ok && other.in != "" {
		info.In, info.Out, info.Nodes = other.in, other.out, other.nodes()
	}
	return info
}

func typeName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	return t.String()
}

// DescribeRequest is the input of $node.api.
type DescribeRequest struct {
	Action string `json:"action" validate:"required"` // full name, of an action of the node that is asked
}

// ActionDescription describes an action for generators of documents, forms and clients.
type ActionDescription struct {
	schema.Described
	Routes     []route.Route       `json:"routes,omitempty"`
	Errors     []DescribedError    `json:"errors,omitempty"` // declared
	Examples   []DescribedExample  `json:"examples,omitempty"`
	Deprecated string              `json:"deprecated,omitempty"`
	CacheFor   float64             `json:"cacheFor,omitempty"` // seconds that answers are kept; 0 for not
	Notes      map[string][]string `json:"notes,omitempty"`    // the facts noted about it that are lists of words, such as roles, under the text of their keys
}

// DescribedError is an error that an action may end with.
type DescribedError struct {
	Code    Code   `json:"code"`
	Name    string `json:"name"`
	Message string `json:"message"`
	Data    int    `json:"data"` // the place of the schema of its data in More, counted from 1; 0 for no data
}

// DescribedExample is an example as JSON.
type DescribedExample struct {
	In  stdjson.RawMessage `json:"in,omitempty"`
	Out stdjson.RawMessage `json:"out,omitempty"`
}

// describeAction answers $node.api.
func (n *Node) describeAction(name string) (d ActionDescription, err error) {
	e := n.table.Load().localActions[name]
	if e == nil || e.info().Visibility == VisibilityPrivate {
		return d, n.notFoundAmong("action on node "+n.id, name, n.namesForOthers())
	}
	a := e.info()
	d.Routes, d.Deprecated = a.Routes, a.Deprecated
	var data []reflect.Type
	for _, declared := range a.Errors {
		one := DescribedError{Code: declared.Code, Name: declared.Name, Message: declared.Message}
		if declared.Data != nil {
			data = append(data, reflect.TypeOf(declared.Data))
			one.Data = len(data)
		}
		d.Errors = append(d.Errors, one)
	}
	if d.Described, err = schema.Describe(a.In, a.Out, data...); err != nil {
		return d, Errorf(CodeFailedPrecondition, nameNoDescription, "the types of %s cannot be described: %w", name, err)
	}
	for _, example := range a.Examples {
		in, errIn := json.Append(nil, example.In)
		out, errOut := json.Append(nil, example.Out)
		if err := errors.Join(errIn, errOut); err != nil {
			n.panicInside("an example of "+name, err) // for the log; the description is without it
			continue
		}
		d.Examples = append(d.Examples, DescribedExample{in, out})
	}
	if keep, ok := a.Annotation(CacheNote).(time.Duration); ok {
		d.CacheFor = keep.Seconds()
	}
	for key, fact := range a.notes {
		if words, ok := fact.([]string); ok {
			if d.Notes == nil {
				d.Notes = make(map[string][]string)
			}
			d.Notes[fmt.Sprint(key)] = words
		}
	}
	return d, nil
}

func remoteNodeInfo(n mesh.Node) NodeInfo {
	info := NodeInfo{ID: n.ID, State: StateRunning.String(), Since: n.Since, Addr: n.Addr, Zone: n.Zone, Labels: n.Labels, Guest: n.Guest, Codecs: n.Codecs,
		Host: n.Host, PID: n.PID, Go: n.Go, CPUs: n.CPUs, Services: n.Services, Actions: n.Actions, Load: loadInfo(n.Load), RTT: n.RTT}
	if n.Stopping {
		info.State = StateStopping.String()
	}
	return info
}
