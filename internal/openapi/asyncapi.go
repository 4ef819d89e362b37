package openapi

import (
	"cmp"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
)

// AsyncAPI is the AsyncAPI 3.0 document of an API's events and channels, as indented JSON. The same API gives the same bytes.
//
// Each event and each durable channel is a channel of the document, with a message for each type of payload and an operation for each service that sends or
// receives it: "send" and "receive", as the service does. An event that is received by a pattern has the pattern as its address: "*" is one word
// of a name, "**" several. The events that callers may listen to over HTTP are one more channel, at their address. Describe the cluster to have the former;
// a description that comes over HTTP has the latter only.
//
// It is an error if a schema cannot be written as JSON. AsyncAPI does not change a and is safe for concurrent use.
func AsyncAPI(a api.API) ([]byte, error) {
	d := &asyncDocument{document: newDocument(a), channels: map[string]*asyncChannel{}, channelNames: names{}, operationNames: names{}}
	for i := range a.Messages {
		d.message(&a.Messages[i])
	}
	if a.Events != nil {
		d.listening()
	}
	var channels object
	for _, id := range d.order {
		channels.add(id, d.channels[id].object())
	}
	doc := object{{"asyncapi", "3.0.0"}, {"info", d.info()}, {"defaultContentType", "application/json"}}
	doc.add("channels", channels)
	doc.add("operations", d.operations)
	var schemas object
	for _, m := range d.used() {
		schemas.add(d.types[m], d.schema(a.Types[m]))
	}
	doc.add("components", object{{"schemas", schemas}})
	out, err := text(doc)
	if err != nil {
		return nil, fmt.Errorf("openapi: the document of the events of %s cannot be written: %w", a.Title, err)
	}
	return out, nil
}

// asyncDocument is a document of AsyncAPI in the making.
type asyncDocument struct {
	*document
	channels       map[string]*asyncChannel // by their keys
	order          []string
	operations     object
	channelNames   names
	operationNames names
}

// asyncChannel is an event or a durable channel.
type asyncChannel struct {
	address, kind, description string
	messages                   object
	known                      map[string]string // messages as JSON -> their keys
}

func (c *asyncChannel) object() object {
	o := object{{"address", c.address}}
	o.addText("description", c.description)
	o.add("messages", c.messages)
	o.add("tags", []any{object{{"name", c.kind}}})
	return o
}

// channel finds the channel of the document for an event or a channel, or adds it.
func (d *asyncDocument) channel(kind, address, description string) (id string, c *asyncChannel) {
	for _, id := range d.order {
		if c := d.channels[id]; c.kind == kind && c.address == address {
			return id, c
		}
	}
	id = d.channelNames.take(kind + "." + strings.ReplaceAll(strings.ReplaceAll(address, "**", "all"), "*", "any"))
	c = &asyncChannel{address: address, kind: kind, description: description, known: map[string]string{}}
	d.channels[id], d.order = c, append(d.order, id)
	return id, c
}

// message adds what a service sends or receives.
func (d *asyncDocument) message(m *api.Message) {
	description := "A durable channel: each group of consumers gets each message at least once."
	if m.Kind == "event" {
		description = "An event: each group of handlers gets it once, or each node where it is broadcast."
	}
	id, c := d.channel(string(m.Kind), m.Name, description)
	payload := d.schema(m.Type)
	if m.Type == nil {
		payload = object{}
	}
	shape := object{{"name", m.Name}}
	shape.addText("contentType", m.ContentType)
	shape.add("payload", payload)
	text, err := json.Marshal(shape)
	if err != nil {
		text = nil // the document's own error tells it
	}
	key, known := c.known[string(text)]
	if !known {
		key = "message"
		if len(c.known) > 0 {
			key = fmt.Sprintf("message%d", len(c.known)+1)
		}
		c.known[string(text)] = key
		c.messages.add(key, shape)
	}
	action, does := "receive", "receives"
	if m.Sent {
		action, does = "send", "sends"
	}
	summary := m.Service + " " + does + " " + m.Name
	if group := cmp.Or(m.Group, m.Service); !m.Sent && group != m.Service {
		summary += " in the group " + group
	}
	d.operation(action+"."+m.Service+"."+id, action, id, key, summary, m.Service)
}

func (d *asyncDocument) operation(name, action, channel, message, summary, tag string) {
	at := "#/channels/" + channel
	d.operations.add(d.operationNames.take(name), object{{"action", action}, {"channel", object{{"$ref", at}}}, {"summary", summary},
		{"tags", []any{object{{"name", tag}}}}, {"messages", []any{object{{"$ref", at + "/messages/" + message}}}}})
}

// listening adds the events that callers may listen to over HTTP.
func (d *asyncDocument) listening() {
	events := d.api.Events
	id, c := d.channel("http", d.api.Prefix+events.Path, "Server-sent events, or a WebSocket of the subprotocol sabir.v1, with GET. The query's `topic`, which may repeat, picks among `"+
		strings.Join(events.Patterns, "`, `")+"`.")
	c.messages.add("message", object{{"name", "event"}, {"payload", heardEvent()}})
	d.operation("send."+id, "send", id, "message", "Callers listen to events.", otherTag)
}

// used are the types that messages refer to, by name.
func (d *asyncDocument) used() []string {
	all := map[string]bool{}
	for i := range d.api.Messages {
		collect(d.api, d.api.Messages[i].Type, all)
	}
	var list []string
	for name := range all {
		list = append(list, name)
	}
	slices.Sort(list)
	return list
}
