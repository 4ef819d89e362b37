// Package openapi is the engine of package gen/openapi and of sabir gen openapi: it documents the actions of a node over HTTP as an OpenAPI 3.1 document
// (https://spec.openapis.org/oas/v3.1.1.html), as a JSON Schema for each named type, and as a page to read and to try
// things on, which is served by the node itself and loads nothing from elsewhere.
//
// All of it is made of an [api.API] alone, so it cannot differ from the node's behaviour: a mistake in it comes from the Go
// types, their tags, or the options of the actions.
package openapi
