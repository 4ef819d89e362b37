// Package openapi describes to users and programs what a node offers over HTTP: as an OpenAPI 3.1 document
// (https://spec.openapis.org/oas/v3.1.1.html), as a JSON Schema for each named type, and as a page to read and to try
// things on, which is served by the node itself and loads nothing from elsewhere.
//
// All of it is made of an [api.API] alone, so it cannot differ from what the node really does: what is wrong here is wrong
// in the Go types, their tags, or the options of the actions.
package openapi
