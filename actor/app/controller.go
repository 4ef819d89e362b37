package app

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/supervise"
)

// Config is a controller.
type Config struct {
	// Apps are the applications that can run on the node, in no order.
	Apps []App
	// Stop is called, on a goroutine of its own, when an application has ended without which nothing should go on (see Mode of App),
	// after all others were stopped. nil stops the node of the system, or the system where it has no node; Run returns then.
	Stop func(reason error)
}

// The names of the processes on their node.
const (
	// supervisorName is the name of the supervisor that has all applications as children.
	supervisorName = "applications"
	controllerName = "applications.controller"
	controllerID   = "controller"
)

// Spec is the controller of a node with its supervisor, to be started once in a system: app.Spec(c).Start(system).
// It starts no application by itself. When it receives an exit, it stops all, in reverse order of their start. The error is ApplicationConfig
// where an application needs one that is not known, or itself, or two have one name.
func Spec(c Config) actor.Spec {
	b := &book{config: c}
	return supervise.Spec(supervise.Config{Name: supervisorName, Intensity: 3, Ended: notify},
		supervise.Child{ID: controllerID, Start: controlling.Spec(b, actor.SpawnConfig{Name: controllerName})})
}

// notify notifies the controller that an application has ended. The supervisor does it, since a monitor that is made after
// the start of a process may come too late to know why it ended.
func notify(p *actor.Process, name string, root actor.PID, reason error) {
	actor.Send(p, actor.Name{Name: controllerName}, appEnded{root, reason})
}

// book is the state of a controller. It outlasts a controller that is restarted; only one uses it at a time.
type book struct {
	config Config
	apps   map[string]*application
	turn   int
}

// controller is the state of the controller: which process starts and stops applications, by calls to its supervisor.
type controller struct{ *book }

var controlling = actor.Define("app.controller", (*controller).init,
	actor.OnCall((*controller).start),
	actor.OnCall((*controller).stop),
	actor.OnCall((*controller).list),
	actor.OnCall((*controller).setEnv),
	actor.OnCall((*controller).setLogLevel),
	actor.OnMessage((*controller).ended),
	actor.OnMessage((*controller).down),
)

type (
	startApp struct{ Name string }
	stopApp  struct {
		Name           string
		WithDependents bool
	}
	listApps struct{}
	setEnv   struct {
		Name, Key string
		Value     any
	}
	setLogLevel struct {
		Name  string
		Level slog.Level
	}
	appEnded struct {
		Root   actor.PID
		Reason error
	}
)

func (c *controller) init(p *actor.Process, b *book) (err error) {
	c.book = b
	if b.apps == nil {
		b.apps, err = known(b.config.Apps)
		return err
	}
	for _, a := range b.apps { // another controller has started them, and they may have ended since
		if !a.pid.Zero() {
			p.Monitor(a.pid)
		}
	}
	return nil
}

// local refuses calls of other nodes, which have to come by a hand: see AllowRemoteSpawn.
func local(p *actor.Process) error {
	if p.SenderIsRemote() {
		return problem(actor.ErrNotPermitted, "applications are controlled from other nodes by app.On")
	}
	return nil
}

// find finds the application of a call.
func (c *controller) find(p *actor.Process, name string) (*application, error) {
	if err := local(p); err != nil {
		return nil, err
	}
	if a := c.apps[name]; a != nil {
		return a, nil
	}
	return nil, problem(errNoApplication, "%q", name)
}

// unhurried is a context for calls that take as long as an application takes to start or to stop: also where the caller
// does not wait any more, since what was begun goes on.
func unhurried(p *actor.Process) (context.Context, context.CancelFunc) {
	return patient(context.WithoutCancel(p.Context()))
}

func (c *controller) start(p *actor.Process, m startApp) (none struct{}, err error) {
	if _, err := c.find(p, m.Name); err != nil {
		return none, err
	}
	list, err := order(c.apps, m.Name)
	if err != nil {
		return none, err
	}
	var started []*application
	for _, a := range list {
		if !a.pid.Zero() {
			continue
		}
		if err := c.startOne(p, a); err != nil {
			slices.Reverse(started)
			for _, a := range started {
				c.stopOne(p, a)
			}
			return none, problem(errApplicationNotStarted, "%q: %w", a.Name, err)
		}
		started = append(started, a)
	}
	return none, nil
}

func (c *controller) startOne(p *actor.Process, a *application) error {
	ctx, cancel := unhurried(p)
	defer cancel()
	pid, err := supervise.At(p, p.Parent()).StartChild(ctx, supervise.Child{
		ID:       a.Name,
		Start:    a.Root.With(actor.SpawnConfig{Inherit: map[any]any{scopeKey{}: a.scope}, LogLevel: a.scope.level}),
		Restart:  "temporary",
		Shutdown: a.Shutdown,
	})
	if err != nil {
		return err
	}
	if pid.Zero() {
		return actor.ErrNormal // its Init has ended normally: there is nothing that runs
	}
	c.turn++
	a.pid, a.since, a.turn = pid, p.Now(), c.turn
	p.Log().Info("application started", "application", a.Name, "root", pid.String())
	return nil
}

