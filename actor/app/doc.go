// Package app runs applications: groups of processes that belong together, such as a supervisor with all below it, each with
// what it needs, its environment and its level of logging.
//
// A node has one controller, which knows the applications that can run there. It starts an application after those that it
// needs, and stops them in the reverse order of their start. It keeps them below a supervisor that is called
// "applications", so [github.com/sabir-go/sabir/actor/supervise.Supervisor.Tree] of that name shows them all.
//
//	err := app.Run(ctx, system, app.Config{Apps: []app.App{
//		{Name: "store", Root: supervise.Spec(…)},
//		{Name: "shop", Needs: []string{"store"}, Mode: "permanent", Root: supervise.Spec(…), Env: map[string]any{"currency": "EUR"}},
//	}})
//
// The controller does one thing after another: as long as an application takes to start or to stop, other calls of this
// package wait. A process must not call Start and Stop while its own application starts: its Init would wait for itself.
package app
