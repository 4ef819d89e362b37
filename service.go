package sabir

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"

	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/internal/option"
)

// Service is a named, versioned set of actions and event handlers. Make it with [NewService], fill it with [Handle],
// [HandleStream] and [On], and give it to a node with [Serve] or [Node.Add]. One node at a time serves it. What is declared
// while it is served would have no effect, and panics.
type Service struct {
	name        string
	version     int
	preferred   bool
	description string
	where       option.Site
	group       string
	needs       []string      // full names of services
	contracts   []dependency  // of actions of those
	once        bool          // see Once
	sends       []MessageType // see Sends
	middlewares []Middleware
	rules       []Allow
	definitions []*definition
	defined     map[string]*definition // the same by name
	handlers    []*eventDefinition
	components  []component // see Attach
	onStart     []func(context.Context) error
	onStop      []func(context.Context) error
	checks      []*readyCheck // see Ready
	given       option.Given
	problems    []error

	node atomic.Pointer[Node]
	gate *gate // while it runs; nil without stop hooks

	extent membership.Extent // while it runs: how much it takes of what its node may offer
}

// NewService makes an empty service. Its actions are called "name.action", or "v2.name.action" with Version(2).
func NewService(name string, options ...ServiceOption) *Service {
	s := &Service{name: name, where: option.Caller()}
	for _, o := range options {
		o.applyService(s)
	}
	if bad := badServiceName(name); bad != "" && !strings.HasPrefix(name, "$") {
		s.problem(s.where, "the service name %.100q %s", name, bad)
	}
	return s
}

// ServiceOption is an option of NewService: [Version], [Preferred], [DependsOn], [Sends], [OnStart], [OnStop], [Ready], [Use], [Allow], [Doc].
// DependsOn, Sends, OnStart, OnStop, Ready, Use and Allow add up; a service with two of another does not start.
type ServiceOption interface{ applyService(*Service) }

type serviceOption func(*Service)

func (o serviceOption) applyService(s *Service) { o(s) }

// Version makes the service one of several versions that run side by side; n is at least 1. An action of it is
// "v2.users.get"; "users.get" reaches the service without a version if there is one, else the [Preferred] version, else
// the highest.
func Version(n int) ServiceOption {
	return serviceOptionOnce("Version", option.Caller(), func(s *Service) {
		if n < 1 {
			s.problem(s.where, "the version of %s is %d; it must be at least 1", s.name, n)
		}
		s.version = n
	})
}

// Preferred makes this version the one that names without a version reach.
func Preferred() ServiceOption {
	return serviceOptionOnce("Preferred", option.Caller(), func(s *Service) { s.preferred = true })
}

// OnStart adds a hook that runs before the first action can be called; an error stops the start. Hooks run in order. A hook
// that has not returned one second after its context ended, which is that of [Node.Start] or [Node.Add], is left behind: the start has failed then.
func OnStart(hook func(context.Context) error) ServiceOption {
	at := option.Caller()
	return serviceOption(func(s *Service) { s.onStart = s.withHook(s.onStart, hook, "OnStart", at) })
}

// OnStop adds a hook that runs after the last call has ended: it may close what the actions use. Hooks run in reverse
// order, all of them whatever the others return; one that has not returned one second after its context ended, which is that of
// [Node.Stop] or [Node.Remove], is left behind.
func OnStop(hook func(context.Context) error) ServiceOption {
	at := option.Caller()
	return serviceOption(func(s *Service) { s.onStop = s.withHook(s.onStop, hook, "OnStop", at) })
}

// withHook adds a hook to others; nil is an error of the start, since it would fail when the node stops, at the latest.
func (s *Service) withHook(hooks []func(context.Context) error, hook func(context.Context) error, name string, at option.Site) []func(context.Context) error {
	if hook == nil {
		s.problem(at, "%s was given nil", name)
		return hooks
	}
	return append(hooks, hook)
}

// fullName is the name with its version: "v2.users".
func (s *Service) fullName() string { return fullServiceName(s.name, s.version) }

// Name is the service's full name: "users", or "v2.users" with Version(2).
func (s *Service) Name() string { return s.fullName() }

// Group is the group of consumers that the service's handlers are in unless they set another: its name without the version.
func (s *Service) Group() string { return s.name }

func (s *Service) callingNode() *Node {
	if s == nil {
		return nil
	}
	return s.node.Load()
}

func (s *Service) services() []*Service { return []*Service{s} }

func (s *Service) problem(where option.Site, format string, args ...any) {
	s.problems = append(s.problems, fmt.Errorf(where.String()+": "+format, args...))
}

func (s *Service) define(def *definition) {
	if bad := names.Fault(def.short); bad != "" {
		s.problem(def.where, "the action name %.100q %s", def.short, bad)
	}
	if other := s.defined[def.short]; other != nil {
		s.problem(def.where, "service %s has two actions called %q; the first is at %s", s.fullName(), def.short, other.where)
	} else {
		if s.defined == nil {
			s.defined = make(map[string]*definition)
		}
		s.defined[def.short] = def
	}
	s.problems = append(s.problems, def.problems...)
	s.definitions = append(s.definitions, def)
}

