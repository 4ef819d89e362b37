package sabir

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/sabir-go/sabir/gateway"
)

// Run starts the node, waits until the context ends or the process gets a signal to stop (SIGINT, SIGTERM), and stops it
// gracefully: nothing new is taken, calls in flight finish. A second signal ends the process at once. It returns nil
// after a clean stop, and an error after a signal that broke off the start.
func (n *Node) Run(ctx context.Context) error {
	if err := n.check(); err != nil {
		return err
	}
	ctx, end := untilSignal(ctx)
	defer end()
	if err := n.Start(ctx); err != nil {
		if context.Cause(ctx) == errSignaled {
			err = fmt.Errorf("the start was broken off, as %w: %w", errSignaled, err)
		}
		return err
	}
	<-ctx.Done()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.limits.Load().stop)
	defer cancel()
	return n.Stop(stopCtx)
}

// untilSignal returns a context that ends with ctx, with end, and at SIGINT or SIGTERM. Before it ends the signals have their usual effect again:
// whoever has seen that a process stops, also in a start that is broken off, ends it at once by a second signal.
func untilSignal(ctx context.Context) (_ context.Context, end func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt, syscall.SIGTERM)
	go func() {
		var cause error
		select {
		case <-signals:
			cause = errSignaled
		case <-ctx.Done():
		}
		signal.Stop(signals)
		cancel(cause)
	}()
	return ctx, func() { cancel(nil) }
}

// errSignaled is the cause of the end of a context by a signal.
var errSignaled = errors.New("the process got a signal to stop")

// Start starts the services, each after those it needs, and then whatever lets calls in from outside; that comes first where
// services wait for those of other nodes, see [DependsOn]. When one of them fails, those started are stopped again and the error names which failed and why. A node starts once.
func (n *Node) Start(ctx context.Context) error {
	if err := n.check(); err != nil {
		return err
	}
	if !n.state.CompareAndSwap(int32(stateCreated), int32(stateStarting)) {
		return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id,
			Message: "cannot start node " + n.id + ": it is " + n.stateNow().String() + "; a node starts once, by Start or by Run"}
	}
	n.lifecycle.mustLock() // before the node runs, nothing has the lock for long
	defer n.lifecycle.unlock()
	n.tableLock.Lock()
	n.started = time.Now()
	n.tableLock.Unlock()
	if err := n.runStage(inLifecycle(ctx, n), Stage{Node: n.id}, n.startAll, n.middlewares); err != nil {
		stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.limits.Load().stop)
		defer cancel()
		return errors.Join(err, n.stopAll(stopCtx))
	}
	n.offers.Store(true)
	n.awaitPeers()
	n.state.Store(int32(stateRunning))
	n.announce()
	n.watchDependencies()
	n.logStart()
	return nil
}

// logStart says that the node serves, and what. A node with nothing to serve, such as one of a command, says so to who looks for details only.
func (n *Node) logStart() {
	var services []string
	for _, s := range n.running {
		if !strings.HasPrefix(s.name, "$") {
			services = append(services, s.fullName())
		}
	}
	level := slog.LevelInfo
	if len(services) == 0 {
		level = slog.LevelDebug
	}
	n.log.Log(context.Background(), level, "node started", "node", n.id, "services", services)
}

func (n *Node) startAll(ctx context.Context) error {
	if err := n.startExtensions(ctx); err != nil {
		return err
	}
	if err := n.makeGateways(ctx); err != nil {
		return err
	}
	if err := n.enterCluster(ctx); err != nil {
		return err
	}
	own := append([]*Service{newNodeService(n)}, n.extensionServices()...)
	list, once := withoutOnce(flatten(n.toServe))
	if err := n.runOnce(once); err != nil {
		return err
	}
	if err := n.startServices(ctx, append(own, list...)); err != nil {
		return err
	}
	return n.openGateways(ctx)
}

