// Package description has what generators of documents, forms and clients are told of actions and messages: the input and the output of
// $node.api, and the input of $node.emit. What a program reads of nodes is in package introspect.
package description

import (
	"encoding/json"

	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

// Request is the input of $node.api: one of the two, of the node that is asked.
type Request struct {
	Action  string `json:"action,omitempty"`  // full name
	Service string `json:"service,omitempty"` // full name of the service whose events and channels are described
}

// Message is an event or a channel that a service sends to, or receives from.
type Message struct {
	Kind    string         `json:"kind"`            // "event", or "channel" for a message of a durable one
	Name    string         `json:"name"`            // of an event that is received: its pattern
	Service string         `json:"service"`         // full name
	Sent    bool           `json:"sent,omitempty"`  // the service sends it, see sabir.Sends; else it receives it
	Group   string         `json:"group,omitempty"` // of consumers, where it is received
	Type    *schema.Schema `json:"type,omitempty"`  // of the payload
	// ContentType is the media type of a message; "" where it is that of its payload as JSON.
	ContentType string `json:"contentType,omitempty"`
}

// Document describes one action with the schemas of its types, for generators of documents, forms and clients, or the messages of a
// service: the output of $node.api.
type Document struct {
	schema.Described
	Routes     []route.Route       `json:"routes,omitempty"`
	Statuses   []introspect.Status `json:"statuses,omitempty"` // of HTTP; the first one where the handler chooses none; nil for 200
	Errors     []Error             `json:"errors,omitempty"`   // declared
	Examples   []Example           `json:"examples,omitempty"`
	Deprecated string              `json:"deprecated,omitempty"`
	CacheFor   float64             `json:"cacheFor,omitempty"` // seconds that answers are kept; 0 for not
	Messages   []Message           `json:"messages,omitempty"` // of a service
	Notes      map[string][]string `json:"notes,omitempty"`    // annotations that are lists of words, such as roles, under the text of their keys
}

// Error is an error that an action may end with.
type Error struct {
	Code    string `json:"code"` // name of a sabir.Code: "NotFound"
	Name    string `json:"name"`
	Message string `json:"message"`
	Data    int    `json:"data"` // the place of the schema of its data in More, counted from 1; 0 for no data
}

// Example is an example of an action's input and output as JSON.
type Example struct {
	In  json.RawMessage `json:"in,omitempty"`
	Out json.RawMessage `json:"out,omitempty"`
}

// Emit is the input of $node.emit, which emits an event, or broadcasts it. Groups are those that are to get it, all where there are none; what is
// broadcast goes to all.
type Emit struct {
	Event     string          `json:"event" validate:"required"`
	Payload   json.RawMessage `json:"payload"`
	Broadcast bool            `json:"broadcast"`
	Groups    []string        `json:"groups,omitempty"`
}
