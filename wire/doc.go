// Package wire is the link between two nodes: one framed, multiplexed connection over which both sides call, open streams,
// send events and post messages. It knows nothing of services; its owner gives it a [Handler].
//
// A connection of package transport becomes a link in two steps:
//
//	peer, err := wire.Handshake(ctx, conn, config, dialled, wire.ForLink)
//	link := wire.New(conn, peer, config, handler)
//
// The protocol is specified in docs/protocol.md.
//
// # The way of a call
//
// [Call.Do] (call.go) takes a slot (slots.go) and appends its frame to the outgoing buffer (writer.go), both under one
// lock. Whoever finds nobody writing writes for all who have appended by then. The peer's reader (reader.go) takes all that
// has come at once, and either serves a request where it stands or queues it for workers (jobs.go) as an [Inbound]
// (inbound.go), whose answer goes back by the same way. Values of more than 64 KiB go in chunks (large.go), between which
// other frames find room.
//
// # What is bounded
//
// What a peer can make this side hold is bounded by [Limits]: calls and streams in flight, the bytes of a stream that wait
// unread, the size of a value, and how many routes, schemas and names it may declare. Values that come in parts hold what
// they say they need up to 2 MiB, beyond that twice what has really come, and at most 256 MiB together or one of
// Limits.Message. Callers wait while more than a mebibyte is
// to be written, and the reader never waits for them: a peer that asks on and on without reading the answers loses its link.
// A peer from which nothing comes for Config.SilenceLimit, or that takes nothing for Config.WriteTimeout, loses it too.
//
// # Certainties
//
//   - Every request is answered exactly once, also one that was cancelled, and its number is not used again before. So no
//     answer is ever taken for that of another call.
//   - When a link ends, every call and stream on it ends at once with a [*LostError], which tells whether the peer may have
//     got it.
//   - Values of one stream arrive in order; posts do too. Calls and events overtake one another.
package wire
