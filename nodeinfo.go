package sabir

import (
	"context"
	stdjson "encoding/json"
	"errors"
	"fmt"
	"maps"
	"reflect"
	"runtime"
	"sort"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/introspect"
)

// Info describes this node.
func (n *Node) Info() introspect.Node {
	t := n.table.Load()
	actions := 0
	for _, p := range t.byFull {
		actions += len(p.endpoints)
	}
	n.tableLock.Lock()
	since := n.started
	n.tableLock.Unlock()
	info := introspect.Node{ID: n.id, State: n.stateNow().String(), Since: since, Codecs: n.acceptedFormats(), Host: hostname(), PID: processID,
		Go: runtime.Version(), CPUs: runtime.GOMAXPROCS(0), Services: len(t.byFull), Actions: actions, AdminAddr: n.AdminAddr(), Drained: n.decisions.Load().Drained(n.id)}
	used := n.memory.Usage()
	info.Memory.Waiting, info.Memory.Streams, info.Memory.Limit, info.Memory.Refused, info.Memory.Ended = used.Bytes, used.Streams, used.Limit, used.Refused, used.Ended
	if m := n.cluster(); m != nil {
		self, at := m.Member(), m.Place()
		info.Addr, info.Zone, info.Labels, info.ClientOnly = self.Addr, at.Zone, maps.Clone(at.Labels), self.ClientOnly
		info.Refused.Forged, info.Links = m.Forged(), m.Links()
		setLoad(&info, m.Load())
	}
	info.Refused.HTTPHeads = n.refusedHeads()
	if routes := n.routes(); len(routes) > 0 {
		info.Routes = routes
	}
	info.Unmet = n.unmet()
	return info
}

// Nodes describes the nodes of the cluster that calls of this one can go to, itself first, the others by name. In a large cluster it has no links to some,
// see [cluster.Links]: their load and round trip are not known.
func (n *Node) Nodes() []introspect.Node {
	list := []introspect.Node{n.Info()}
	leftOut := n.leftOut()
	if m := n.cluster(); m != nil {
		decided, view := n.decisions.Load(), n.table.Load().view
		for _, other := range m.Nodes() {
			info := remoteNodeInfo(other)
			info.Drained = decided.Drained(other.ID)
			if view != nil {
				for _, w := range view.Waiting(other.ID) {
					info.Unmet = appendUnmet(info.Unmet, w.Name, w.Needs, true)
				}
			}
			list = append(list, info)
		}
	}
	list = n.foreign.list(list)
	for i := range list[1:] {
		list[i+1].LeftOut = leftOut[list[i+1].ID]
	}
	others := list[1:]
	sort.Slice(others, func(i, j int) bool { return others[i].ID < others[j].ID }) // slices.SortFunc takes 20 KB of the program for each struct
	return list
}

func setLoad(n *introspect.Node, l wire.Load) {
	n.Load.CPU, n.Load.InFlight = max(0, float64(l.CPU)), int(l.Calls)
}

// newNodeService makes the service that every node has: what the command line and the dashboard ask a node for, they ask
// by calling its actions.
func newNodeService(n *Node) *Service {
	s := NewService("$node", Doc("describes the node it runs on"))
	Handle(s, "info", func(ctx context.Context, _ Empty) (introspect.Node, error) {
		info := n.Info()
		checks, err := n.checkReadiness(ctx)
		if info.Checks = checks; err != nil {
			info.NotReady = AsError(err).Message
		}
		return info, nil
	},
		Doc("tells the node's name, state and size"))
	Handle(s, "nodes", func(context.Context, Empty) ([]introspect.Node, error) { return n.Nodes(), nil },
		Doc("lists the nodes of the cluster"))
	Handle(s, "services", func(context.Context, Empty) ([]introspect.Service, error) { return n.Services(), nil },
		Doc("lists the services"))
	Handle(s, "actions", func(context.Context, Empty) ([]introspect.Action, error) {
		var list []introspect.Action
		for _, a := range n.Actions() {
			list = append(list, describe(a))
		}
		return list, nil
	}, Doc("lists the actions"))
	Handle(s, "api", func(_ context.Context, in description.Request) (description.Document, error) {
		if in.Service != "" && in.Action == "" {
			return n.describeMessages(in.Service)
		}
		return n.describeAction(in.Action)
	},
		Doc("describes an action, or the events and channels of a service, with the schemas of their types"), Idempotent())
	Handle(s, "dependencies", func(ctx context.Context, _ Empty) ([]introspect.Dependency, error) { return n.Dependencies(ctx), nil },
		Doc("compares what the services of the node depend on with what is offered"))
	Handle(s, "http", func(context.Context, Empty) ([]introspect.Reachable, error) { return n.reachable(), nil },
		Doc("lists what the node answers over HTTP, and to whom"))
	Handle(s, "drain", n.answerDrain(true), Doc("has calls and events go to other nodes where there are some, until the node is undrained"), ClusterOnly(), Idempotent())
	Handle(s, "undrain", n.answerDrain(false), Doc("has calls and events come again to the node"), ClusterOnly(), Idempotent())
	Handle(s, "route", func(_ context.Context, in stdjson.RawMessage) (stdjson.RawMessage, error) { return n.route(in) }, // types of its own take 80 KB of the program
		Doc("sets how the calls of a name are shared out in the whole cluster; without shares ends that, without a name lists what is set"), ClusterOnly(), Idempotent())
	Handle(s, "emit", func(ctx context.Context, in description.Emit) (Empty, error) {
		switch {
		case in.Broadcast && len(in.Groups) > 0:
			return Empty{}, &Error{Code: CodeInvalidArgument, Name: nameBadInput, Message: "an event that is broadcast goes to all groups: choose none"}
		case in.Broadcast:
			return Empty{}, Broadcast(ctx, n, in.Event, in.Payload)
		case len(in.Groups) > 0:
			return Empty{}, Emit(ctx, n, in.Event, in.Payload, Groups(in.Groups...))
		}
		return Empty{}, Emit(ctx, n, in.Event, in.Payload)
	}, Doc("emits or broadcasts an event"), ClusterOnly())
	return s
}

