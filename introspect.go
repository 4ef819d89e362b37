package sabir

import (
	"context"
	stdjson "encoding/json"
	"reflect"
	"runtime"
	"time"
)

// NodeInfo describes a node.
type NodeInfo struct {
	ID       string    `json:"id"`
	State    string    `json:"state"`
	Since    time.Time `json:"since"`
	Host     string    `json:"host"`
	PID      int       `json:"pid"`
	Go       string    `json:"go"`
	CPUs     int       `json:"cpus"`
	Services int       `json:"services"`
	Actions  int       `json:"actions"`
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
	In          string     `json:"in"`  // Go type
	Out         string     `json:"out"` // Go type
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
	s := NewService("$node", Purpose("tells about the node it runs on"))
	Handle(s, "info", func(context.Context, Nothing) (NodeInfo, error) { return n.Info(), nil },
		Describe("tells the node's name, state and size"))
	Handle(s, "nodes", func(context.Context, Nothing) ([]NodeInfo, error) { return []NodeInfo{n.Info()}, nil },
		Describe("lists the nodes of the cluster"))
	Handle(s, "services", func(context.Context, Nothing) ([]ServiceInfo, error) { return n.Services(), nil },
		Describe("lists the services"))
	Handle(s, "actions", func(context.Context, Nothing) ([]ActionInfo, error) {
		var list []ActionInfo
		for _, a := range n.Actions() {
			list = append(list, describe(a))
		}
		return list, nil
	}, Describe("lists the actions"))
	Handle(s, "emit", func(ctx context.Context, in EmitRequest) (Nothing, error) {
		if in.Broadcast {
			return Nothing{}, Broadcast(ctx, n, in.Event, in.Payload)
		}
		return Nothing{}, Emit(ctx, n, in.Event, in.Payload)
	}, Describe("emits or broadcasts an event"))
	return s
}

// Info describes the node.
func (n *Node) Info() NodeInfo {
	t := n.table.Load()
	actions := 0
	for _, p := range t.byFull {
		actions += len(p.endpoints)
	}
	return NodeInfo{ID: n.id, State: n.State().String(), Since: n.started, Host: hostname(), PID: processID,
		Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Services: len(t.byFull), Actions: actions}
}

func describe(a *Action) ActionInfo {
	return ActionInfo{Name: a.Name, Service: a.Service, Version: a.Version, Node: a.Node, Description: a.Description,
		Visibility: a.Visibility, Stream: a.Stream, Inline: a.Inline, In: typeName(a.In), Out: typeName(a.Out)}
}

func typeName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	return t.String()
}
