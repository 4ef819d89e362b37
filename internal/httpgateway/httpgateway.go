// Package httpgateway has the gateway that serves sabir.HTTP: package web sets it, so that a program without package web does
// not link what HTTP needs.
package httpgateway

import (
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/httpaccess"
)

// New makes the gateway of a node, a *sabir.Node; nil in a program without package web. It is set in an init function and read
// afterwards only. crowded reports whether more calls come than the node can answer.
var New func(node any, config httpaccess.Config, crowded func() bool) (gateway.Gateway, error)
