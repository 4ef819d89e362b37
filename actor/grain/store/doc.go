// Package store keeps the state of grains, so that a grain goes on elsewhere with what it had.
//
//	import _ "github.com/sabir-go/sabir/broker/redis"
//
//	s, err := store.Open(ctx, "redis://127.0.0.1:6379")
//	entry, err := s.Load(ctx, "account", "ada")                              // Revision 0: nothing saved yet
//	revision, err := s.Save(ctx, "account", "ada", state, entry.Revision)    // ErrFenced: another activation has written since
//
// # Fencing
//
// A cluster tries to have one activation of a grain at a time, and cannot promise it: a node that was thought dead may
// come back. What it can promise is that at most one of them writes. Each saved state has a revision, and a write names
// the one that its activation knows. A write that names another than the store's is refused with [ErrFenced], and that
// activation must stop: its state is out of date.
//
// Revisions of a key only grow, and none is used twice, also after Delete and a new beginning, so that an activation
// which slept through all of that is still refused. How a driver keeps that is in its documentation.
//
// # Answers that are lost
//
// When the connection breaks under a Save, the write may have been done or not, and a copy of it may even lie in a buffer
// on the way and be done later. Three things make the outcome certain:
//
//   - Each Save and Delete has a random token, which the store keeps with what was written. When the answer is lost, the
//     same write is sent again until the context ends. All copies name the same revision, so at most one is done; and when
//     one is refused, the token in the store reports whether an earlier copy is why. So a cut connection neither fences the
//     author of a write nor has it done twice: Save just takes longer.
//   - Where the context ends first, the error is [ErrOutcomeUnknown]: the owner must Load before it goes on. Until it does, Save
//     and Delete with the same revision answer ErrOutcomeUnknown again.
//   - That Load, by the same Store, settles the matter. Either the write is done, and Load returns it. Or it is not: Load
//     then gives what is saved a new revision, and all copies still on their way are refused when they arrive. For others
//     that know the earlier revision that is a write like any other: they are fenced.
//
// If another activation wrote while the answer was lost, the error is ErrFenced and ErrOutcomeUnknown at once: the caller must
// stop, and whether its own write was there in between is unknown.
//
// What remains: a process that ends before that Load leaves copies unsettled. The next activation to load the grain on
// another node may be fenced by one of them. It then stops and loads again, as always; nothing is lost that was acknowledged.
//
// # Limits
//
// A kind is up to 128 bytes of lower-case letters, digits, '-' and '.', without empty words between its dots. A key is any
// string up to 1 KiB, also an empty one, and one that is not UTF-8. A state is up to 16 MiB unless [Config] sets another
// limit; brokers may take less, see the drivers. An operation whose context has no deadline has 15 seconds. A Store remembers
// up to 65,536 unsettled writes; beyond that it forgets some, which are then as if the process had ended.
package store
