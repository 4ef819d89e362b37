package app

import (
	"cmp"
	"log/slog"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/internal/level"
)

// App is an application.
type App struct {
	// Name names it on its node.
	Name string
	// Root is the process that it consists of, usually a supervisor with others: when it ends, the application has ended.
	Root actor.Spec
	// Needs are the applications that must run before it starts.
	Needs []string
	// Mode determines what happens when it ends without having been stopped: "temporary", it is logged; "transient", where the reason is a
	// failure, all others are stopped, and then the system, see Config.Stop; "permanent", so they are, whatever the reason. Default:
	// "temporary".
	Mode string
	// Shutdown bounds the time that Root may take to end before it is killed, as in supervise.Child.
	Shutdown time.Duration
	// Env holds the values that its processes read by Env. It is copied; values must not be changed later, but for what SetEnv
	// sets.
	Env map[string]any
	// LogLevel is the lowest level at which its processes log; nil for that of the system's logger. SetLogLevel changes it.
	LogLevel slog.Leveler
}

// The words of App.Mode.
const (
	temporary = "temporary"
	transient = "transient"
	permanent = "permanent"
)

// What can go wrong.
var (
	// errApplicationConfig: what the controller was given makes no sense.
	errApplicationConfig = sabir.NewError(sabir.CodeInvalidArgument, "ApplicationConfig", "applications cannot be like that")
	// errNoApplication: the controller knows no such application.
	errNoApplication = sabir.NewError(sabir.CodeNotFound, "NoApplication", "no such application on this node")
	// errApplicationNeeded: others that run need it: see Apps.StopWithDependents.
	errApplicationNeeded = sabir.NewError(sabir.CodeFailedPrecondition, "ApplicationNeeded", "other applications need it")
	// errApplicationNotStarted: the application, or one that it needs, did not start. It wraps the reason.
	errApplicationNotStarted = sabir.NewError(sabir.CodeAborted, "ApplicationNotStarted", "the application did not start")
	// errApplicationEnded: a permanent application has ended, or a transient one by a failure. It wraps the reason.
	errApplicationEnded = sabir.NewError(sabir.CodeAborted, "ApplicationEnded", "an application has ended that all depends on")
)

func problem(of *sabir.Error, format string, args ...any) error {
	e := sabir.Errorf(of.Code, of.Name, of.Message+": "+format, args...)
	e.Retryable = of.Retryable
	return e
}

// scope is shared by the processes of one application.
type scope struct {
	name  string
	level *variable

	mu  sync.RWMutex
	env map[string]any
}

type scopeKey struct{}

// variable is a level that can be changed.
type variable struct {
	mu    sync.RWMutex
	level slog.Leveler
}

func (v *variable) Level() slog.Level {
	v.mu.RLock()
	defer v.mu.RUnlock()
	return v.level.Level()
}

func (v *variable) set(level slog.Leveler) {
	v.mu.Lock()
	v.level = level
	v.mu.Unlock()
}

// Of is the application that a process belongs to: it was started by one of its processes on the same node. "" for none.
func Of(p *actor.Process) string {
	if s, ok := p.Value(scopeKey{}).(*scope); ok {
		return s.name
	}
	return ""
}

// Env is a value of the environment of the application that a process belongs to; otherwise where there is none of type T.
func Env[T any](p *actor.Process, key string, otherwise T) T {
	s, ok := p.Value(scopeKey{}).(*scope)
	if !ok {
		return otherwise
	}
	s.mu.RLock()
	defer s.mu.RUnlock()
	if value, ok := s.env[key].(T); ok {
		return value
	}
	return otherwise
}

// application is an App of a controller.
type application struct {
	App
	scope *scope
	pid   actor.PID // zero while it does not run
	since time.Time // of its start
	turn  int       // counts starts, so that the order is known
}

// known checks apps and makes them ready to be started.
func known(apps []App) (map[string]*application, error) {
	all := make(map[string]*application, len(apps))
	for _, a := range apps {
		a.Mode = cmp.Or(a.Mode, temporary)
		switch {
		case a.Name == "" || a.Name == controllerID || a.Root.Zero():
			return nil, problem(errApplicationConfig, "%q needs a name other than %q and a Root", a.Name, controllerID)
		case all[a.Name] != nil:
			return nil, problem(errApplicationConfig, "there are two called %q", a.Name)
		case a.Mode != temporary && a.Mode != transient && a.Mode != permanent:
			return nil, problem(errApplicationConfig, "Mode of %q is %q: want %q, %q or %q", a.Name, a.Mode, temporary, transient, permanent)
		case a.Shutdown < -1:
			return nil, problem(errApplicationConfig, "Shutdown of %q is %s: want a positive time, or -1 to kill it at once", a.Name, a.Shutdown)
		}
		if a.LogLevel == nil {
			a.LogLevel = level.System
		}
		env := maps.Clone(a.Env)
		if env == nil {
			env = map[string]any{}
		}
		a.Needs = slices.Clone(a.Needs)
		all[a.Name] = &application{App: a, scope: &scope{name: a.Name, level: &variable{level: a.LogLevel}, env: env}}
	}
	for _, a := range apps {
		if _, err := order(all, a.Name); err != nil {
			return nil, err
		}
	}
	return all, nil
}

// order is an application after all that it needs.
func order(all map[string]*application, name string) (list []*application, err error) {
	const open, done = 1, 2
	seen := map[string]int{}
	var visit func(name, by string) error
	visit = func(name, by string) error {
		a := all[name]
		switch {
		case a == nil:
			return problem(errApplicationConfig, "%q needs %q, which is not known", by, name)
		case seen[name] == open:
			return problem(errApplicationConfig, "%q needs itself, by %q", name, by)
		case seen[name] == done:
			return nil
		}
		seen[name] = open
		for _, other := range a.Needs {
			if err := visit(other, name); err != nil {
				return err
			}
		}
		seen[name] = done
		list = append(list, a)
		return nil
	}
	return list, visit(name, name)
}
