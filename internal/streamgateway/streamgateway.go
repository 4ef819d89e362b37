// Package streamgateway has a program link what its gateways do for streams only where there may be some: they are 0.2 MB of a small one.
//
// A gateway does that in the method ServeStream, which a linker leaves out where nothing calls it by its interface. Link has the only call, and is
// reached from what programs with streams call, such as sabir.HandleStream.
package streamgateway

import "sync"

// Request is a stream that a caller of a gateway asks for.
type Request interface{ ServeStream() }

var (
	link  sync.Once
	serve func(Request)
)

// Link is called before there is a stream that Serve could be called for.
func Link() { link.Do(func() { serve = Request.ServeStream }) }

// Serve serves a stream until it has ended.
func Serve(r Request) { serve(r) }
