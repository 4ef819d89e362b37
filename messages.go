package sabir

import (
	"reflect"
	"sort"

	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/option"
	"github.com/sabir-go/sabir/internal/schema"
)

// MessageType is an event, or a channel, with the type of its payload.
type MessageType struct {
	Kind string       // event or channel
	Name string       // as it is emitted or published
	Type reflect.Type // of one payload, without a pointer
	// ContentType is the media type of a message; "" where it is that of its payload as JSON.
	ContentType string
}

// MessageContract is a contract of an event, see [NewEvent], or a channel of package channel.
type MessageContract interface{ MessageType() MessageType }

// MessageType is the event with its payload's type; the zero MessageType for a contract that was not made by [NewEvent].
func (c *EventContract[T]) MessageType() MessageType {
	if c == nil || c.name == "" {
		return MessageType{}
	}
	return MessageType{Kind: "event", Name: c.name, Type: reflect.TypeFor[T]()}
}

// Sends says which events this service emits, and to which channels it publishes:
//
//	orders := sabir.NewService("orders", sabir.Sends(Created, Paid, mails))
//
// It is for descriptions: the command sabir gen diff and sabirtest.Compatible compare the types of what is sent with those that receivers were written for.
// What a service receives is described without it. A service may send what it does not name here.
func Sends(messages ...MessageContract) ServiceOption {
	where := option.Caller()
	return serviceOption(func(s *Service) {
		for _, one := range messages {
			var m MessageType
			if one != nil {
				m = one.MessageType()
			}
			if m.Name == "" {
				s.problem(where, "service %s sends something without a name: an event that was not made by sabir.NewEvent, or a channel that was not made by channel.New", s.name)
				continue
			}
			s.sends = append(s.sends, m)
		}
	})
}

// describeMessages describes what a service of this node sends and receives, by name.
func (n *Node) describeMessages(service string) (d description.Document, err error) {
	p := n.table.Load().byFull[service]
	if p == nil {
		return d, &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true, Message: "node " + n.id + " has no service " + service}
	}
	var set schema.Set
	add := func(m MessageType, sent bool, group string) {
		side := schema.Input
		if sent {
			side = schema.Output
		}
		described, failed := set.OfCall(m.Type, side)
		if failed != nil && err == nil {
			err = Errorf(CodeFailedPrecondition, nameNoDescription, "the type of %s %s in %s cannot be described: %w", m.Kind, m.Name, service, failed)
		}
		d.Messages = append(d.Messages, description.Message{Kind: m.Kind, Name: m.Name, Service: service, Sent: sent, Group: group, Type: described, ContentType: m.ContentType})
	}
	for _, m := range p.service.sends {
		add(m, true, "")
	}
	for _, sub := range n.events.subscriptionsOf(p.service) {
		add(MessageType{Kind: "event", Name: sub.Pattern, Type: sub.Type}, false, sub.Group)
	}
	for _, c := range p.service.components {
		if receiver, ok := c.Extension.(interface{ Receives() (MessageType, string) }); ok {
			m, group := receiver.Receives()
			add(m, false, group)
		}
	}
	sort.SliceStable(d.Messages, func(i, j int) bool { return d.Messages[i].Name < d.Messages[j].Name })
	d.Defs = set.Defs
	return d, err
}

// subscriptionsOf lists the handlers of a running service.
func (t *eventTable) subscriptionsOf(s *Service) (list []*Subscription) {
	t.mu.RLock()
	defer t.mu.RUnlock()
	for _, r := range t.receivers {
		if r.service == s {
			list = append(list, r.receiver.subscription())
		}
	}
	return list
}
