package sabir

import (
	"context"

	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/wire"
)

// originContext says of a call or an event what its context does not show otherwise: the groups that the emitter chose, and where it came from
// if that was outside the cluster. It is about the operation that is entered with it, on its level; those that are nested in that are on higher ones.
type originContext struct {
	context.Context
	groups  []string
	from    string
	outside bool // it came in from outside, from a node of that name or, with "", from none
	level   int32
}

type originKey struct{}

func (c *originContext) Value(key any) any {
	if _, ok := key.(originKey); ok {
		return c
	}
	return c.Context.Value(key)
}

// fromNobody is the origin of a call over HTTP.
var fromNobody = &originContext{Context: background, outside: true, level: 1}

// originOfInbound is the origin of what came in from outside.
func originOfInbound(in *gateway.Inbound) *originContext {
	if in.From == "" && in.Level == 0 {
		return fromNobody
	}
	return &originContext{Context: background, from: in.From, outside: true, level: int32(in.Level) + 1}
}

// withGroups returns the context of an event whose emitter chose groups.
func withGroups(ctx context.Context, groups []string) context.Context {
	return &originContext{Context: ctx, groups: groups, level: nextLevel(ctx)}
}

// nextLevel is the level of what is called or emitted with ctx.
func nextLevel(ctx context.Context) int32 {
	if c := callOf(ctx); c != nil {
		return c.level + 1
	}
	return 1
}

// originAt finds what ctx says of the call or event on the level; nil for nothing.
func originAt(ctx context.Context, level int32) *originContext {
	if o, _ := ctx.Value(originKey{}).(*originContext); o != nil && o.level == level {
		return o
	}
	return nil
}

// groups are those that the emitter of the event chose; nil for all.
func (c *callContext) groups() []string {
	if c.shared {
		return nil
	}
	if o := originAt(c.Context, c.level); o != nil {
		return o.groups
	}
	return nil
}

// from is the node that made the call or emitted the event; "" where none did.
func (c *callContext) from() string {
	if c.op.outside {
		return ""
	}
	if c.remote {
		if link, ok := c.Context.Value(wire.LinkKey{}).(*wire.Link); ok {
			return link.Peer().Node
		}
	}
	if !c.shared {
		if o := originAt(c.Context, c.level); o != nil && o.outside {
			return o.from
		}
	}
	return c.op.node.id
}
