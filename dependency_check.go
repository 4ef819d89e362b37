package sabir

import (
	"context"
	"fmt"
	"slices"
	"sort"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

// describeLimit bounds the time in which another node describes an action.
const describeLimit = 5 * time.Second

// dependencies compares the contracts that the services of a node depend on with what is offered.
type dependencies struct {
	strict bool // see StrictDependencies

	mu      sync.Mutex
	known   map[offeredContract]string // what is the matter with it, "" for nothing, of the offers that there are now
	watched context.CancelFunc         // ends the watching; nil where there is none
	ended   chan struct{}
}

// offeredContract is a contract beside an offer of one run of one node.
type offeredContract struct {
	contract dependency
	by       provider // id, peer and foreign only
}

// Dependencies compares what the services of this node depend on with what the nodes offer: one entry for each contract and node that
// offers it, and one for each service by name. It asks nodes that have come since it last did to describe their actions, for up to 5 seconds each or
// until ctx ends; what is not known then is left out.
func (n *Node) Dependencies(ctx context.Context) []introspect.Dependency {
	n.needsLock.Lock()
	services := make([]*Service, 0, len(n.needing))
	for s := range n.needing {
		services = append(services, s)
	}
	n.needsLock.Unlock()
	sort.Slice(services, func(i, j int) bool { return services[i].fullName() < services[j].fullName() }) // slices.SortFunc takes 6 KB of the program for pointers
	list := []introspect.Dependency{}
	offers := make(map[offeredContract]bool)
	for _, s := range services {
		list = append(list, n.dependenciesOf(ctx, s, offers)...)
	}
	n.dependencies.keep(offers)
	return list
}

// keep forgets the offers that are not there any more.
func (d *dependencies) keep(offers map[offeredContract]bool) {
	d.mu.Lock()
	defer d.mu.Unlock()
	for one := range d.known {
		if !offers[one] {
			delete(d.known, one)
		}
	}
}

// dependenciesOf is Dependencies for one service; it adds the offers that there are.
func (n *Node) dependenciesOf(ctx context.Context, s *Service, offers map[offeredContract]bool) (list []introspect.Dependency) {
	add := func(on, node, problem string) {
		list = append(list, introspect.Dependency{Service: s.fullName(), On: on, Node: node, Problem: problem})
	}
	t := n.table.Load()
	for _, c := range s.contracts {
		e := t.find(c.action)
		switch {
		case e != nil && !t.isAbsent(e):
			for _, by := range offersOf(e) {
				offer := offeredContract{c, by}
				offers[offer] = true
				if problem, known := n.compareOffer(ctx, offer, e); known {
					add(c.action, by.id, problem)
				}
			}
		case n.remote != nil:
		case t.services[c.service]:
			add(c.action, "", n.noSuchAction(c))
		default:
			add(c.action, "", "no node offers the service "+c.service)
		}
	}
	for _, need := range s.needs {
		if slices.ContainsFunc(s.contracts, func(c dependency) bool { return c.service == need }) {
			continue
		}
		problem := ""
		if !t.services[need] && n.remote == nil {
			problem = "no node offers the service " + need
		}
		add(need, "", problem)
	}
	return list
}

func (n *Node) noSuchAction(c dependency) string {
	problem := "service " + c.service + " has no such action"
	if near := n.Nearest(c.action, func(*Action) bool { return true }); near != nil {
		problem += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	return problem
}

// offersOf lists the nodes that offer an action.
func offersOf(e endpoint) (list []provider) {
	a, remote := usual(e).(*remoteAction)
	if !remote {
		return []provider{{id: e.info().Node}}
	}
	if all := a.providers.Load(); all != nil {
		for i := range all.nodes {
			list = append(list, provider{id: all.nodes[i].id, peer: all.nodes[i].peer, foreign: all.nodes[i].foreign})
		}
	}
	return list
}

// compareOffer says what is the matter with an offer. It is not known while its node does not describe it.
func (n *Node) compareOffer(ctx context.Context, offer offeredContract, e endpoint) (problem string, known bool) {
	d := &n.dependencies
	d.mu.Lock()
	problem, known = d.known[offer]
	d.mu.Unlock()
	if known {
		return problem, true
	}
	problem, err := n.conflict(ctx, offer, e)
	if err != nil {
		return "", false
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.known == nil {
		d.known = make(map[offeredContract]string)
	}
	d.known[offer] = problem
	return problem, true
}

func (n *Node) conflict(ctx context.Context, offer offeredContract, e endpoint) (string, error) {
	info := e.info()
	if info.Stream != offer.contract.stream {
		return map[bool]string{true: "it is a stream, and the contract is not", false: "it is no stream, and the contract is"}[info.Stream], nil
	}
	if offer.by.foreign != nil {
		return "", nil // it describes nothing
	}
	var theirs schema.Described
	var err error
	if offer.by.isHere() {
		own := n.table.Load().localActions[info.Name]
		if own == nil {
			return "", n.notFound("action", info.Name)
		}
		theirs, err = schema.Describe(own.info().In, own.info().Out)
	} else {
		theirs, err = n.describedBy(ctx, offer.by.id, info.Name)
	}
	if err != nil {
		return "", err
	}
	ours, err := schema.Describe(offer.contract.in, offer.contract.out)
	if err != nil {
		return "", err
	}
	if found := schema.Conflict(ours.In, ours.Defs, theirs.In, theirs.Defs); found != "" {
		return "its input: " + found, nil
	}
	if ours.Out != nil && theirs.Out == nil {
		return "its output: nothing is sent", nil
	}
	if found := schema.Conflict(theirs.Out, theirs.Defs, ours.Out, ours.Defs); found != "" {
		return "its output: " + found, nil
	}
	return "", nil
}

// describedBy asks another node to describe an action. It calls with JSON, since each pair of Go types that is called takes 50 KB of the program.
func (n *Node) describedBy(ctx context.Context, node, action string) (d schema.Described, err error) {
	ctx, cancel := context.WithTimeout(ctx, describeLimit)
	defer cancel()
	in, err := json.Codec.Append(nil, description.Request{Action: action})
	if err != nil {
		return d, err
	}
	text, err := CallJSON(ctx, n, "$node.api", in, ToNode(node))
	if err != nil {
		return d, err
	}
	return d, json.Codec.Decode(text, &d) // the members of a description that say no more of its types are skipped
}

// checkDependencies is the error of a service that is about to start, under StrictDependencies.
func (n *Node) checkDependencies(ctx context.Context, s *Service) error {
	if !n.dependencies.strict || len(s.contracts) == 0 {
		return nil
	}
	var problems []string
	for _, d := range n.dependenciesOf(ctx, s, make(map[offeredContract]bool)) {
		if d.Problem != "" {
			problems = append(problems, d.String())
		}
	}
	if problems == nil {
		return nil
	}
	return &Error{Code: CodeInvalidArgument, Name: nameBadService, Node: n.id, Message: fmt.Sprintf("%s: %s", s.where, strings.Join(problems, "; "))}
}

// watchDependencies logs what is the matter with contracts of a running node: now, and whenever what is offered changes, each once. It runs
// under n.lifecycle.
func (n *Node) watchDependencies() {
	d := &n.dependencies
	if d.watched != nil || !slices.ContainsFunc(n.running, func(s *Service) bool { return len(s.contracts) > 0 }) {
		return
	}
	ctx, stop := context.WithCancel(context.Background())
	d.watched, d.ended = stop, make(chan struct{})
	go func() {
		defer close(d.ended)
		logged := make(map[introspect.Dependency]bool)
		for ctx.Err() == nil {
			changed := n.Changed()
			now := make(map[introspect.Dependency]bool)
			for _, one := range n.Dependencies(ctx) {
				if one.Problem == "" {
					continue
				}
				now[one] = true
				if !logged[one] && ctx.Err() == nil {
					n.log.WarnContext(ctx, "a service depends on what is not offered like that", "node", n.id, "service", one.Service, "on", one.On, "offered_by", one.Node, "problem", one.Problem)
				}
			}
			logged = now
			select {
			case <-changed:
			case <-ctx.Done():
			}
		}
	}()
}

// stopWatchingDependencies runs under n.lifecycle.
func (n *Node) stopWatchingDependencies() {
	if d := &n.dependencies; d.watched != nil {
		d.watched()
		<-d.ended
	}
}
