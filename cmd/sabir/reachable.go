package main

import (
	"context"
	"slices"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// reachableOn is an address that a node answers over HTTP.
type reachableOn struct {
	Node string `json:"node"`
	introspect.Reachable
}

// showReachable lists what the nodes answer over HTTP: the one that is talked to, or each of a cluster. A pattern is for the names of actions; without
// one, what is no action is listed too.
func (c *cli) showReachable(ctx context.Context, matches func(string) bool, all bool) error {
	to, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	list := []reachableOn{}
	take := func(node string, found []introspect.Reachable) {
		for _, r := range found {
			if matches(r.Action) && !hidden(r.Action, all) {
				list = append(list, reachableOn{node, r})
			}
		}
	}
	if g, joined := to.(*clusterClient); joined {
		err = g.eachReachable(ctx, c, take)
	} else {
		var self introspect.Node
		var found []introspect.Reachable
		if self, err = askFor[introspect.Node](ctx, c, to, "$node.info"); err == nil {
			found, err = askFor[[]introspect.Reachable](ctx, c, to, "$node.http")
		}
		take(self.ID, found)
	}
	if err != nil {
		return err
	}
	show(c, list, []string{"METHOD", "PATH", "ACTION", "CALLERS", "NODE"}, reachableRow, "nothing is reachable over HTTP")
	return nil
}

// eachReachable asks each node of the cluster.
func (g *clusterClient) eachReachable(ctx context.Context, c *cli, take func(node string, found []introspect.Reachable)) error {
	for _, n := range g.node.Nodes() {
		if n.ClientOnly || n.ID == g.node.ID() {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		found, err := sabir.Call[[]introspect.Reachable](ctx, g.node, "$node.http", sabir.Empty{}, sabir.ToNode(n.ID))
		cancel()
		if err != nil {
			return err
		}
		take(n.ID, found)
	}
	return nil
}

func reachableRow(r reachableOn) []string {
	action := r.Action
	if r.Forwarded {
		action += " (forwarded)"
	}
	return []string{r.Method, r.Path, orDash(slices.DeleteFunc([]string{action}, func(s string) bool { return s == "" })), r.Callers, r.Node}
}
