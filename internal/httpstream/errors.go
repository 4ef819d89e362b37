package httpstream

import "github.com/sabir-go/sabir"

// The errors that are this package's own. Package web exports them.
var (
	// ErrManyValues: a stream sent more than one value, and its caller accepts application/json only. Accept application/x-ndjson or
	// text/event-stream.
	ErrManyValues = sabir.NewError(sabir.CodeInvalidArgument, "ManyValues", "the stream sends more than one value")
	// ErrTooSlow: events came faster than they were read. Listen again, and read faster; retryable.
	ErrTooSlow = sabir.NewError(sabir.CodeResourceExhausted, "TooSlow", "events came faster than they were read, and some are lost: listen again").AsRetryable()
	// ErrEventNotOffered: Events of web.Config do not offer these events. Ask for those that the message lists.
	ErrEventNotOffered = sabir.NewError(sabir.CodePermissionDenied, "EventNotOffered", "no such event is offered here")
	// ErrRangeNotSatisfiable: the file has no such part as the header Range asks for. Content-Range has the length of the file.
	ErrRangeNotSatisfiable = sabir.NewError(sabir.CodeInvalidArgument, "RangeNotSatisfiable", "the file has no such part")
	// ErrNotBothWays: a server around web.Handler cannot answer while a body comes. Send the body whole, or use another server.
	ErrNotBothWays = sabir.NewError(sabir.CodeInternal, "NotBothWays", "the web server cannot answer while a body comes")
)
