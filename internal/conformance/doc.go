// Package conformance states what holds for the nodes of a cluster whatever carries their links, and proves it: [Run] puts
// a [Transport] through every behaviour in the list of docs/conformance.md. A new transport is ready when it passes.
package conformance
