package sabir

import (
	"context"
	"maps"
	"slices"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/mesh"
	"github.com/sabir-go/sabir/internal/native"
	"github.com/sabir-go/sabir/internal/wire"
	"github.com/sabir-go/sabir/introspect"
)

// meshHost is a node as package mesh sees it.
type meshHost struct{ node *Node }

var _ mesh.Host = meshHost{}

// Services lists the services that this node offers to others: without those whose names begin with "$", and without private
// actions. While the node starts there are none, unless it waits for services of others, whose nodes may wait for its own.
func (h meshHost) Services() (list []membership.Service) {
	if !h.node.offers.Load() {
		return nil
	}
	all := h.node.table.Load().byFull
	for _, full := range slices.Sorted(maps.Keys(all)) {
		if p := all[full]; p.service.name[0] != '$' {
			list = append(list, p.describe())
		}
	}
	return list
}

// Waiting lists the services of this node that have not started, since they wait for others.
func (h meshHost) Waiting() (list []membership.Waiting) {
	for _, s := range h.node.waitingServices() {
		list = append(list, membership.Waiting{Name: s.fullName(), Needs: h.node.missing(s)})
	}
	return list
}

// Decisions lists those of operators that this node knows.
func (h meshHost) Decisions() []membership.Decision { return h.node.decisions.Load().All() }

// mayOffer measures what a service of this node adds to what the node offers. Its error is of a service that the other nodes would not
// take: it would make the whole node invisible to them. A node without a cluster, or that offers nothing, has no limits.
func (n *Node) mayOffer(p *published) (membership.Extent, error) {
	s := p.service
	if len(n.joins) == 0 || n.joins[0].ClientOnly || s.name[0] == '$' {
		return membership.Extent{}, nil
	}
	described := p.describe()
	extent, err := described.Extent()
	if err == nil {
		err = n.offered.Plus(extent).Check()
	}
	if err != nil {
		return extent, &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id, cause: err,
			Message: s.where.String() + ": with service " + s.fullName() + " the node would offer what the other nodes of the cluster refuse: " + err.Error()}
	}
	return extent, nil
}

func (p *published) description() membership.Service {
	s := p.service
	out := membership.Service{Name: s.name, Version: s.version, Preferred: s.preferred, Group: s.group, Description: s.description, Needs: s.needs}
	for _, e := range p.endpoints {
		if a := e.info(); !a.NodeOnly {
			form := membership.NewForm(membership.ActionForm{Visibility: string(a.visibility()), Shape: string(a.Shape), Codecs: a.Codecs, Routes: routesText(a.Routes), Statuses: statusNumbers(a.Statuses)})
			out.Actions = append(out.Actions, membership.Action{Name: a.Name, Description: a.Description, ActionForm: form,
				Inline: a.Inline, Stream: a.Stream, Idempotent: a.Idempotent, In: typeName(a.In), Out: typeName(a.Out)})
		}
	}
	for _, h := range s.handlers {
		out.Events = append(out.Events, membership.Subscription{Pattern: h.pattern, Group: h.group, Watch: h.bestEffort})
	}
	return out
}

// Rebuild makes the next tables after a change of what other nodes offer.
func (h meshHost) Rebuild(view *membership.View) { h.node.rebuild(view) }

// Members asks another node for those that it knows.
func (h meshHost) Members(ctx context.Context, from string) (list []membership.Member, err error) {
	nodes, err := Call[[]introspect.Node](ctx, h.node, "$node.nodes", Empty{}, ToNode(from))
	for _, info := range nodes {
		list = append(list, membership.Member{ID: info.ID, Addr: info.Addr, ClientOnly: info.ClientOnly})
	}
	return list, err
}

// Route returns the target that serves the calls or events of a peer.
func (h meshHost) Route(l *wire.Link, r *wire.Route) wire.Target {
	if r.Kind == wire.EventRoute {
		nothing, _ := formatOf(nothingType, native.Name)
		return &inboundEvents{node: h.node, group: r.Name, format: r.Codec, nothing: nothing}
	}
	return &inboundRoute{node: h.node, link: l, name: r.Name, format: r.Codec}
}

// Linked gives the extensions a new link.
func (h meshHost) Linked(l *wire.Link) {
	for _, g := range h.node.extensions.given {
		if g.linked != nil {
			h.callExtension(l, g.linked, "Linked", func() { g.linked.Linked(l) })
		}
	}
}

// Posted gives a post to the extension of its topic, if there is one.
func (h meshHost) Posted(l *wire.Link, topic uint8, data []byte) {
	e := h.node.extensions.byTopic[topic]
	if e == nil {
		return
	}
	returned := false
	defer func() {
		if !returned {
			h.extensionFailed(l, panicError("Posted of extension "+e.Name(), recover()))
		}
	}()
	e.Posted(l, data)
	returned = true
}

// Unlinked gives the extensions a link that has ended.
func (h meshHost) Unlinked(l *wire.Link, err error) {
	for _, g := range h.node.extensions.given {
		if g.linked != nil {
			h.callExtension(l, g.linked, "Unlinked", func() { g.linked.Unlinked(l, err) })
		}
	}
}

// callExtension calls a method of an extension on a goroutine that the extension may end, and waits for it, since the calls
// for one link must not overtake each other.
func (h meshHost) callExtension(l *wire.Link, e Extension, what string, notify func()) {
	run := func(context.Context) error {
		notify()
		return nil
	}
	done := make(chan struct{})
	go isolateGoroutine(what+" of extension "+e.Name(), background, run, func(err error) {
		defer close(done)
		if failed, ok := err.(*Error); ok {
			h.extensionFailed(l, failed)
		}
	})
	<-done
}

// extensionFailed closes the link after a method of an extension panicked or ended its goroutine, because the state of the
// extension is unknown then.
func (h meshHost) extensionFailed(l *wire.Link, err *Error) {
	err.Node = h.node.id
	h.node.log.Error("panic: the link is closed", "node", h.node.id, "peer", l.Peer().Node, "error", err)
	l.Close(err)
}
