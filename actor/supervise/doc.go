// Package supervise starts processes in order, starts them again when they fail, and ends them in order: the supervisors of
// Erlang/OTP (https://www.erlang.org/doc/apps/stdlib/supervisor.html), whose rules it follows.
//
// A supervisor is a process. [Spec] makes one of a fixed list of children, which can be changed while it runs; [Dynamic] one
// of any number of children that are all alike ("simple one for one"). Both are an [actor.Spec], so a supervisor can be the
// child of another:
//
//	pid, err := supervise.Spec(supervise.Config{Name: "shop", Strategy: "rest-for-one"},
//		supervise.Child{ID: "db", Start: db.Spec(dsn)},
//		supervise.Child{ID: "orders", Start: supervise.Spec(supervise.Config{}, …)},
//	).Start(system)
//
// The children are linked with their supervisor. When a supervisor is killed, its children end with it.
//
// A supervisor starts its children in its own callbacks: as long as the Init of one takes, it does nothing else (see
// InitTimeout of [actor.SpawnConfig]). But it never waits in a callback for one to end, so it answers, restarts others, and obeys Kill
// while a child takes its time to shut down. Only a supervisor whose own start fails waits, for the end of those that it
// had started.
//
// What differs from OTP: a supervisor that gives up ends with [ErrRestartIntensity], which a supervisor above treats as a failure
// (there it is "shutdown", which is none for a transient child). It obeys [actor.Stop] by any process, not only by its parent.
// One whose child does not end within 5 s of being killed, since a callback of it does not return, goes on
// without it. In "one-for-one" the children that are not concerned are attended to while another shuts down.
package supervise
