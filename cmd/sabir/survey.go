package main

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// surveyed is a node as a survey found it: what it reports about itself, and the services it offers.
type surveyed struct {
	introspect.Node
	Offers []string `json:"offers"` // names of services, without the node's own

	sees []introspect.Node // the others, as it sees them
}

// stateSilent is the state of a node that is linked but did not answer.
const stateSilent = "no answer"

// probeLimit is the time that a node may take to report its state.
const probeLimit = time.Second

// survey lists the nodes and their states. Over links it asks each node itself, probes times, and takes the fastest answer
// as the time of the round trip. Over HTTP everything comes from the one node that it asks.
func (c *cli) survey(ctx context.Context, to target, probes int) ([]surveyed, error) {
	nodes, err := askFor[[]introspect.Node](ctx, c, to, "$node.nodes")
	if err != nil {
		return nil, err
	}
	services, err := askFor[[]introspect.Service](ctx, c, to, "$node.services")
	if err != nil {
		return nil, err
	}
	list := []surveyed{}
	for _, info := range nodes {
		s := surveyed{Node: info, Offers: []string{}}
		for _, service := range services {
			if service.Node == info.ID && !hidden(service.Name, false) {
				s.Offers = append(s.Offers, service.Name)
			}
		}
		list = append(list, s)
	}
	g, joined := to.(*clusterClient)
	if !joined {
		return list, c.addReadiness(ctx, to, list)
	}
	list = slices.DeleteFunc(list, func(s surveyed) bool { return s.ID == g.node.ID() })
	var asked sync.WaitGroup
	for i := range list {
		if !list[i].ClientOnly && list[i].Framework == "" && list[i].State == "running" {
			asked.Go(func() { g.probe(ctx, &list[i], probes) })
		}
	}
	asked.Wait()
	addViews(list)
	return g.addUnreached(list), nil
}

// addReadiness adds whether the node that answers over HTTP is ready, which the list of nodes does not tell.
func (c *cli) addReadiness(ctx context.Context, to target, list []surveyed) error {
	info, err := askFor[introspect.Node](ctx, c, to, "$node.info")
	for i := range list {
		if err == nil && list[i].ID == info.ID {
			list[i].NotReady, list[i].Checks, list[i].AdminAddr = info.NotReady, info.Checks, info.AdminAddr
		}
	}
	return err
}

// addViews adds to each node what the others see of it.
func addViews(list []surveyed) {
	for i := range list {
		for _, seen := range list[i].sees {
			at := slices.IndexFunc(list, func(s surveyed) bool { return s.ID == seen.ID })
			if at >= 0 {
				list[at].LeftOut = append(list[at].LeftOut, seen.LeftOut...)
				list[at].Silent = list[at].Silent || seen.Silent
			}
		}
	}
}

// shownState is the state of a node for people: with what it misses, or is sick of, where others send it no calls of an action.
func (s *surveyed) shownState() string {
	if s.State != "running" {
		return s.State + s.misses()
	}
	var actions []string
	for _, left := range s.LeftOut {
		if !slices.Contains(actions, left.Action) {
			actions = append(actions, left.Action)
		}
	}
	switch len(actions) {
	case 0:
		switch {
		case s.Silent:
			return "silent"
		case s.Drained:
			return "drained"
		case s.NotReady != "" || s.Unmet != nil:
			return "not ready" + s.misses()
		}
		return s.State
	case 1:
		return "sick: " + actions[0]
	}
	return fmt.Sprintf("sick: %d actions", len(actions))
}

// maxMissed is how much of what a node misses is named in its row.
const maxMissed = 3

// misses names the services that those of the node depend on and that no node offers, and the checks that fail, after a colon.
func (s *surveyed) misses() string {
	var names []string
	for _, d := range s.Unmet {
		if name := "no " + d.On; !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	for _, c := range s.Checks {
		if c.Error != "" {
			names = append(names, c.Name)
		}
	}
	if names == nil {
		return ""
	}
	if more := len(names) - maxMissed; more > 0 {
		names = append(names[:maxMissed], fmt.Sprintf("%d more", more))
	}
	return ": " + strings.Join(names, ", ")
}

// addUnreached adds the nodes that others know and this observer does not. Those to which it could not link do not answer it. Nodes of other frameworks
// have no links: they are what the nodes say that have a bridge to them.
func (g *clusterClient) addUnreached(list []surveyed) []surveyed {
	known := map[string]bool{g.node.ID(): true}
	for _, s := range list {
		known[s.ID] = true
	}
	for _, observer := range list {
		for _, info := range observer.sees {
			if known[info.ID] || info.ClientOnly {
				continue
			}
			if info.Framework == "" {
				info.State, info.RTT, info.Load.CPU, info.Load.InFlight = stateSilent, 0, 0, 0
			}
			known[info.ID], list = true, append(list, surveyed{Node: info, Offers: []string{}})
		}
	}
	slices.SortFunc(list, func(a, b surveyed) int { return strings.Compare(a.ID, b.ID) })
	return list
}

// probe asks one node how it is.
func (g *clusterClient) probe(ctx context.Context, s *surveyed, times int) {
	ctx, cancel := context.WithTimeout(ctx, probeLimit)
	defer cancel()
	s.RTT = 0
	for range times {
		start := time.Now()
		info, err := sabir.Call[introspect.Node](ctx, g.node, "$node.info", sabir.Empty{}, sabir.ToNode(s.ID))
		if err != nil {
			s.State = stateSilent
			return
		}
		if took := time.Since(start); s.RTT == 0 || took < s.RTT {
			s.RTT = took
		}
		s.State, s.Load, s.Refused, s.Memory, s.Drained = info.State, info.Load, info.Refused, info.Memory, info.Drained
		s.NotReady, s.Checks, s.AdminAddr, s.Routes = info.NotReady, info.Checks, info.AdminAddr, info.Routes
		s.Unmet = info.Unmet
		s.Load.InFlight = max(0, info.Load.InFlight-1) // without the question itself
	}
	s.sees, _ = sabir.Call[[]introspect.Node](ctx, g.node, "$node.nodes", sabir.Empty{}, sabir.ToNode(s.ID)) // or nothing
}
