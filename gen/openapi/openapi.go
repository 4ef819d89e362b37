// Package openapi serves the documentation of a node's actions over HTTP: an OpenAPI 3.1 document
// (https://spec.openapis.org/oas/v3.1.1.html), a JSON Schema for each named type, an AsyncAPI document of the events that callers may
// listen to, and a page to read and to try things on, which loads nothing from elsewhere. `sabir gen openapi` writes the document to a file.
//
// All of it is made of what the node answers with, so it cannot differ from the node's behaviour: a mistake in it comes from the Go
// types, their tags, or the options of the actions.
package openapi

import (
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/openapi"
)

// At serves the documentation of an HTTP gateway at a prefix, with the actions that this gateway offers:
//
//	sabir.HTTP(":3000", openapi.At("/docs"))
//
//	/docs/                      the page
//	/docs/openapi.json          the OpenAPI document
//	/docs/asyncapi.json         the AsyncAPI document of the events that callers may listen to, where there are any
//	/docs/schemas/{Type}.json   the JSON Schema of a named type
//
// Callers of the actions may read it. On a gateway with a key (gateway.Key) the page's files, which are the same for every
// API, need none, for browsers cannot send it with an address that is typed in; the page asks for the key and loads the
// description with it. Where callers authenticate in another way, the gateway demands the same for the page: a session
// cookie or basic authentication works in a browser, and [PublicAt] opens the page to anyone.
func At(prefix string) gateway.HTTPOption { return openapi.At(prefix, false) }

// PublicAt is [At] for documentation that anyone who reaches the HTTP gateway may read, whatever authentication it demands. Calls that are
// made on the page still have to authenticate.
func PublicAt(prefix string) gateway.HTTPOption { return openapi.At(prefix, true) }
