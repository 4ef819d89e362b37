package api

import (
	"cmp"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// AddMessages adds what a service sends and receives, with the types that it refers to. What is there already, from another node, stays.
func (a *API) AddMessages(list []Message, types map[string]*schema.Schema) {
	if a.Messages == nil {
		a.Messages = []Message{}
	}
	if types == nil {
		types = map[string]*schema.Schema{}
	}
	merged := newMerger(a.Types)
	for _, m := range list {
		if slices.ContainsFunc(a.Messages, func(other Message) bool { return keyOf(&other) == keyOf(&m) }) {
			continue
		}
		side := schema.Input
		if m.Sent {
			side = schema.Output
		}
		carrier := Action{In: m.Type, Out: m.Type}
		merged.action(&carrier, types, side)
		if m.Type = carrier.In; m.Sent {
			m.Type = carrier.Out
		}
		a.Messages = append(a.Messages, m)
	}
	a.Types = merged.types
	slices.SortStableFunc(a.Messages, func(a, b Message) int {
		return cmp.Or(strings.Compare(string(a.Kind), string(b.Kind)), strings.Compare(a.Name, b.Name), strings.Compare(a.Service, b.Service))
	})
}

// keyOf leaves of a message what tells it from the others of a description.
func keyOf(m *Message) Message {
	return Message{Kind: m.Kind, Name: m.Name, Service: m.Service, Sent: m.Sent, Group: m.Group}
}

// messages compares events and channels.
func (d *differ) messages() {
	d.name = ""
	if d.before.Messages == nil || d.after.Messages == nil {
		if d.before.Messages != nil {
			d.note("", "Events and channels are not compared: the new description has none, as those over HTTP")
		}
		return
	}
	now := messagesByKey(d.after.Messages)
	was := messagesByKey(d.before.Messages)
	for i := range d.before.Messages {
		m := &d.before.Messages[i]
		d.begin(m)
		after := now[keyOf(m)]
		switch {
		case after != nil:
			d.whole("payload", m.Type, after.Type)
		case m.Sent:
			d.breaking("", "is not sent any more")
		default:
			d.breaking("", "is not received any more")
		}
	}
	for i := range d.after.Messages {
		m := &d.after.Messages[i]
		if d.begin(m); was[keyOf(m)] == nil {
			d.note("", "is new")
		}
	}
	d.message, d.name = nil, ""
}

// begin makes a message the one that changes are of.
func (d *differ) begin(m *Message) {
	d.message, d.name = m, string(m.Kind)+" "+m.Name+" "
	switch {
	case m.Sent:
		d.name += "of " + m.Service
	case m.Group == m.Service || m.Group == "":
		d.name += "in " + m.Service
	default:
		d.name += "in " + m.Service + ", group " + m.Group
	}
}

func messagesByKey(list []Message) map[Message]*Message {
	keys := make(map[Message]*Message, len(list))
	for i := range list {
		keys[keyOf(&list[i])] = &list[i]
	}
	return keys
}
