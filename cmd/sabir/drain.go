package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

// drainResult is the output of sabir drain and sabir undrain with --json.
type drainResult struct {
	Node     string   `json:"node"`
	Drained  bool     `json:"drained"`
	InFlight int      `json:"inFlight"` // calls that it still serves
	Only     []string `json:"only"`     // services that no other node offers that is not drained, so that their calls still come
}

func (c *cli) drainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "drain <node> [flags]",
		GroupID: groupUse,
		Short:   "Have calls and events go to other nodes than this one",
		Long: `Tells a node of a cluster that it is drained: the other nodes send their calls,
streams and events to nodes that offer the same, and GET /ready answers 503, so that
load balancers do so too. What is in flight ends as usual. Use it before you stop a
node, or look into it. Calls of what no other node offers still come; the command
names those services. Broadcasts, consumers of channels and processes go on. The
other nodes keep it: one of this name that starts anew is drained too, until undrain,
which may be said while it is gone.`,
		Example: `  sabir drain node-3 --join tcp://:7700
  SABIR_JOIN=tcp://:7700 sabir drain node-3 --json | jq .inFlight`,
		Args:              takes(1, 1, "a node: sabir nodes lists them"),
		ValidArgsFunction: c.completeNode,
		RunE: func(command *cobra.Command, args []string) error {
			return c.setDrained(command.Context(), args[0], true)
		},
	}
}

func (c *cli) undrainCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "undrain <node> [flags]",
		GroupID: groupUse,
		Short:   "Have calls and events come again to a drained node",
		Long: `Ends what sabir drain began. A node that has gone since is not drained when it comes
back.`,
		Example: `  sabir undrain node-3 --join tcp://:7700
  SABIR_JOIN=tcp://:7700 sabir undrain node-3 --json`,
		Args: takes(1, 1, "a node: sabir nodes lists them"),

		ValidArgsFunction: c.completeNode,
		RunE: func(command *cobra.Command, args []string) error {
			return c.setDrained(command.Context(), args[0], false)
		},
	}
}

// undrainAbsent ends the drain of a node that has gone, which the others keep for when it comes back. It reports whether there was one.
func (c *cli) undrainAbsent(ctx context.Context, to *clusterClient, id string) bool {
	for _, n := range to.node.Nodes() {
		if n.ID == id {
			return false // it is there, and refused
		}
	}
	text, err := json.Marshal(introspect.Route{Undrain: id})
	if err == nil {
		_, err = c.askAny(ctx, to, "$node.route", text)
	}
	return err == nil
}

func (c *cli) setDrained(ctx context.Context, id string, drained bool) error {
	action := map[bool]string{true: "$node.drain", false: "$node.undrain"}[drained]
	to, err := c.openJoined(ctx, strings.TrimPrefix(action, "$node."))
	if err != nil {
		return err
	}
	defer to.Close()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	info, err := sabir.Call[introspect.Node](ctx, to.node, action, sabir.Empty{}, sabir.ToNode(id))
	if err != nil && !drained && c.undrainAbsent(ctx, to, id) {
		info, err = introspect.Node{}, nil
	}
	if err != nil {
		var known []string
		for _, n := range to.node.Nodes() {
			if n.ID == id {
				return err
			}
			if !n.ClientOnly {
				known = append(known, n.ID)
			}
		}
		text := "the cluster has no node " + id
		if near := names.Nearest(id, known); near != nil {
			text += "; did you mean " + strings.Join(near, ", ") + "?"
		}
		return sabir.Errorf(sabir.CodeNotFound, "CommandFailed", "%w", advice{errors.New(text), `"sabir nodes" lists them`})
	}
	result := drainResult{Node: id, Drained: drained, InFlight: max(0, info.Load.InFlight-1), Only: []string{}} // without the question itself
	if drained {
		var takes []introspect.Service // on nodes that are not drained
		for _, s := range to.node.Services() {
			if s.Node == id || !slices.ContainsFunc(to.node.Nodes(), func(n introspect.Node) bool { return n.ID == s.Node && n.Drained }) {
				takes = append(takes, s)
			}
		}
		result.Only = onlyOn(id, takes)
	}
	if c.json {
		writeJSON(c.stdout, result)
		return nil
	}
	if !drained {
		fmt.Fprintf(c.stdout, "%s is drained no more: calls and events come to it again\n", printable(id))
		return nil
	}
	fmt.Fprintf(c.stdout, "%s is drained, with %d calls in flight\n", printable(id), result.InFlight)
	if len(result.Only) > 0 {
		fmt.Fprintf(c.stdout, "no other node that is not drained offers %s: their calls still come\n", printable(strings.Join(result.Only, ", ")))
	}
	return nil
}

// onlyOn lists the services that a node offers and no other does.
func onlyOn(id string, services []introspect.Service) []string {
	only := []string{}
	others := make(map[string]bool)
	for _, s := range services {
		if s.Node != id {
			others[s.Name] = true
		}
	}
	for _, s := range services {
		if s.Node == id && !others[s.Name] && !hidden(s.Name, false) {
			only = append(only, s.Name)
		}
	}
	return only
}