// makeGateways makes what will let calls in from outside. That is before the node joins: one with settings that are wrong is no member of its
// cluster for a moment, with services that others begin to call.
func (n *Node) makeGateways(ctx context.Context) error {
	for _, attach := range n.attached {
		begin := func(context.Context) error {
			g, err := attach(n)
			n.prepared = append(n.prepared, g)
			return err
		}
		if err := n.isolated("the making of a gateway", ctx, begin); err != nil {
			return err
		}
	}
	return nil
}

// openGateways starts what lets calls in from outside, once.
func (n *Node) openGateways(ctx context.Context) error {
	if n.opened {
		return nil
	}
	n.opened = true
	for _, opened := range n.prepared {
		begin := func(ctx context.Context) error {
			if err := opened.Start(ctx); err != nil {
				return fmt.Errorf("%s: %w", opened.Name(), err)
			}
			return nil
		}
		n.setGateways(func(list []gateway.Gateway) []gateway.Gateway { return append(list, opened) }) // first: its Start logs, and callers come in, before it returns
		if err := n.isolated("the start of a gateway", ctx, begin); err != nil {
			n.setGateways(func(list []gateway.Gateway) []gateway.Gateway { return list[:len(list)-1] })
			return err
		}
	}
	return nil
}

// checkAddresses asks the gateways that are open whether what this node serves now has addresses there that do not exclude each other.
func (n *Node) checkAddresses() error {
	for _, g := range n.gateways {
		if checks, ok := g.(interface{ CheckAddresses() error }); ok {
			if err := checks.CheckAddresses(); err != nil {
				return fmt.Errorf("%s: %w", g.Name(), err)
			}
		}
	}
	return nil
}

func (n *Node) setGateways(change func([]gateway.Gateway) []gateway.Gateway) {
	n.tableLock.Lock()
	defer n.tableLock.Unlock()
	n.gateways = change(n.gateways)
}

// Stop lets no more calls in from outside, waits for those in flight, and stops the services, each before those it
// needs. The context bounds the waiting; when it ends first, Stop goes on without waiting and reports it in its error. An [Node.Add] that is
// under way fails at once, a [Node.Remove] when the context ends.
func (n *Node) Stop(ctx context.Context) error {
	if n.callingNode() == nil {
		return errNotMade()
	}
	if callOf(ctx) != nil {
		return n.selfWaitError("stop the node")
	}
	if !n.state.CompareAndSwap(int32(stateRunning), int32(stateStopping)) {
		return n.wrongState("stop")
	}
	n.lifecycle.lockToStop(ctx)
	defer n.lifecycle.unlock()
	err := n.runStage(inLifecycle(ctx, n), Stage{Stop: true, Node: n.id}, n.stopAll, n.middlewares)
	if n.stateNow() != stateStopped { // a middleware failed before it went on: that must not keep the services running
		err = errors.Join(err, n.stopAll(ctx))
	}
	return err
}

func (n *Node) stopAll(ctx context.Context) error {
	n.state.Store(int32(stateStopping))
	var errs []error
	for _, g := range slices.Backward(n.gateways) {
		if err := n.isolated("the stop of a gateway", ctx, g.Stop); err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", g.Name(), err))
		}
	}
	n.stopWatchingDependencies()
	m := n.cluster()
	if m != nil {
		errs = append(errs, m.drain(ctx))
	}
	errs = append(errs, n.awaitOneWay(ctx)) // when no more calls come in, whose handlers may send
	for _, s := range slices.Backward(slices.Clone(n.running)) {
		errs = append(errs, n.stopService(ctx, s))
	}
	n.end()
	errs = append(errs, n.stopExtensions(ctx))
	if m != nil { // last, because stop hooks may make calls to other nodes
		errs = append(errs, m.leave(ctx))
	}
	n.foreign.stop()
	n.stopForgetting()
	n.dropHeap()
	n.workers.close()
	n.admission.Close()
	n.tableLock.Lock()
	n.state.Store(int32(stateStopped))
	n.wakeWaiters()
	n.tableLock.Unlock()
	return errors.Join(errs...)
}

