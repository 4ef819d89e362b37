// Package schemes reads addresses, and keeps the transports that are registered for their schemes, for package transport, which registers and opens them, and for
// package internal/transports, which hands them to the engine.
package schemes

import "github.com/sabir-go/sabir/internal/registry"

// Transport holds what was registered for a scheme: a transport.Stream or a transport.Bus, whose package is above this one. The other
// one is nil.
type Transport struct{ Stream, Bus any }

// Transports has all of them. Its panics name package transport, whose Register callers know.
var Transports = registry.New[Transport]("transport")
