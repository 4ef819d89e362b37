// Package transports is what the transports of this module share, and how the engine finds those that are registered. Transports of
// others do with package transport.
package transports

import (
	"context"

	"github.com/sabir-go/sabir/internal/schemes"
	"github.com/sabir-go/sabir/transport"
)

// Stream returns the transport that was registered for the scheme by transport.Register, and whether there is one.
func Stream(scheme string) (transport.Stream, bool) {
	t, _ := schemes.Transports.Lookup(scheme)
	s, ok := t.Stream.(transport.Stream)
	return s, ok
}

// Bus returns the transport that was registered for the scheme by transport.RegisterBus, and whether there is one.
func Bus(scheme string) (transport.Bus, bool) {
	t, _ := schemes.Transports.Lookup(scheme)
	b, ok := t.Bus.(transport.Bus)
	return b, ok
}

// Schemes returns all registered schemes, of both shapes, in alphabetical order. The slice is the caller's.
func Schemes() []string { return schemes.Transports.Names() }

// HalfCloser is implemented by connections that can end their own direction and still read. The peer reads what was
// written and then io.EOF. Of the transports here, mem, tcp, tls and unix have it.
type HalfCloser interface {
	CloseWrite() error
}

// Sharer shares out the messages of a subject. A transport.Broker implements it where it can.
type Sharer interface {
	// SubscribeShared is Subscribe for a group: of all that subscribe to a message's subject for one group, one gets the message. In the
	// subject a word may be "*", which is any word, and the last may be ">", which is one word or more. stop ends the subscription; what has
	// been received by then is still delivered.
	SubscribeShared(ctx context.Context, subject, group string, deliver func(data []byte)) (stop func(), err error)
}
