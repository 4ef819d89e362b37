package app

import (
	"context"
	"log/slog"
	"math"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/internal/level"
)

// Apps are the applications of one node, as its controller controls them: see [On].
type Apps struct {
	from actor.Sender
	node string
}

// On returns the applications of a node; "" for this one. Another node must permit it: see [AllowRemoteControl]. The errors of all methods
// are those of actor.Call too (ErrNoProcess: the node has no controller), and with another node those of actor.Spawn on other nodes.
func On(from actor.Sender, node string) Apps { return Apps{from, node} }

// Start starts an application, after those that it needs and that do not run. Where one of them does not start, those
// started before it are stopped again, and the error, which wraps the reason, has the name ApplicationNotStarted. That it runs already is
// no error; that there is none of that name is NoApplication. It waits until ctx ends; the start goes on after that.
func (a Apps) Start(ctx context.Context, name string) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	_, err := call[struct{}](ctx, a, startApp{name})
	return err
}

// Stop stops an application and returns when it has ended. That it does not run is no error. It waits as Start does. Errors:
// NoApplication, and one with the name ApplicationNeeded while others that need it run.
func (a Apps) Stop(ctx context.Context, name string) error { return a.stop(ctx, stopApp{Name: name}) }

// StopWithDependents does what Stop does, and stops the applications that need this one before it.
func (a Apps) StopWithDependents(ctx context.Context, name string) error {
	return a.stop(ctx, stopApp{Name: name, WithDependents: true})
}

func (a Apps) stop(ctx context.Context, m stopApp) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	_, err := call[struct{}](ctx, a, m)
	return err
}

// Info is an application as its controller sees it.
type Info struct {
	Name    string    `json:"name"`
	Mode    string    `json:"mode"`
	Needs   []string  `json:"needs,omitempty"`
	Running bool      `json:"running"`
	PID     actor.PID `json:"pid"`            // of its root; zero while it does not run
	Since   time.Time `json:"since,omitzero"` // of its start
}

// List returns the applications, in the order of their Config.
func (a Apps) List(ctx context.Context) ([]Info, error) {
	return call[[]Info](ctx, a, listApps{})
}

// SetEnv changes a value of an application's environment, for its processes that ask from now on; nil removes it. To another
// node only a string can go. Errors: NoApplication, and one with the name ApplicationConfig where there are too many values.
func (a Apps) SetEnv(ctx context.Context, name, key string, value any) error {
	if a.node == "" {
		_, err := call[struct{}](ctx, a, setEnv{name, key, value})
		return err
	}
	text, ok := value.(string)
	if !ok && value != nil {
		return problem(errApplicationConfig, "a %T is not set on another node, only a string is", value)
	}
	_, err := call[struct{}](ctx, a, setText{name, key, text, ok})
	return err
}

// SetLogLevel changes the level from which on the processes of an application log; nil is that of the system's logger. It does not
// change what was set for single processes below. Its error is NoApplication.
func (a Apps) SetLogLevel(ctx context.Context, name string, from slog.Leveler) error {
	if from == nil {
		from = level.System
	}
	_, err := call[struct{}](ctx, a, setLogLevel{name, from.Level()})
	return err
}

// patient is ctx with a deadline, be it far, since without one a call ends after 5 s.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, math.MaxInt64)
}

// call calls the controller of this node, or by a hand that of another.
func call[Out, In any](ctx context.Context, a Apps, in In) (Out, error) {
	if a.node == "" {
		return actor.Call[Out](ctx, a.from, actor.Name{Name: controllerName}, in)
	}
	pid, err := actor.Spawn(a.from, reaching, struct{}{}, actor.SpawnConfig{Node: a.node})
	if err != nil {
		var none Out
		return none, err
	}
	return actor.Call[Out](ctx, a.from, pid, in)
}
