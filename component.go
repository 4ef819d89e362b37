package sabir

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/sabir-go/sabir/internal/option"
)

// Component is a part of a service that works for it besides its actions and handlers, such as the consumer of a channel or
// the subscription of a bridge to another system. It opens, begins and closes with its service; the package that offers it
// adds it with [Service.Attach]. A component that hands events to a handler does so by an [EventReceiver].
//
// A component that receives messages may have the method Receives() (MessageType, string), with their type and the group of consumers; then the
// descriptions of the service have them.
//
// A service that was stopped may be served again, so Open may be called again after Close. The methods are called one at a
// time. A panic in one of them is its error; one in Begin is only logged.
type Component interface {
	// Name identifies it within its service and in errors: "consumer of shop.orders in group billing".
	Name() string
	// Open prepares the component while n starts the service: the services that this one depends on can be called, and its
	// start hooks have not run. Its error is that of the start; Open must have released its resources by itself then.
	Open(ctx context.Context, n *Node) error
	// Begin is called after the start hooks, when the service's actions can be called. It must not block.
	Begin()
	// Close takes no more work, and waits for running handlers or for the end of ctx, which is an error. It is called once
	// after an Open that returned nil: when the service stops, while its actions can still be called and before its stop
	// hooks; or without Begin, where the service could not start. All components of a service close at the same time.
	Close(ctx context.Context) error
}

// component is a component with the line that it is from.
type component struct {
	Component
	where option.Site
}

// Attach adds a component to the service. It is for packages that offer one, in a function of theirs that takes the service.
//
// Reports name the line of the program that skip points at: 0 for the call of Attach, 1 for the line that called the function
// that calls Attach, and so on. The problems are mistakes in that line: the service does not start, and its error lists all of
// them, each with file and line. Two components of one name are a mistake too. Attach panics when a node serves the service
// already, as [Handle] does.
func (s *Service) Attach(c Component, skip int, problems ...error) {
	var pc [1]uintptr
	runtime.Callers(2+skip, pc[:])
	where := option.Site(pc[0])
	s.declare("the "+c.Name(), where)
	for _, err := range problems {
		s.problem(where, "%w", err)
	}
	for _, other := range s.components {
		if other.Name() == c.Name() {
			s.problem(where, "service %s has the %s twice; the first is at %s", s.fullName(), c.Name(), other.where)
		}
	}
	s.components = append(s.components, component{c, where})
}

// openComponents opens the components of a service: all, or none where one fails.
func (n *Node) openComponents(ctx context.Context, s *Service) error {
	for i, c := range s.components {
		open := func(ctx context.Context) error { return c.Open(ctx, n) }
		if err := n.isolated("the opening of the "+c.Name(), ctx, open); err != nil {
			err = fmt.Errorf("service %s: %s at %s: %w", s.fullName(), c.Name(), c.where, err)
			return errors.Join(err, n.closeComponents(ctx, s.components[:i]))
		}
	}
	return nil
}

// beginComponents begins the components that openComponents opened. The service runs by now, so a panic is only logged.
func (n *Node) beginComponents(s *Service) {
	for _, c := range s.components {
		_ = n.isolated("the beginning of the "+c.Name(), background, func(context.Context) error {
			c.Begin()
			return nil
		})
	}
}

// closeComponents closes components, all at once: while one waits for its handlers, no other takes more work.
func (n *Node) closeComponents(ctx context.Context, list []component) error {
	errs := make([]error, len(list))
	var closing sync.WaitGroup
	for i, c := range list {
		closing.Go(func() {
			isolateGoroutine("the closing of the "+c.Name(), ctx, c.Close, func(err error) {
				n.logPanic(ctx, err)
				errs[i] = err
			})
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}
