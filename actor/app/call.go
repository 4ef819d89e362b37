package app

import (
	"context"
	"log/slog"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

// Option is an option of the calls to a controller.
type Option func(*calling)

type calling struct {
	node       string
	dependents bool
}

// OnNode addresses the controller of another node, which must permit it: see AllowRemoteSpawn.
func OnNode(node string) Option { return func(c *calling) { c.node = node } }

// WithDependents lets Stop also stop the applications that need the one that is to be stopped, before it.
func WithDependents() Option { return func(c *calling) { c.dependents = true } }

// Start starts an application, after those that it needs and that do not run. Where one of them does not start, those
// started before it are stopped again. That it runs already is no error. It waits until ctx ends; the start goes on after
// that. Errors: ErrNoApplication, ErrApplicationNotStarted, those of actor.Call (ErrNoProcess: the node has no controller), and with OnNode
// those of actor.Spawn on other nodes.
func Start(ctx context.Context, from actor.Sender, name string, options ...Option) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	_, err := call[struct{}](ctx, from, startApp{name}, read(options))
	return err
}

// Stop stops an application and returns when it has ended. That it does not run is no error. It waits as Start does. Errors:
// ErrNoApplication, ErrApplicationNeeded, and those of Start that are not about starting.
func Stop(ctx context.Context, from actor.Sender, name string, options ...Option) error {
	ctx, cancel := patient(ctx)
	defer cancel()
	c := read(options)
	_, err := call[struct{}](ctx, from, stopApp{name, c.dependents}, c)
	return err
}

// Info is an application as its controller sees it.
type Info struct {
	Name    string    `json:"name"`
	Mode    Mode      `json:"mode"`
	Needs   []string  `json:"needs,omitempty"`
	Running bool      `json:"running"`
	PID     actor.PID `json:"pid"`            // of its root; zero while it does not run
	Since   time.Time `json:"since,omitzero"` // of its start
}

// List returns the applications of a controller, in the order of its Config. Errors are those of Start that are not about
// starting.
func List(ctx context.Context, from actor.Sender, options ...Option) ([]Info, error) {
	return call[[]Info](ctx, from, listApps{}, read(options))
}

// SetEnv changes a value of an application's environment, for its processes that ask from now on; nil removes it. Over
// OnNode only a string can go. Errors: ErrNoApplication, one with the name ApplicationConfig where there are too many values, and those of Start that are not
// about starting.
func SetEnv(ctx context.Context, from actor.Sender, name, key string, value any, options ...Option) error {
	c := read(options)
	if c.node == "" {
		_, err := call[struct{}](ctx, from, setEnv{name, key, value}, c)
		return err
	}
	text, ok := value.(string)
	if !ok && value != nil {
		return problem(errApplicationConfig, "a %T is not set on another node, only a string is", value)
	}
	_, err := call[struct{}](ctx, from, setText{name, key, text, ok}, c)
	return err
}

// SetLogLevel changes the level from which on the processes of an application log; SystemLevel is that of the
// system's logger. It does not change what was set for single processes below. Errors are those of SetEnv.
func SetLogLevel(ctx context.Context, from actor.Sender, name string, level slog.Level, options ...Option) error {
	_, err := call[struct{}](ctx, from, setLogLevel{name, level}, read(options))
	return err
}

func read(options []Option) (c calling) {
	for _, option := range options {
		option(&c)
	}
	return c
}

// patient is ctx with a deadline, be it far, since without one a call ends after actor.CallTimeout.
func patient(ctx context.Context) (context.Context, context.CancelFunc) {
	return context.WithTimeout(ctx, supervise.Infinity)
}

// call calls the controller of this node, or by a hand that of another.
func call[Out, In any](ctx context.Context, from actor.Sender, in In, c calling) (Out, error) {
	if c.node == "" {
		return actor.Call[Out](ctx, from, actor.Name{Name: controllerName}, in)
	}
	pid, err := actor.Spawn(from, reaching, struct{}{}, actor.SpawnConfig{Node: c.node})
	if err != nil {
		var none Out
		return none, err
	}
	return actor.Call[Out](ctx, from, pid, in)
}
