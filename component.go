package sabir

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"sync"

	"github.com/sabir-go/sabir/internal/option"
)

// component is an extension of a service, with the line that it is from.
type component struct {
	Extension
	where option.Site
}

// Attach adds an extension to the service. It is for packages that offer one, in a function of theirs that takes the service.
//
// Reports name the line of the program that skip points at: 0 for the call of Attach, 1 for the line that called the function
// that calls Attach, and so on. The problems are mistakes in that line: the service does not start, and its error lists all of
// them, each with file and line. Two extensions of one name are a mistake too. Attach panics when a node serves the service
// already, as [Handle] does.
func (s *Service) Attach(e Extension, skip int, problems ...error) {
	var pc [1]uintptr
	runtime.Callers(2+skip, pc[:])
	where := option.Site(pc[0])
	s.declare("the "+e.Name(), where)
	for _, err := range problems {
		s.problem(where, "%w", err)
	}
	for _, other := range s.components {
		if other.Name() == e.Name() {
			s.problem(where, "service %s has the %s twice; the first is at %s", s.fullName(), e.Name(), other.where)
		}
	}
	s.components = append(s.components, component{e, where})
}

// openComponents opens the components of a service: all, or none where one fails.
func (n *Node) openComponents(ctx context.Context, s *Service) error {
	for i, c := range s.components {
		open := func(ctx context.Context) error { return c.Start(ctx, n) }
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
		beginner, ok := c.Extension.(interface{ Begin() })
		if !ok {
			continue
		}
		_ = n.isolated("the beginning of the "+c.Name(), background, func(context.Context) error {
			beginner.Begin()
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
			isolateGoroutine("the closing of the "+c.Name(), ctx, c.Stop, func(err error) {
				n.logPanic(ctx, err)
				errs[i] = err
			})
		})
	}
	closing.Wait()
	return errors.Join(errs...)
}
