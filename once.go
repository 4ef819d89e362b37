package sabir

import (
	"context"
	"errors"

	"github.com/sabir-go/sabir/internal/option"
)

// Once declares that the service runs on one node of the cluster at a time: on any of those that serve it. Give each of them leases
// too, which decide where: see package lease. A node without leases does not start. While no node runs the service, calls of it are
// [ErrServiceUnavailable], retryable; see [WaitForNode]. A node is ready whether or not the service runs on it.
//
//	mailer := sabir.NewService("mailer", sabir.Once())
//	node := sabir.NewNode(sabir.Serve(mailer), lease.New(store, lease.Config{}).Option(), sabir.Join("tcp://:7700"))
func Once() ServiceOption {
	return serviceOptionOnce("Once", option.Caller(), func(s *Service) { s.once = true })
}

// onceRunner is an extension that decides when services run that run on one node at a time.
type onceRunner interface {
	// RunOnce starts and stops a service by start and stop, until end is called, or the extension stops. Start waits for the end of the node's
	// own start. They are called one at a time.
	RunOnce(s *Service, start, stop func(context.Context) error) (end func(context.Context) error, err error)
}

// onceService is a service that runs on one node at a time, of a node that may run it.
type onceService struct {
	runs bool // here, now
	end  func(context.Context) error
}

// withoutOnce takes out of a list the services that run once.
func withoutOnce(list []*Service) (rest, once []*Service) {
	for _, s := range list {
		if s != nil && s.once {
			once = append(once, s)
		} else {
			rest = append(rest, s)
		}
	}
	return rest, once
}

// runOnce gives services to the extension that decides when they run.
func (n *Node) runOnce(services []*Service) error {
	for _, s := range services {
		if err := s.check(); err != nil {
			return err
		}
		runner := n.onceRunner()
		if runner == nil {
			return &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id, Message: "service " + s.fullName() + ", made at " + s.where.String() +
				", is to run on one node at a time, and node " + n.id + " has no leases: give NewNode lease.New(store, lease.Config{}).Option(), with the store that all nodes share"}
		}
		end, err := runner.RunOnce(s, func(ctx context.Context) error { return n.startOnce(ctx, s) }, func(ctx context.Context) error {
			n.setRunsOnce(s, false)
			return n.remove(ctx, []*Service{s})
		})
		if err != nil {
			return err
		}
		n.onceLock.Lock()
		n.once[s] = &onceService{end: end}
		n.onceLock.Unlock()
	}
	return nil
}

func (n *Node) onceRunner() onceRunner {
	for _, e := range n.extensions.started {
		if runner, is := e.(onceRunner); is {
			return runner
		}
	}
	return nil
}

func (n *Node) startOnce(ctx context.Context, s *Service) error {
	return n.change(ctx, "add services to", true, func(ctx context.Context) error {
		err := n.startServices(ctx, []*Service{s})
		n.setRunsOnce(s, err == nil)
		return err
	})
}

// setRunsOnce notes whether the service runs here, and lets other nodes know that it waits where it does not.
func (n *Node) setRunsOnce(s *Service, runs bool) {
	n.onceLock.Lock()
	o := n.once[s]
	changed := o != nil && o.runs != runs
	if changed {
		o.runs = runs
	}
	n.onceLock.Unlock()
	if changed {
		n.announce()
	}
}

// runNoMore stops services that run once, here, and leaves them to other nodes.
func (n *Node) runNoMore(ctx context.Context, services []*Service) error {
	var errs []error
	for _, s := range services {
		if within(ctx, s.fullName()) {
			return n.selfWaitError("remove service " + s.fullName())
		}
		n.onceLock.Lock()
		o := n.once[s]
		delete(n.once, s)
		n.onceLock.Unlock()
		if o == nil {
			errs = append(errs, notRunning(n, s))
			continue
		}
		errs = append(errs, o.end(ctx))
	}
	n.announce()
	return errors.Join(errs...)
}

// mayRun reports whether the name is that of a service that runs once, and may run here.
func (n *Node) mayRun(service string) bool {
	n.onceLock.Lock()
	defer n.onceLock.Unlock()
	for s := range n.once {
		if s.name == service || s.fullName() == service {
			return true
		}
	}
	return false
}

// waitingNames is the services that wait on some node until they may start, by their names with and without their version, each with one such
// node.
func (n *Node) waitingNames() map[string]string {
	waiting := make(map[string]string)
	for _, s := range n.waitingServices() {
		waiting[s.name], waiting[s.fullName()] = n.id, n.id
	}
	if view := n.table.Load().view; view != nil {
		for _, node := range view.Nodes() {
			for _, w := range view.Waiting(node) {
				waiting[w.Name], waiting[withoutVersion(w.Name)] = node, node
			}
		}
	}
	return waiting
}
