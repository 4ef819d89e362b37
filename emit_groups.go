package sabir

import (
	"context"
	"slices"

	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/wire"
)

// EmitOption is an option of [Emit]: [Groups].
type EmitOption func(*emitOptions)

type emitOptions struct {
	groups []string
	err    error
}

// Groups has an event go to these groups of handlers only: each that has a handler of the event gets it once, and others do not. Handlers that only
// watch get it too, see BestEffort of [Delivery]. A handler finds the groups by [InfoFromContext].
//
// A group without a handler, of an event that others handle, is a warning in the emitter's log, once for each event and group: its name may be a slip.
func Groups(groups ...string) EmitOption {
	return func(o *emitOptions) {
		problem := ""
		switch {
		case o.groups != nil:
			problem = "was given twice: give it all groups at once"
		case len(groups) == 0 || slices.Contains(groups, ""):
			problem = "needs the names of groups"
		case len(groups) > wire.MaxGroups:
			problem = "was given " + itoa(len(groups)) + " groups: at most " + itoa(wire.MaxGroups)
		}
		if problem != "" {
			o.err = &Error{Code: CodeInvalidArgument, Name: nameBadOption, Message: "sabir.Groups " + problem}
		}
		o.groups = slices.Clone(groups)
	}
}

// choose is the part of Emit that only an event with options has. It returns the event's context, and the part of the plan that the event goes to.
func (n *Node) choose(ctx context.Context, name string, p *eventPlan, options []EmitOption) (context.Context, *eventPlan, error) {
	var o emitOptions
	for _, option := range options {
		option(&o)
	}
	if o.err != nil || o.groups == nil {
		return ctx, p, o.err
	}
	part := &eventPlan{}
	var taking []string // the groups that have handlers which do not only watch
	goesTo := func(group string, watches bool) bool {
		if !watches {
			taking = append(taking, group)
		}
		return watches || slices.Contains(o.groups, group)
	}
	for i := range p.groups {
		if g := &p.groups[i]; goesTo(g.name, g.watches) {
			part.groups = append(part.groups, eventGroup{name: g.name, members: []*delivery{g.pick()}})
		}
	}
	for _, a := range p.remoteGroups {
		if goesTo(a.group, a.watches) {
			part.remoteGroups = append(part.remoteGroups, a)
		}
	}
	for _, group := range o.groups {
		if len(taking) > 0 && !slices.Contains(taking, group) {
			n.warnNoGroup(ctx, name, group, taking)
		}
	}
	return withGroups(ctx, o.groups), part, nil
}

// warnNoGroup logs a chosen group that has no handler of the event, once for each event and group.
func (n *Node) warnNoGroup(ctx context.Context, event, group string, others []string) {
	if !n.events.warned.first(event + " for " + group) {
		return
	}
	attrs := []any{"node", n.id, "event", event, "group", group}
	if near := names.Nearest(group, others); near != nil {
		attrs = append(attrs, "did_you_mean", near)
	}
	n.log.WarnContext(ctx, "no handler of the event is in a group that its emitter chose", attrs...)
}