// within reports whether ctx belongs to a call of the service, or to one nested in it.
func within(ctx context.Context, service string) bool {
	for c := callOf(ctx); c != nil; c = c.parent {
		if c.op.service == service {
			return true
		}
	}
	return false
}

func (n *Node) selfWaitError(what string) error {
	return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id,
		Message: "a handler cannot " + what + " that it runs in, because that waits for the handler; do it from a goroutine of its own with another context"}
}

// lifecycleKey marks the contexts of hooks, which run while the node's lifecycle is locked.
type lifecycleKey struct{}

func inLifecycle(ctx context.Context, n *Node) context.Context {
	return context.WithValue(ctx, lifecycleKey{}, n)
}

func (n *Node) wrongState(what string) error {
	return &Error{Code: CodeFailedPrecondition, Name: nameNodeState, Node: n.id,
		Message: "cannot " + what + " node " + n.id + ": it is " + n.stateNow().String() + ", not " + stateRunning.String()}
}

// startServices starts services in the order of their needs, those that need services of other nodes when these are there. When one
// fails, those of them that started are stopped; while the node starts that is left to stopAll.
func (n *Node) startServices(ctx context.Context, list []*Service) error {
	var errs []error
	for _, s := range list {
		errs = append(errs, s.check())
	}
	if err := errors.Join(errs...); err != nil {
		return err
	}
	order, err := startOrder(list)
	if err != nil {
		return err
	}
	n.need(order)
	defer n.publishWaiting()
	started, err := n.startAsNeeded(ctx, order)
	if err == nil && n.opened {
		n.publishWaiting()
		err = n.checkAddresses()
	}
	if err == nil {
		if n.stateNow() == stateRunning {
			n.watchDependencies()
		}
		return nil
	}
	n.publishWaiting()
	n.needNoMore(order...)
	n.need(started)
	if n.stateNow() == stateStarting {
		return err
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), n.limits.Load().stop)
	defer cancel()
	for _, s := range slices.Backward(started) {
		if slices.Contains(n.running, s) { // else it was removed, or the node has stopped, while others waited
			err = errors.Join(err, n.stopService(ctx, s))
		}
	}
	return err
}

// startAsNeeded starts each service as soon as those that it needs are there, and returns those that it has started.
func (n *Node) startAsNeeded(ctx context.Context, order []*Service) (started []*Service, err error) {
	all := order
	var began time.Time // of the waiting
	for {
		changed := n.Changed()
		var later []*Service
		for _, s := range order {
			if len(s.needs) > 0 {
				n.publishWaiting() // so that those before it are there
				if n.missing(s) != nil {
					later = append(later, s)
					continue
				}
			}
			if err := n.checkDependencies(ctx, s); err != nil {
				return started, err
			}
			if err := n.startService(ctx, s); err != nil {
				return started, err
			}
			started = append(started, s)
		}
		switch {
		case len(later) == 0:
			n.setWaiting(all, nil)
			return started, nil
		case len(later) == len(order):
			if began.IsZero() {
				began = time.Now()
			}
			if err := n.awaitNeeds(ctx, all, later, changed, began); err != nil {
				return started, err
			}
		}
		order = later
	}
}

func (n *Node) startService(ctx context.Context, s *Service) error {
	if !s.node.CompareAndSwap(nil, n) {
		return &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id,
			Message: "service " + s.fullName() + " is served already, by node " + s.node.Load().id}
	}
	err := n.open(ctx, s)
	if err != nil {
		s.node.Store(nil)
		return err
	}
	n.running = append(n.running, s)
	n.readiness.add(s.checks...)
	return nil
}

