// Package bus makes connections of the messages of a broker, so that links run over a [transport.Bus] as they do over a
// [transport.Stream].
//
//	hub, err := bus.Open(ctx, "nats://127.0.0.1:4222", bus.Config{Cluster: "shop", Node: "n1"})
//	listener := hub.Listener()            // others dial listener.Addr()
//	conn, err := hub.Dial(ctx, address)   // an address that another hub's listener has
//
// Every hub has one subject of its own, its inbox, and shares one with all others, for [Hub.Broadcast]. A connection is a
// session between two inboxes. What one Write was given goes out as one message, however many frames are in it, so the
// broker's cost for a message is shared by all of them.
//
// A broker loses what it was given when it stops, and brokers drop what a slow subscriber does not take. So the sender
// keeps what the other side has not read yet, at most [Window] bytes, and sends it again when the other side reports that
// something is missing: when a gap shows, when nothing was confirmed for a while, and when the connection to the broker is
// back. A session therefore outlives a restart of the broker, and nothing in it is lost, doubled or in another order. It
// ends when one side closes it, or when the broker reports for more than a second that nothing listens to the other side's
// inbox.
//
// With a cluster key sessions are sealed: who has access to the broker, and not the key, sees which inboxes send how much when, and no more.
// What such a program publishes is dropped, counted and logged, and changes nothing. Without a key it can read and disturb what goes over the
// broker; then the broker's own accounts and TLS keep strangers from it.
package bus