// answerDrain answers $node.drain and $node.undrain.
func (n *Node) answerDrain(drained bool) func(context.Context, Empty) (introspect.Node, error) {
	return func(context.Context, Empty) (introspect.Node, error) {
		err := n.setDrained(drained)
		return n.Info(), err
	}
}

func describe(a *Action) introspect.Action {
	info := introspect.Action{Name: a.Name, Service: a.Service, Version: a.Version, Node: a.Node, Description: a.Description,
		Visibility: a.visibility(), Stream: a.Stream, Shape: a.Shape, Inline: a.Inline, In: typeName(a.In), Out: typeName(a.Out)}
	if other, ok := a.endpoint.(*remoteAction); ok && other.in != "" {
		info.In, info.Out, info.Nodes = other.in, other.out, other.nodes()
	}
	return info
}

// InputsBytes reports whether the action's inputs are []byte, as those of an upload are. It knows of actions of other nodes too, whose
// In is nil.
func (a *Action) InputsBytes() bool {
	return a.Remote && a.remoteIn == bytesName || typeName(a.In) == bytesName
}

// OutputsBytes reports whether the action's output is []byte, which other faces show as a file. It knows of actions of other nodes too,
// whose Out is nil.
func (a *Action) OutputsBytes() bool {
	return a.Remote && a.remoteOut == bytesName || typeName(a.Out) == bytesName
}

const bytesName = "[]uint8" // as reflect writes it

func typeName(t reflect.Type) string {
	if t == nil {
		return ""
	}
	return t.String()
}

// describeAction answers $node.api.
func (n *Node) describeAction(name string) (d description.Document, err error) {
	e := n.table.Load().localActions[name]
	if e == nil || e.info().NodeOnly {
		return d, n.notFoundAmong("action on node "+n.id, name, n.namesForOthers())
	}
	a := e.info()
	d.Routes, d.Statuses, d.Deprecated = a.Routes, a.Statuses, a.Deprecated
	var data []reflect.Type
	for _, declared := range a.Errors {
		one := description.Error{Code: declared.Code.String(), Name: declared.Name, Message: declared.Message}
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
		in, errIn := json.Codec.Append(nil, example.In)
		out, errOut := json.Codec.Append(nil, example.Out)
		if err := errors.Join(errIn, errOut); err != nil {
			n.panicInside("an example of "+name, err) // for the log; the description is without it
			continue
		}
		d.Examples = append(d.Examples, description.Example{In: in, Out: out})
	}
	if keep, ok := a.Annotation(gateway.CacheNote).(time.Duration); ok {
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

func remoteNodeInfo(n mesh.Node) introspect.Node {
	info := introspect.Node{ID: n.ID, State: stateRunning.String(), Since: n.Since, Addr: n.Addr, Zone: n.Zone, Labels: n.Labels,
		ClientOnly: n.ClientOnly, Codecs: n.Codecs,
		Host: n.Host, PID: n.PID, Go: n.Go, CPUs: n.CPUs, Services: n.Services, Actions: n.Actions, RTT: n.RTT, Links: n.Links, Silent: n.Silent}
	setLoad(&info, n.Load)
	if n.Stopping {
		info.State = stateStopping.String()
	}
	return info
}
