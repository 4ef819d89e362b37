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
// [Call.Do] (call.go) takes an entry in the table of calls (call_table.go) and appends its frame to the outgoing buffer (writer.go), both under one
// lock. If no other goroutine is writing, it writes for all that have appended by then. The peer's reader (reader.go) takes all
// that has come at once, and either serves a request on its own goroutine or queues it for workers (jobs.go) as an [Inbound]
// (inbound.go), whose answer goes back the same way. Values of more than 64 KiB are sent in chunks (large.go), so that other
// frames can go between them.
//
// # Locks, and the ownership of buffers
//
// Link.mu guards the outgoing buffer and the table of calls. The order of locks is Stream.mu, Link.mu, then streamTables.mu and
// leaving.mu. Type writer documents when a write may be skipped and the ownership of an outgoing buffer, type reader what of
// an incoming one must be copied, type calls when a pooled Call may be touched, and type jobs when an answer may be left for
// others to write.
//
// # What is bounded
//
// What a peer can make this side hold is bounded by [Limits]: calls and streams in flight, the bytes of a stream that wait
// unread, the size of a value, and how many routes, schemas and names it may declare. Values that come in parts hold what
// they announce up to 2 MiB, beyond that twice what has really come, and at most 256 MiB together or one of
// Limits.Message. Callers wait while more than a mebibyte is to be written. The reader never waits: a peer that keeps asking
// without reading the answers loses its link, and so does one that sends nothing for Config.SilenceLimit or reads nothing for
// Config.WriteTimeout.
//
// # Guarantees
//
//   - Every request is answered exactly once, also one that was cancelled, and its number is not used again before. So no
//     answer is ever taken for that of another call.
//   - When a link ends, every call and stream on it ends at once with a [*LostError], which reports whether the peer may have
//     received the request.
//   - Values of one stream arrive in order; posts do too. Calls and events overtake one another.
package wire
