// Package api describes the actions that a node offers over HTTP, and the events and channels within a cluster. Everything that is generated from a node comes from it: the
// OpenAPI document, the TypeScript client, the .proto file, the dashboard's forms.
package api

import (
	"encoding/json"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/web/exchange"
)

// API describes the actions that a node offers over HTTP, in a form that can be sent as JSON and read back.
type API struct {
	Title       string                    `json:"title"`
	Version     string                    `json:"version"` // of the API, not of Sabir
	Description string                    `json:"description,omitempty"`
	Servers     []string                  `json:"servers,omitempty"` // URLs
	Prefix      string                    `json:"prefix,omitempty"`  // before the paths of all actions: "/api"
	Actions     []Action                  `json:"actions"`           // by name
	Types       map[string]*schema.Schema `json:"types"`             // named types, by the names that "#/$defs/Name" refers to
	Schemes     map[string]Scheme         `json:"schemes,omitempty"` // of authentication, by name
	Batch       string                    `json:"batch,omitempty"`   // path of batches; "" where there are none
	Events      *Events                   `json:"events,omitempty"`  // nil where none can be listened to
	Messages    []Message                 `json:"messages,omitzero"` // nil where events and channels are not described, as over HTTP
}

// NoVersion is the version of an API that was given none: OpenAPI demands one.
const NoVersion = "0"

// Heading is the title and the version for people, without [NoVersion], which would tell them nothing.
func (a API) Heading() string {
	if a.Version == NoVersion {
		return a.Title
	}
	return strings.TrimSpace(a.Title + " " + a.Version)
}

// Action is one public action.
type Action struct {
	Name        string         `json:"name"`    // "v2.users.get"
	Service     string         `json:"service"` // "v2.users"
	Description string         `json:"description,omitempty"`
	Path        string         `json:"path"`               // of the call: POST /v2/users/get
	Routes      []route.Route  `json:"routes,omitempty"`   // REST forms
	RPC         string         `json:"rpc,omitempty"`      // where package rpc serves it: "/users.v2.Users/Get"; "" for an action of another node
	In          *schema.Schema `json:"in,omitempty"`       // nil for an action without input
	Out         *schema.Schema `json:"out,omitempty"`      // nil for one without output
	Stream      bool           `json:"stream,omitempty"`   // In and Out are the values that go each way
	Shape       Shape          `json:"shape,omitempty"`    // of a stream: in which direction there is one value; "" for none
	Statuses    []Status       `json:"statuses,omitempty"` // of answers that went well, the usual one first; nil for 200
	Errors      []Error        `json:"errors,omitempty"`   // declared, besides those that every call can end with
	Auth        []string       `json:"auth,omitempty"`     // names of the schemes of which one is demanded
	Scopes      []string       `json:"scopes,omitempty"`   // roles of which the caller needs one
	Idempotent  bool           `json:"idempotent,omitempty"`
	NoEffects   bool           `json:"noSideEffects,omitempty"` // as rpc.NoSideEffects declares
	CacheFor    float64        `json:"cacheFor,omitempty"`      // seconds that answers are kept
	Examples    []Example      `json:"examples,omitempty"`
	Deprecated  bool           `json:"deprecated,omitempty"`
	Instead     string         `json:"instead,omitempty"` // what to use in place of a deprecated action
}

// Message is an event or a channel that a service sends to or receives from.
type Message = description.Message

// Shape is the shape of a stream.
type Shape = introspect.Shape

// Status is a status of HTTP with which an action answers, and the headers that come with it.
type Status = introspect.Status

// Usual is the statuses of an action that declares some, and 200 for any other.
func (a *Action) Usual() []Status {
	if len(a.Statuses) > 0 {
		return a.Statuses
	}
	return []Status{{Status: http.StatusOK}}
}

// Empty reports whether an answer with the status has no body (RFC 9110, sections 15.3.5, 15.3.6 and 15.4.5).
func Empty(status int) bool {
	return status == http.StatusNoContent || status == http.StatusResetContent || status == http.StatusNotModified
}

// Error is an error that an action declares it may end with.
type Error struct {
	Name        string         `json:"name"` // "OutOfStock": the problem's type is "urn:sabir:error:OutOfStock"
	Code        string         `json:"code"` // "FailedPrecondition"
	Status      int            `json:"status"`
	Description string         `json:"description,omitempty"`
	Data        *schema.Schema `json:"data,omitempty"` // of the member "data"; nil for none
}

// Example is an input with its output.
type Example struct {
	Name string          `json:"name,omitempty"`
	In   json.RawMessage `json:"in,omitempty"`
	Out  json.RawMessage `json:"out,omitempty"`
}

// Scheme is a way to authenticate callers.
type Scheme = exchange.Scheme

// Events describes where events can be received, and which.
type Events struct {
	Path     string   `json:"path"`
	Patterns []string `json:"patterns"`
}
