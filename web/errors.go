package web

import "github.com/sabir-go/sabir/internal/httpstream"

// The errors of streams and events over HTTP, besides those of packages sabir, auth and filter.
var (
	ErrManyValues          = httpstream.ErrManyValues          // Accept: application/json for a stream that sent more than one value
	ErrTooSlow             = httpstream.ErrTooSlow             // events came faster than they were read
	ErrEventNotOffered     = httpstream.ErrEventNotOffered     // Events does not offer these events
	ErrRangeNotSatisfiable = httpstream.ErrRangeNotSatisfiable // the file has no such part as Range asks for
	ErrNotBothWays         = httpstream.ErrNotBothWays         // a server around Handler cannot answer while a body comes
)
