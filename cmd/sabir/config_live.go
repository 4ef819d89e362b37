package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
)

func (c *cli) configListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list <node> [flags]",
		Short: "List the settings of a node that runs, with where each is from",
		Long: `Asks a node of a cluster for the settings that it runs with, where each is from, and
whether it can change while the node runs.
Secrets and passwords in addresses are hidden. The node has the option of config.Load.`,
		Example: `  sabir config list node-3 --join tcp://:7700
  SABIR_JOIN=tcp://:7700 sabir config list node-3 --json`,
		Args:              takes(1, 1, "a node: sabir nodes lists them"),
		ValidArgsFunction: c.completeNode,
		RunE: func(command *cobra.Command, args []string) error {
			to, err := c.openJoined(command.Context(), "config list")
			if err != nil {
				return err
			}
			defer to.Close()
			ctx, cancel := context.WithTimeout(command.Context(), c.timeout)
			defer cancel()
			values, err := sabir.Call[[]config.Value](ctx, to.node, "$config.list", sabir.Empty{}, sabir.ToNode(args[0]))
			if errors.Is(err, sabir.ErrActionNotFound) {
				return failf("node %s has %s", args[0], noSettings)
			}
			if err != nil {
				return to.fromCluster(err)
			}
			c.showSettings(values)
			return nil
		},
		DisableFlagsInUseLine: true,
	}
}

// noSettings ends the errors about a node that answers neither $config.list nor $config.set.
const noSettings = "no settings to list or to change: it was not made with the option of config.Load"

// configSetResult is one node in the output of sabir config set with --json.
type configSetResult struct {
	Node    string   `json:"node"`
	Changed []string `json:"changed"`
	Error   string   `json:"error,omitempty"`
}

func (c *cli) configSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set <node> <name>=<value>... [flags]",
		Short: "Change settings of a node that runs, or of all",
		Long: `Gives settings of a node of a cluster other values, or with '*' of all its nodes: the
log, the limits (max_depth, start_timeout, stop_timeout), zone, labels and seeds, and the
policies, which are what can change while a node runs. It holds until the node stops, goes before what the flags, the environment and the file
say, and is in the log of the node. A name without a value ends it. A name that does
not exist, and one of a setting that takes a restart, is an error.`,
		Example: `  sabir config set node-3 log.level=debug --join tcp://:7700
  sabir config set '*' 'policies.users.*.timeout=500ms' 'policies.users.*.rate=100' --join tcp://:7700
  sabir config set node-3 zone=eu-2 labels=rack=r7,track=canary --join tcp://:7700
  sabir config set '*' log.level= --join tcp://:7700`,
		Args:              takes(2, -1, "a node, or '*' for all, and settings such as log.level=debug"),
		ValidArgsFunction: c.completeNode,
		RunE: func(command *cobra.Command, args []string) error {
			values := make(map[string]string)
			for _, text := range args[1:] {
				name, value, found := strings.Cut(text, "=")
				if !found {
					return usagef("%q is not NAME=VALUE, such as log.level=debug", text)
				}
				values[name] = value
			}
			return c.setSettings(command.Context(), args[0], values)
		},
		DisableFlagsInUseLine: true,
	}
}

func (c *cli) setSettings(ctx context.Context, node string, values map[string]string) error {
	to, err := c.openJoined(ctx, "config set")
	if err != nil {
		return err
	}
	defer to.Close()
	nodes := []string{node}
	if node == "*" {
		nodes = nil
		for _, n := range to.node.Nodes() {
			if n.ID != to.node.ID() && !n.ClientOnly && n.Framework == "" {
				nodes = append(nodes, n.ID)
			}
		}
	}
	var results []configSetResult
	failed := 0
	for _, id := range nodes {
		ctx, cancel := context.WithTimeout(ctx, c.timeout) // of its own, so that a node which does not answer keeps nothing from the others
		changed, err := sabir.Call[[]string](ctx, to.node, "$config.set", values, sabir.ToNode(id))
		cancel()
		one := configSetResult{Node: id, Changed: append([]string{}, changed...)} // a list in JSON, of a node that failed too
		if err != nil {
			one.Error = sabir.AsError(err).Message
			failed++
		}
		if errors.Is(err, sabir.ErrActionNotFound) {
			one.Error = "it has " + noSettings
		}
		results = append(results, one)
	}
	show(c, results, []string{"NODE", "CHANGED"}, func(r configSetResult) []string {
		if r.Error != "" {
			return []string{r.Node, "nothing: " + r.Error}
		}
		if len(r.Changed) == 0 {
			return []string{r.Node, "nothing: it had these values"}
		}
		return []string{r.Node, strings.Join(r.Changed, ", ")}
	}, "the cluster has no node to set anything on")
	if failed > 0 {
		return failf("%s", fmt.Sprintf("%d of %d nodes took nothing", failed, len(nodes)))
	}
	return nil
}
