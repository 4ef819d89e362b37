// Package grain is virtual processes: each has a kind and a key, is there whenever it is called, and has a state that
// outlives every node. None is started or stopped explicitly. The first call activates it on one node of the cluster, which
// loads its state; when it has not been used for a while it rests, and the next call activates it again, there or elsewhere. It
// is the idea of Orleans (Bykov and others 2011, https://doi.org/10.1145/2038916.2038932).
//
//	type Profile struct{ Name string; Visits int } // what is saved
//	type User struct{ grain.State[Profile] }
//	type Visit struct{}
//
//	func (u *User) Visit(p *actor.Process, _ Visit) (int, error) {
//		u.Value.Visits++
//		return u.Value.Visits, u.Save(p)
//	}
//
//	var users = grain.Define("user", grain.OnCall((*User).Visit))
//
//	system := actor.NewSystem(actor.Config{})
//	grains := grain.New(system, grain.Config{Store: store}, users)
//	node := sabir.NewNode(system.Option(), grains.Option(), sabir.Join("tcp://:7700"))
//
//	n, err := grain.Call[int](ctx, system, users.Key("ada"), Visit{})
//
// An active grain is a process of package actor: its callbacks run one at a time and may block, and it is not reentrant: a
// grain that calls itself, also by way of others, waits until the call's time is over. Without a node, Start and Stop take
// the place of Option.
//
// # Where a grain is
//
// A node serves the kinds that [New] gave it, and may call all. The nodes that serve a kind share out its
// grains by rendezvous hashing over kind and key, so when one of n comes or goes, about one in n grains moves. A node
// learns what others serve when the link between their systems comes up, and forgets it when that is lost or the other
// stops; see Grains.WaitFor for the first moments of a node.
//
// The caller's node finds the owner and sends the call there. A node that is asked for a grain it does not own refuses.
// Then the caller's node tries again as its view of the cluster changes, until the call's deadline, or for
// 5 s; so it does where the link to the owner was lost before the call was sent. All this is where nothing
// was done. A call that was sent and not answered because the owner was lost is not tried again: its error is
// [store.ErrOutcomeUnknown]. A call whose time is over may have been handled, as always.
//
// When the cluster changes, activations that belong elsewhere end: the message being handled is finished, calls that wait
// are refused as above and messages are sent on to the new owner, without a sender. Meanwhile messages sent
// later may arrive earlier. Otherwise the messages of one process to one grain keep their order.
//
// # One that writes
//
// On one node there is one activation of a grain at a time; calls that come at once wait for the same. In the cluster there
// may be two for a moment while it changes, and as long as it is split. Each state has a revision in the store, and an
// activation that saves names the one it has loaded or saved last. So of two activations one saves, and the other gets
// [store.ErrFenced]: what it changed is forgotten, the caller gets that error, which is retryable where this handler had saved
// nothing before, and the next call finds the grain where its owner is now, or loads it anew. What the handler has done besides
// was done.
//
// An activation that was fenced out and does not know it yet answers calls that save nothing from its old state. A caller that
// must not see that makes the handler [Handler.Strong], which asks the store before it answers, or serves only where most nodes are
// seen: see Among of [Config].
//
// # State
//
// State.Value is loaded before the first message is handled, and saved by State.Save and by nothing else. When a Save
// fails, for whatever reason, or a handler panics, or a handler of messages returns an error, the value is forgotten and
// loaded again for the next message: nothing half changed is kept, and what was not saved was not done. The caller gets
// the error; [store.ErrOutcomeUnknown] when it is unknown whether it was saved. An error that a handler of calls returns
// without that is the caller's answer, and the value stays as the handler has left it.
//
// States are saved in JSON, so that they can be read in the store, or in the native codec, see NativeState of [Config]; the
// first byte is the form's mark, and both are read whichever is written. In both, fields may be added and removed between
// deployments. An older program that saves drops the fields that it does not know.
//
// When the state cannot be loaded, or Activate fails, the callers that wait get that error, and nothing is left behind.
//
// # Hooks
//
// They are found by their names on the grain's type: Activate(p *actor.Process) error runs when the state was loaded,
// Deactivate(p *actor.Process) before the activation ends normally: at rest, when it moves, when its node stops. It may
// Save. It does not run when a state is forgotten, or where a node is killed: what must not be lost is saved before the
// answer.
//
// # Bounds
//
// Those of [Config]: MaxActive activations of a node, Mailbox messages that wait for one. One that is idle for IdleAfter rests; there is
// no timer for each, but a look at all of them four times in that time. A message that comes while a grain is on its way
// to rest waits for the next activation.
//
// actor.Kill of an activation leaves no time to hand on what waits: those calls get actor.ErrNoProcess, and may have been
// handled. Timers and messages that an activation sends to its own PID, and everything else that names the PID instead of
// the grain, end with the activation.
package grain
