package sabir

import (
	"context"
	stdjson "encoding/json"
	"reflect"
)

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
	Nodes       []string   `json:"nodes,omitempty"` // of an action elsewhere: those that offer it
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
	Handle(s, "nodes", func(context.Context, Nothing) ([]NodeInfo, error) { return n.Nodes(), nil },
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
	Handle(s, "api", func(_ context.Context, in DescribeRequest) (ActionDescription, error) {
		return n.describeAction(in.Action)
	},
		Describe("describes an action of the node with the schemas of its types"), Idempotent())
	Handle(s, "emit", func(ctx context.Context, in EmitRequest) (Nothing, error) {
		if in.Broadcast {
			return Nothing{}, Broadcast(ctx, n, in.Event, in.Payload)
		}
		return Nothing{}, Emit(ctx, n, in.Event, in.Payload)
	}, Describe("emits or broadcasts an event"))
	return s
}

func describe(a *Action) ActionInfo {
	info := ActionInfo{Name: a.Name, Service: a.Service, Version: a.Version, Node: a.Node, Description: a.Description,
		Visibility: a.Visibility, Stream: a.Stream, Inline: a.Inline, In: typeName(a.In), Out: typeName(a.Out)}
	if other, ok := a.endpoint.(*away); ok && other.in != "" {
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
