package wire

import "time"

// Handler is the owner of a link, who is told what the peer does. Its methods are called on the link's reader, one at a
// time and in the order in which things arrived, and must not block: while they run, nothing else is read.
type Handler interface {
	// Opened is called once and before all other methods: nothing of what the peer says has been read. New may not have
	// returned yet.
	Opened(l *Link)
	// Route is told of a route that the peer declared, once for each, before anything uses it. It returns what serves the
	// route; never nil.
	Route(l *Link, r *Route) Target
	// Post gets what the peer's Post or TryPost sent. data is valid until Post returns.
	Post(l *Link, topic uint8, data []byte)
	// GoAway says that the peer takes no new work on this link: calls on it fail from now on with ErrGoingAway, those in
	// flight go on. It is called at most once.
	GoAway(l *Link)
	// Closed says that the link has ended, and why. It is called once, after all calls in flight were failed and as the
	// last method.
	Closed(l *Link, err error)
}

// Target serves what comes in on one route. Its methods are called from many goroutines at once and must not panic.
type Target interface {
	// Inline tells whether Serve may run on the reader: for handlers that take a few microseconds and do not block.
	Inline() bool
	// Serve serves a request, of a call or an event. It is answered with exactly one Reply or Fail before Serve returns. in
	// and its payload are valid until then.
	Serve(in *Inbound)
	// ServeStream serves a stream on a goroutine of its own. When it returns the stream is over; call End before for an
	// error.
	ServeStream(s *Stream)
}

// Meta is what travels with a request or the opening of a stream besides its value.
type Meta struct {
	// Timeout is how long the sender waits, 0 for no bound. It has a resolution of one microsecond.
	Timeout time.Duration
	// Metadata is at most 48 KiB in all. The other side gets a map of its own, which is nil for none.
	Metadata map[string]string
	// RequestID is what the sender's logs call this; "" for none.
	RequestID string
	// Caller is the action that made the call, and Level how deep the call is nested; "" and 0 for a call from outside.
	Caller string
	Level  int
}
