package sabir

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"time"

	"github.com/sabir-go/sabir/introspect"
)

// needReminder is the time between two lines of the log about a start that waits for services.
const needReminder = 5 * time.Second

// unmetNeeds is the error of a node that lacks services that its own depend on; nil for none.
func (n *Node) unmetNeeds(now state) *Error {
	if now != stateStarting && now != stateRunning {
		return nil
	}
	var missing, dependents []string
	for _, d := range n.unmet() {
		missing, dependents = append(missing, d.On), append(dependents, d.Service)
	}
	if missing == nil {
		return nil
	}
	slices.Sort(missing)
	missing, dependents = slices.Compact(missing), slices.Compact(dependents)
	return n.notReady("the node is "+now.String()+", and no node offers "+strings.Join(missing, ", ")+", which "+
		strings.Join(dependents, ", ")+" depends on", map[string]any{"missing": missing})
}

// need notes that services depend on others, from the beginning of their start until their stop.
func (n *Node) need(services []*Service) {
	n.needsLock.Lock()
	defer n.needsLock.Unlock()
	for _, s := range services {
		if len(s.needs) > 0 {
			n.needing[s] = false
		}
	}
}

func (n *Node) needNoMore(services ...*Service) {
	n.needsLock.Lock()
	defer n.needsLock.Unlock()
	for _, s := range services {
		delete(n.needing, s)
	}
}

// missing lists the services that s depends on and that cannot be called now.
func (n *Node) missing(s *Service) (names []string) {
	have := n.table.Load().services
	for _, need := range s.needs {
		if !have[need] && n.remote == nil && !n.mayRun(need) && !slices.Contains(names, need) {
			names = append(names, need)
		}
	}
	return names
}

// unmet lists what the services of this node depend on and no node offers, by service.
func (n *Node) unmet() (list []introspect.Dependency) {
	n.needsLock.Lock()
	defer n.needsLock.Unlock()
	for s, waits := range n.needing {
		list = appendUnmet(list, s.fullName(), n.missing(s), waits)
	}
	sort.SliceStable(list, func(i, j int) bool { return list[i].Service < list[j].Service }) // slices.SortFunc takes 20 KB of the program for each struct
	return list
}

// appendUnmet adds what a service misses. One that waits has not started.
func appendUnmet(list []introspect.Dependency, service string, missing []string, waits bool) []introspect.Dependency {
	for _, need := range missing {
		problem := "no node offers the service " + need
		if waits {
			problem += ", so that " + service + " has not started"
		}
		list = append(list, introspect.Dependency{Service: service, On: need, Problem: problem})
	}
	return list
}

// depended reports whether a service of this node depends on the one of that name.
func (n *Node) depended(service string) bool {
	n.needsLock.Lock()
	defer n.needsLock.Unlock()
	for s := range n.needing {
		if slices.Contains(s.needs, service) {
			return true
		}
	}
	return false
}

// waitingServices lists the services that wait before they start, for others or for their lease, by name.
func (n *Node) waitingServices() (list []*Service) {
	n.needsLock.Lock()
	defer n.needsLock.Unlock()
	for s, waits := range n.needing {
		if waits {
			list = append(list, s)
		}
	}
	n.onceLock.Lock()
	for s, o := range n.once {
		if !o.runs {
			list = append(list, s)
		}
	}
	n.onceLock.Unlock()
	sort.Slice(list, func(i, j int) bool { return list[i].fullName() < list[j].fullName() }) // slices.SortFunc takes 6 KB of the program for pointers
	return list
}

// setWaiting notes which of the services of a start wait.
func (n *Node) setWaiting(of, waiting []*Service) {
	n.needsLock.Lock()
	defer n.needsLock.Unlock()
	for _, s := range of {
		if _, needs := n.needing[s]; needs {
			n.needing[s] = slices.Contains(waiting, s)
		}
	}
}