func (n *Node) open(ctx context.Context, s *Service) error {
	for _, other := range n.running {
		if other.fullName() == s.fullName() {
			return &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id,
				Message: fmt.Sprintf("two services are called %s: one made at %s, the other at %s", s.fullName(), other.where, s.where)}
		}
	}
	s.gate = nil
	if len(s.onStop) > 0 {
		s.gate = newGate()
	}
	endpoints, err := n.openActions(s)
	if err != nil {
		return err
	}
	subscriptions, err := n.openEvents(s)
	if err != nil {
		return err
	}
	p := &published{service: s, endpoints: endpoints}
	p.describe = sync.OnceValue(p.description)
	extent, err := n.mayOffer(p)
	if err != nil {
		return err
	}
	if len(s.needs)+len(s.onStart)+len(s.components) > 0 || n.lifecycleWrapped || wrapsLifecycle(s.middlewares) {
		n.publishWaiting() // the services before this one can be called from here on
	}
	if err := n.openComponents(ctx, s); err != nil {
		return err
	}
	hooks := func(ctx context.Context) error { return runHooks(ctx, s, "start", s.onStart) }
	if err := n.stage(ctx, Stage{Node: n.id, Service: s.fullName()}, s, hooks); err != nil {
		return errors.Join(err, n.closeComponents(ctx, s.components))
	}
	s.extent = extent
	n.offered = n.offered.Plus(extent)
	n.subscribe(subscriptions)
	n.publish(p)
	n.beginComponents(s)
	return nil
}

func (n *Node) stopService(ctx context.Context, s *Service) error {
	n.running = slices.DeleteFunc(n.running, func(other *Service) bool { return other == s })
	n.offered = n.offered.Minus(s.extent)
	n.readiness.remove(s.checks...)
	err := errors.Join(n.closeComponents(ctx, s.components), n.unsubscribe(ctx, s)) // first, because what is still in its queues may call its actions
	n.withdraw(s)
	if s.gate != nil {
		if late := s.gate.shut(ctx); late != nil {
			err = errors.Join(err, fmt.Errorf("service %s was stopped with calls still running: %w", s.fullName(), late))
		}
	}
	reversed := slices.Clone(s.onStop)
	slices.Reverse(reversed)
	hooks := func(ctx context.Context) error { return runHooks(ctx, s, "stop", reversed) }
	err = errors.Join(err, n.stage(ctx, Stage{Stop: true, Node: n.id, Service: s.fullName()}, s, hooks))
	s.node.Store(nil)
	n.needNoMore(s)
	return err
}

func (n *Node) stage(ctx context.Context, stage Stage, s *Service, hooks func(context.Context) error) error {
	return n.runStage(ctx, stage, hooks, slices.Concat(n.middlewares, s.middlewares))
}

// runStage runs a stage inside the middlewares. A panic of one of them is the stage's error.
func (n *Node) runStage(ctx context.Context, s Stage, inner func(context.Context) error, middlewares []Middleware) error {
	return n.isolated("the "+s.String(), ctx, func(ctx context.Context) error {
		return composeStage(s, inner, middlewares)(ctx)
	})
}

// runHooks runs start hooks until one fails, stop hooks all.
func runHooks(ctx context.Context, s *Service, kind string, hooks []func(context.Context) error) error {
	var errs []error
	for _, hook := range hooks {
		if err := s.node.Load().runHook("the "+kind+" hook of "+s.fullName(), ctx, hook); err != nil {
			errs = append(errs, fmt.Errorf("the %s hook of service %s: %w", kind, s.fullName(), err))
			if kind == "start" {
				break
			}
		}
	}
	return errors.Join(errs...)
}

// hookGrace is the time that a hook has to return when its context has ended.
const hookGrace = time.Second

// runHook runs a hook, and leaves it behind where it goes on after its context has ended: it must not keep the other services from
// stopping, nor the node.
func (n *Node) runHook(name string, ctx context.Context, hook func(context.Context) error) error {
	ended := make(chan error, 1)
	go isolateGoroutine(name, ctx, hook, func(err error) {
		n.logPanic(ctx, err)
		ended <- err
	})
	select {
	case err := <-ended:
		return err
	case <-ctx.Done():
	}
	grace := time.NewTimer(hookGrace)
	defer grace.Stop()
	select {
	case err := <-ended:
		return err
	case <-grace.C:
		return &Error{Code: CodeDeadlineExceeded, Name: nameDeadlineExceeded, Node: n.id,
			Message: name + " has not returned within " + hookGrace.String() + " of the end of its context, and is not waited for"}
	}
}