// declare panics where the declaration at where would have no effect: the service runs, and its declarations were read when it
// started. It panics, as net/http's ServeMux does, because the functions that declare return no error, and the start that
// could have reported it is over.
func (s *Service) declare(what string, where option.Site) {
	if s == nil {
		panic("sabir: " + what + " is declared at " + where.String() + " for a nil *sabir.Service: make one with sabir.NewService")
	}
	if n := s.node.Load(); n != nil {
		panic("sabir: " + what + " of service " + s.fullName() + " is declared at " + where.String() + ", but node " + n.id +
			" serves it already and would never run this: declare before the node starts, or give node.Add a new service")
	}
}

// check returns all errors of the service's declaration at once.
func (s *Service) check() error {
	if s == nil || s.where == 0 {
		return &Error{Code: CodeInvalidArgument, Name: nameBadService,
			Message: "a service was not made by sabir.NewService, which every service must be: it is nil or the zero Service"}
	}
	if len(s.problems) == 0 {
		return nil
	}
	return &Error{Code: CodeInvalidArgument, Name: nameBadService, cause: errors.Join(s.problems...),
		Message: "service " + s.fullName() + " cannot start: " + errors.Join(s.problems...).Error()}
}

// Module is several services that start, stop, join and leave a node as one, and share middlewares.
type Module struct {
	name    string
	members []*Service
}

// NewModule makes a group of services. The name is for listings.
func NewModule(name string, members ...*Service) *Module {
	g := &Module{name: name, members: members}
	for _, s := range members {
		if s != nil {
			s.group = name
		}
	}
	return g
}

// Use adds middlewares around those of each member. It panics when a member has started.
func (g *Module) Use(wrappers ...Wrapper) *Module {
	where := option.Caller()
	for _, s := range g.members {
		s.use(wrappers, where)
	}
	return g
}

// Use adds middlewares around those that the service has. It panics when the service has started.
func (s *Service) Use(wrappers ...Wrapper) *Service {
	s.use(wrappers, option.Caller())
	return s
}

func (s *Service) use(wrappers []Wrapper, where option.Site) {
	s.declare("a middleware", where)
	s.middlewares = append(middlewaresOf(wrappers), s.middlewares...)
}

func (g *Module) services() []*Service {
	if g == nil {
		return []*Service{nil} // see Service.check
	}
	return g.members
}

// Servable is anything that a node can serve: a *Service or a *Group.
type Servable interface{ services() []*Service }

// flatten lists the services of all.
func flatten(all []Servable) (list []*Service) {
	for _, one := range all {
		if one == nil {
			list = append(list, nil) // see Service.check
			continue
		}
		list = append(list, one.services()...)
	}
	return list
}

// startOrder sorts services so that each comes after those it needs. Needs that are not among them are left to waiting.
func startOrder(list []*Service) ([]*Service, error) {
	byName := make(map[string][]*Service)
	for _, s := range list {
		byName[s.name] = append(byName[s.name], s)
		if s.version != 0 {
			byName[s.fullName()] = append(byName[s.fullName()], s)
		}
	}
	const visiting, done = 1, 2
	state := make(map[*Service]int)
	var order []*Service
	var way []string
	var visit func(s *Service) error
	visit = func(s *Service) error {
		switch state[s] {
		case done:
			return nil
		case visiting:
			from := slices.Index(way, s.fullName())
			return &Error{Code: CodeInvalidArgument, Name: nameBadService,
				Message: "services need each other in a circle: " + strings.Join(append(way[from:], s.fullName()), " needs ")}
		}
		state[s] = visiting
		way = append(way, s.fullName())
		for _, need := range s.needs {
			for _, other := range byName[need] {
				if err := visit(other); err != nil {
					return err
				}
			}
		}
		way = way[:len(way)-1]
		state[s] = done
		order = append(order, s)
		return nil
	}
	for _, s := range list {
		if err := visit(s); err != nil {
			return nil, err
		}
	}
	return order, nil
}

// gate counts the calls inside a service that has a stop hook, so that the hook runs after the last of them: it may
// close what they use. A service without one has nothing to wait for, so its calls are not counted.
type gate struct {
	inside atomic.Int64 // plus gateClosed once closed
	empty  chan struct{}
	once   sync.Once
}

const gateClosed = int64(-1) << 62

func newGate() *gate { return &gate{empty: make(chan struct{})} }

// enter counts a call in; false when the gate is closed.
func (g *gate) enter() bool {
	if g.inside.Add(1) > 0 {
		return true
	}
	g.leave()
	return false
}

// leave counts a call out. The last one out of a closed gate ends the wait of shut.
func (g *gate) leave() {
	if g.inside.Add(-1) == gateClosed {
		g.once.Do(func() { close(g.empty) }) // calls that came late may each be the last
	}
}

// shut keeps new calls out and waits for those inside, or for the context.
func (g *gate) shut(ctx context.Context) error {
	if g.inside.Add(gateClosed) == gateClosed {
		return nil
	}
	select {
	case <-g.empty:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