// awaitNeeds waits for a change of what can be called, while services wait for others. From the first such wait of a start on the
// node is open: its gateways listen, and other nodes may call what has started, since their services may wait for this node's. While those of
// an addition wait, other services are added and removed: one that they wait for may be among these.
func (n *Node) awaitNeeds(ctx context.Context, of, waiting []*Service, changed <-chan struct{}, began time.Time) error {
	n.publishWaiting()
	starting := n.stateNow() == stateStarting
	n.setWaiting(of, waiting)
	n.offers.Store(true)
	n.announce() // each time, since what they wait for may have changed
	if starting {
		if err := n.openGateways(ctx); err != nil {
			return err
		}
	}
	waited := time.Since(began)
	reminder := time.NewTimer(needReminder - waited%needReminder)
	defer reminder.Stop()
	var limit <-chan time.Time
	limits := n.limits.Load()
	most := limits.start
	if starting && most > 0 {
		timer := time.NewTimer(most - waited)
		defer timer.Stop()
		limit = timer.C
	}
	if !starting {
		n.lifecycle.unlock()
		defer n.lifecycle.mustLock()
	}
	select {
	case <-changed:
	case <-limits.replaced:
	case <-limit:
		return n.gaveUp(waiting, fmt.Errorf("StartTimeout, %v, is over", most))
	case <-ctx.Done():
		return n.gaveUp(waiting, ctx.Err())
	case <-reminder.C:
		if circle := n.circle(waiting); circle != "" {
			return &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id,
				Message: "services of several nodes depend on each other in a circle, so none of them can start: " + circle}
		}
		for _, s := range waiting {
			n.log.WarnContext(ctx, "a service does not start before those that it depends on are there: are the names right, and does a node serve them?",
				"node", n.id, "service", s.fullName(), "declared", s.where.String(), "missing", strings.Join(n.missing(s), ","),
				"waited", time.Since(began).Round(time.Second))
		}
	}
	return nil
}

// gaveUp is the error of a start that waits for services no longer.
func (n *Node) gaveUp(waiting []*Service, why error) *Error {
	var missing, parts []string
	for _, s := range waiting {
		names := n.missing(s)
		missing = append(missing, names...)
		parts = append(parts, s.fullName()+" depends on "+strings.Join(names, ", "))
	}
	slices.Sort(missing)
	return &Error{Code: CodeUnavailable, Name: nameServiceUnavailable, Node: n.id, Retryable: true, cause: why, Data: map[string]any{"missing": slices.Compact(missing)},
		Message: "gave up waiting for services that no node offers: " + strings.Join(parts, "; ") + ": " + why.Error()}
}

// withoutVersion is the name of a service without the version that its full name may begin with.
func withoutVersion(full string) string {
	if first, short, versioned := strings.Cut(full, "."); versioned && badServiceName(first) != "" { // "v2"
		return short
	}
	return full
}

// circle describes a circle of services that wait for each other on several nodes, one of this node's among them; "" for none.
func (n *Node) circle(waiting []*Service) string {
	type waiter struct {
		node  string
		needs []string
	}
	waiters := make(map[string]waiter)
	add := func(node, full string, needs []string) {
		waiters[full] = waiter{node, needs}
		waiters[withoutVersion(full)] = waiter{node, needs}
	}
	if view := n.table.Load().view; view != nil {
		for _, node := range view.Nodes() {
			for _, w := range view.Waiting(node) {
				add(node, w.Name, w.Needs)
			}
		}
	}
	for _, s := range n.waitingServices() {
		add(n.id, s.fullName(), n.missing(s))
	}
	for _, s := range waiting {
		seen := make(map[string]bool)
		var visit func(name, way string) string
		visit = func(name, way string) string {
			for _, need := range waiters[name].needs {
				w, waits := waiters[need]
				switch on := way + " depends on " + need + " (on " + w.node + ")"; {
				case need == s.fullName() || need == s.name && s.version > 0:
					return on
				case waits && !seen[need]:
					seen[need] = true
					if circle := visit(need, on); circle != "" {
						return circle
					}
				}
			}
			return ""
		}
		if circle := visit(s.fullName(), s.fullName()+" (on "+n.id+")"); circle != "" {
			return circle
		}
	}
	return ""
}
