package wire

import "time"

// Handler is the owner of a link, and receives what the peer does. Its methods are called on the link's reader, one at a
// time and in the order in which things arrived, and must not block: while they run, nothing else is read.
type Handler interface {
	// Opened is called once and before all other methods: nothing from the peer has been read. New may not have
	// returned yet.
	Opened(l *Link)
	// Route receives a route that the peer declared, before anything uses it. It returns what serves the route; never nil. A
	// peer that uses more routes than Limits.Routes declares some of them again and again.
	Route(l *Link, r *Route) Target
	// Post gets the data of the peer's Post or TryPost. It is valid until Post returns.
	Post(l *Link, topic uint8, data []byte)
	// GoAway reports that the peer takes no new work on this link: calls on it fail from now on with ErrGoingAway, those in
	// flight go on. It is called at most once.
	GoAway(l *Link)
	// Closed reports that the link has ended, and why. It is called once, after all calls in flight were failed and as the
	// last method.
	Closed(l *Link, err error)
}

// Target serves what comes in on one route. Its methods are called from many goroutines at once and must not panic. One that
// ends its goroutine (runtime.Goexit) has served its request or stream with that, and the link goes on.
type Target interface {
	// Inline reports whether Serve may run on the reader: for handlers that take a few microseconds and do not block.
	Inline() bool
	// Serve serves a request, of a call or an event. It is answered with exactly one Reply or Fail before Serve returns. in
	// and its payload are valid until then.
	Serve(in *Inbound)
	// ServeStream serves a stream on a goroutine of its own. When it returns the stream is over; call End before for an
	// error.
	ServeStream(s *Stream)
}

// Meta holds the fields that travel with a request, or with the opening of a stream, besides its value.
type Meta struct {
	// Event is the name of an event, for requests along an EventRoute only. It counts among the 48 KiB of Metadata.
	Event string
	// Groups are those that the emitter of an event chose, nil for all. The peer learns of them where both sides have that feature. They count among
	// the 48 KiB of Metadata.
	Groups []string
	// Timeout is the time that the sender waits, 0 for no bound. It has a resolution of one microsecond.
	Timeout time.Duration
	// Metadata is at most 48 KiB in all. The other side gets a map of its own, which is nil for none.
	Metadata map[string]string
	// RequestID is the id of this in the sender's logs; "" for none.
	RequestID string
	// Caller is the action that made the call, and Level how deep the call is nested; "" and 0 for a call from outside.
	Caller string
	Level  int
	// TakesPairs means that the caller reads Call.Pairs. Of an event and of the opening of a stream it does nothing.
	TakesPairs bool
}