func (c *controller) stop(p *actor.Process, m stopApp) (none struct{}, err error) {
	a, err := c.find(p, m.Name)
	if err != nil || a.pid.Zero() {
		return none, err
	}
	list := append(c.dependents(a.Name), a)
	if len(list) > 1 && !m.WithDependents {
		var names []string
		for _, a := range list[:len(list)-1] {
			names = append(names, a.Name)
		}
		return none, problem(errApplicationNeeded, "%q is needed by %q", a.Name, names)
	}
	c.stopAll(p, list)
	return none, nil
}

// dependents returns the running applications that need an application, directly or through others.
func (c *controller) dependents(name string) (list []*application) {
	for _, a := range c.apps {
		if a.pid.Zero() || a.Name == name {
			continue
		}
		if needs, _ := order(c.apps, a.Name); slices.ContainsFunc(needs, func(n *application) bool { return n.Name == name }) {
			list = append(list, a)
		}
	}
	slices.SortFunc(list, func(a, b *application) int { return a.turn - b.turn })
	return list
}

// stopAll stops applications in the reverse order of their start.
func (c *controller) stopAll(p *actor.Process, list []*application) {
	slices.SortFunc(list, func(a, b *application) int { return b.turn - a.turn })
	for _, a := range list {
		c.stopOne(p, a)
	}
}

func (c *controller) stopOne(p *actor.Process, a *application) {
	a.pid = actor.PID{} // so its Down is nothing unexpected
	ctx, cancel := unhurried(p)
	defer cancel()
	if err := supervise.At(p, p.Parent()).TerminateChild(ctx, a.Name); err != nil && !errors.Is(err, supervise.ErrNoChild) {
		p.Log().Error("application not stopped", "application", a.Name, "reason", err)
		return
	}
	p.Log().Info("application stopped", "application", a.Name)
}

func (c *controller) down(p *actor.Process, d actor.Down) error {
	return c.ended(p, appEnded{d.PID, d.Reason})
}

// ended reports that an application has ended without having been stopped. It may come twice.
func (c *controller) ended(p *actor.Process, d appEnded) error {
	var a *application
	for _, other := range c.apps {
		if !d.Root.Zero() && other.pid == d.Root {
			a = other
		}
	}
	if a == nil {
		return nil
	}
	a.pid = actor.PID{}
	failed := !errors.Is(d.Reason, actor.ErrNormal) && !errors.Is(d.Reason, actor.ErrShutdown)
	level := slog.LevelInfo
	if failed {
		level = slog.LevelError
	}
	p.Log().Log(p.Context(), level, "application ended", "application", a.Name, "mode", a.Mode, "reason", d.Reason)
	if a.Mode == temporary || a.Mode == transient && !failed {
		return nil
	}
	var others []*application
	for _, other := range c.apps {
		if !other.pid.Zero() {
			others = append(others, other)
		}
	}
	c.stopAll(p, others)
	reason := problem(errApplicationEnded, "%q: %w", a.Name, d.Reason)
	if c.config.Stop != nil {
		go c.config.Stop(reason)
	} else {
		go stopSystem(p.Node(), p.System())
	}
	return nil
}

// stopTimeout bounds how long the system may take to stop when an application has ended.
const stopTimeout = 30 * time.Second

func stopSystem(node *sabir.Node, system *actor.System) {
	ctx, cancel := context.WithTimeout(context.Background(), stopTimeout)
	defer cancel()
	if node != nil {
		node.Stop(ctx)
	} else {
		system.Stop(ctx)
	}
}

func (c *controller) list(p *actor.Process, _ listApps) ([]Info, error) {
	if err := local(p); err != nil {
		return nil, err
	}
	list := make([]Info, 0, len(c.apps))
	for _, a := range c.config.Apps {
		a := c.apps[a.Name]
		info := Info{Name: a.Name, Mode: a.Mode, Needs: a.Needs, Running: !a.pid.Zero(), PID: a.pid}
		if info.Running {
			info.Since = a.since
		}
		list = append(list, info)
	}
	return list, nil
}

func (c *controller) setEnv(p *actor.Process, m setEnv) (none struct{}, err error) {
	a, err := c.find(p, m.Name)
	if err != nil {
		return none, err
	}
	a.scope.mu.Lock()
	defer a.scope.mu.Unlock()
	if m.Value == nil {
		delete(a.scope.env, m.Key)
		return none, nil
	}
	if _, ok := a.scope.env[m.Key]; !ok && len(a.scope.env) >= maxEnv {
		return none, problem(errApplicationConfig, "%q has %d values in its environment, which is as many as it may have", a.Name, maxEnv)
	}
	a.scope.env[m.Key] = m.Value
	return none, nil
}

// maxEnv bounds what SetEnv adds.
const maxEnv = 10_000

func (c *controller) setLogLevel(p *actor.Process, m setLogLevel) (none struct{}, err error) {
	a, err := c.find(p, m.Name)
	if err == nil {
		a.scope.level.set(m.Level)
	}
	return none, err
}
