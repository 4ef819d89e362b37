package main

import (
	"context"
	"slices"

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
	if err := eachNode(ctx, c, to, "$node.http", take); err != nil {
		return err
	}
	none := "nothing is reachable over HTTP"
	if !matches("") {
		none = "no action that is reachable over HTTP is called like that"
	}
	show(c, list, []string{"METHOD", "PATH", "ACTION", "CALLERS", "NODE"}, reachableRow, none)
	return nil
}

func reachableRow(r reachableOn) []string {
	action := r.Action
	if r.Forwarded {
		action += " (forwarded)"
	}
	return []string{r.Method, r.Path, orDash(slices.DeleteFunc([]string{action}, func(s string) bool { return s == "" })), r.Callers, r.Node}
}
