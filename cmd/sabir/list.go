package main

import (
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
)

// The commands that list what a node has. The runtime's own service, $node, is left out unless asked for.

func (c *cli) actionsCommand() *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:     "actions [pattern] [flags]",
		GroupID: groupUse,
		Short:   "List the actions that a node offers",
		Long: `Lists the actions of a running node with their Go types: what can be called. Use
it to find an action's name and input. A pattern is a part of the name, or a
whole name with * for anything.`,
		Example: `  sabir actions
  sabir actions order
  sabir actions '*.get' --json`,
		Args: takes(0, 1, "one pattern, such as 'users.*'"),
		RunE: func(command *cobra.Command, args []string) error {
			matches, err := matcher(args)
			if err != nil {
				return err
			}
			list, err := askFor[[]sabir.ActionInfo](command.Context(), c, "$node.actions")
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(a sabir.ActionInfo) bool { return !matches(a.Name) || hidden(a.Service, all) })
			show(c, list, []string{"ACTION", "INPUT", "ANSWER", "WHAT"}, actionRow, "no action is called like that")
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "list the node's own actions too")
	return command
}

func actionRow(a sabir.ActionInfo) []string {
	what := a.Description
	if a.Stream {
		what = "stream: " + what
	}
	if a.Visibility != sabir.Public {
		what = a.Visibility.String() + ": " + what
	}
	return []string{a.Name, a.In, a.Out, what}
}

func (c *cli) servicesCommand() *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:     "services [flags]",
		GroupID: groupUse,
		Short:   "List the services that a node runs",
		Long: `Lists the services of a running node: how many actions each has, which events it
listens to, which services it needs, and since when it runs. Use it to see
whether all that should run does.`,
		Example: `  sabir services
  sabir services --json | jq -r '.[].name'
  sabir services --url http://10.0.0.7:3000`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			list, err := askFor[[]sabir.ServiceInfo](command.Context(), c, "$node.services")
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(s sabir.ServiceInfo) bool { return hidden(s.Name, all) })
			show(c, list, []string{"SERVICE", "NODE", "ACTIONS", "LISTENS TO", "NEEDS", "UP", "WHAT"}, serviceRow, "the node runs no service")
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "list the node's own service too")
	return command
}

func serviceRow(s sabir.ServiceInfo) []string {
	return []string{s.Name, s.Node, strconv.Itoa(len(s.Actions)), orDash(s.Events), orDash(s.Needs), ago(s.Since), s.Description}
}

func (c *cli) nodesCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "nodes [flags]",
		GroupID: groupUse,
		Short:   "List the nodes of the cluster",
		Long: `Lists the nodes that the asked one knows, itself included: their state, where and
since when they run, and how much they offer. Use it to see whether a node is
there and which version of Go it runs.`,
		Example: `  sabir nodes
  sabir nodes --json
  SABIR_URL=http://10.0.0.7:3000 sabir nodes`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			list, err := askFor[[]sabir.NodeInfo](command.Context(), c, "$node.nodes")
			if err != nil {
				return err
			}
			show(c, list, []string{"NODE", "STATE", "UP", "HOST", "PID", "GO", "CPUS", "SERVICES", "ACTIONS"}, nodeRow, "there is no node")
			return nil
		},
	}
}

func nodeRow(n sabir.NodeInfo) []string {
	return []string{n.ID, n.State, ago(n.Since), n.Host, fmt.Sprint(n.PID), n.Go, fmt.Sprint(n.CPUs), fmt.Sprint(n.Services), fmt.Sprint(n.Actions)}
}

// hidden tells whether a service is the runtime's own.
func hidden(service string, all bool) bool { return !all && strings.HasPrefix(service, "$") }

// matcher tells which names a pattern means.
func matcher(args []string) (func(name string) bool, error) {
	if len(args) == 0 {
		return func(string) bool { return true }, nil
	}
	pattern := args[0]
	if !strings.Contains(pattern, "*") {
		return func(name string) bool { return strings.Contains(name, pattern) }, nil
	}
	if _, err := path.Match(pattern, ""); err != nil {
		return nil, usagef("the pattern %q cannot be read: want a part of a name, or a name with * for anything", pattern)
	}
	return func(name string) bool {
		ok, _ := path.Match(pattern, name) // the pattern is good
		return ok
	}, nil
}

func orDash(list []string) string {
	if len(list) == 0 {
		return "-"
	}
	return strings.Join(list, ", ")
}
