package main

import (
	"context"
	"fmt"
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/introspect"
)

// The commands that list what a node or a cluster has. The runtime's own service, $node, is left out unless asked for.

func (c *cli) actionsCommand() *cobra.Command {
	var all, http bool
	command := &cobra.Command{
		Use:     "actions [pattern] [flags]",
		GroupID: groupUse,
		Short:   "List the actions that can be called",
		Long: `Lists the actions of a running node or of a cluster with their Go types and the
nodes that offer them: what can be called. Use it to find an action's name and
input. With --all it asks each node of a cluster for those of the runtime's own too,
such as $channels.list. A pattern is a part of the name, or a whole name with * for anything.
With --http it lists what a node answers over HTTP, and to whom; of a cluster each
node that serves HTTP.`,
		Example: `  sabir actions
  sabir actions --http
  sabir actions order
  sabir actions '*.get' --json
  sabir actions --join tcp://:7700`,
		Args: takes(0, 1, "one pattern, such as 'users.*'"),
		RunE: func(command *cobra.Command, args []string) error {
			matches, err := matcher(args)
			if err != nil {
				return err
			}
			if http {
				return c.showReachable(command.Context(), matches, all)
			}
			list, err := c.listActions(command.Context(), all)
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(a introspect.Action) bool { return !matches(a.Name) || hidden(a.Service, all) })
			show(c, list, []string{"ACTION", "INPUT", "ANSWER", "NODES", "WHAT"}, actionRow, "no action is called like that")
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "list the runtime's own actions too")
	command.Flags().BoolVar(&http, "http", false, "list what is reachable over HTTP, and by whom")
	return command
}

// listActions lists actions with all nodes that offer them, the asked one included; with all, the runtime's own of each node too.
func (c *cli) listActions(ctx context.Context, all bool) ([]introspect.Action, error) {
	to, err := c.open(ctx)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	list, err := askFor[[]introspect.Action](ctx, c, to, "$node.actions")
	if err != nil {
		return nil, err
	}
	services, err := askFor[[]introspect.Service](ctx, c, to, "$node.services")
	if err != nil {
		return nil, err
	}
	offer := make(map[string][]string)
	for _, s := range services {
		for _, action := range s.Actions {
			offer[action] = append(offer[action], s.Node)
		}
	}
	for i := range list {
		list[i].Nodes = offer[list[i].Name]
	}
	if _, joined := to.(*clusterClient); !all || !joined {
		return list, nil
	}
	// Nodes do not announce the runtime's own services, so each is asked for those that it has.
	list = slices.DeleteFunc(list, func(a introspect.Action) bool { return hidden(a.Service, false) })
	at := make(map[string]int)
	err = eachNode(ctx, c, to, "$node.actions", func(node string, found []introspect.Action) {
		for _, a := range found {
			if !hidden(a.Service, false) {
				continue
			}
			i, known := at[a.Name]
			if !known {
				i = len(list)
				at[a.Name], a.Nodes, list = i, nil, append(list, a)
			}
			list[i].Nodes = append(list[i].Nodes, node)
		}
	})
	slices.SortStableFunc(list, func(a, b introspect.Action) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

func actionRow(a introspect.Action) []string {
	what := a.Description
	if a.Stream {
		what = strings.TrimPrefix(string(a.Shape)+" stream: ", " ") + what
	}
	if a.Visibility != "public" {
		what = string(a.Visibility) + ": " + what
	}
	nodes := orDash(a.Nodes)
	if a.Service == nodeService {
		nodes = everyNode
	}
	return []string{a.Name, a.In, a.Out, nodes, what}
}

// everyNode stands for the nodes of the service that every one has.
const (
	everyNode   = "every one"
	nodeService = "$node"
)

// serviceOnNodes is a service with the nodes that run it.
type serviceOnNodes struct {
	introspect.Service
	Nodes []string `json:"nodes"`
}

func (c *cli) servicesCommand() *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:     "services [flags]",
		GroupID: groupUse,
		Short:   "List the services and the nodes that run them",
		Long: `Lists the services of a running node or of a cluster: which nodes run each, how
many actions it has, which events it listens to and which services it needs. Use
it to see whether all that should run does, and how often.`,
		Example: `  sabir services
  sabir services --json | jq -r '.[].name'
  sabir services --join tcp://:7700`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			to, err := c.open(command.Context())
			if err != nil {
				return err
			}
			defer to.Close()
			list, err := askFor[[]introspect.Service](command.Context(), c, to, "$node.services")
			if err != nil {
				return err
			}
			if _, joined := to.(*clusterClient); all && joined {
				if list, err = c.withOwnServices(command.Context(), to, list); err != nil {
					return err
				}
			}
			list = slices.DeleteFunc(list, func(s introspect.Service) bool { return hidden(s.Name, all) })
			show(c, byName(list), []string{"SERVICE", "NODES", "ACTIONS", "LISTENS TO", "NEEDS", "WHAT"}, serviceRow, "no service runs")
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "list the runtime's own services too")
	return command
}

// withOwnServices is the list with the runtime's own services of each node, which nodes do not announce.
func (c *cli) withOwnServices(ctx context.Context, to target, list []introspect.Service) ([]introspect.Service, error) {
	list = slices.DeleteFunc(list, func(s introspect.Service) bool { return hidden(s.Name, false) })
	err := eachNode(ctx, c, to, "$node.services", func(node string, found []introspect.Service) {
		for _, s := range found {
			if hidden(s.Name, false) && s.Node == node {
				list = append(list, s)
			}
		}
	})
	slices.SortStableFunc(list, func(a, b introspect.Service) int { return strings.Compare(a.Name, b.Name) })
	return list, err
}

// byName puts together what is one service on several nodes. The list is sorted by name.
func byName(list []introspect.Service) (services []serviceOnNodes) {
	for _, s := range list {
		if last := len(services) - 1; last >= 0 && services[last].Name == s.Name {
			services[last].Nodes = append(services[last].Nodes, s.Node)
			continue
		}
		services = append(services, serviceOnNodes{s, []string{s.Node}})
	}
	return services
}

func serviceRow(s serviceOnNodes) []string {
	nodes := orDash(s.Nodes)
	if s.Name == nodeService {
		nodes = everyNode
	}
	return []string{s.Name, nodes, strconv.Itoa(len(s.Actions)), orDash(s.Events), orDash(s.Needs), s.Description}
}

func (c *cli) nodesCommand() *cobra.Command {
	var all bool
	command := &cobra.Command{
		Use:     "nodes [flags]",
		GroupID: groupUse,
		Short:   "List the nodes of the cluster",
		Long: `Lists the nodes of a cluster: their state, zone and address, how busy they are,
how much waits in them for something slow, how far away they are, what they offer,
and the process each runs in. A node to which others send no calls of an action for
a while, because it answers them worse than the rest, is shown as sick; one that
misses what it needs, such as a database, as not ready, with what it is. The services
that wait for others, and what they wait for, come below the list; how calls are shared
out (sabir route) comes last. A node of another framework, which a bridge speaks with,
has that framework for an address.
REFUSED counts packets that no holder of the cluster key made, and HTTP requests
whose form may be read in two ways. With --join every node is asked itself, and the
round trip is that of a call from here; over HTTP all is what the asked node knows.
Client-only nodes, such as this command line, are left out without --all. --json
tells more: labels, host, version of Go.`,
		Example: `  sabir nodes --join tcp://:7700
  sabir nodes --json
  SABIR_URL=http://10.0.0.7:3000 sabir nodes`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			to, err := c.open(command.Context())
			if err != nil {
				return err
			}
			defer to.Close()
			list, err := c.survey(command.Context(), to, probesOfList)
			if err != nil {
				return err
			}
			list = slices.DeleteFunc(list, func(s surveyed) bool { return s.ClientOnly && !all })
			show(c, list, nodeHeader, nodeRow, "there is no node but client-only ones")
			if c.json {
				return nil
			}
			for _, s := range list {
				for _, d := range s.Unmet {
					fmt.Fprintf(c.stdout, "node %s: %s\n", printable(s.ID), printable(d.String()))
				}
			}
			for _, r := range routesOf(list) {
				fmt.Fprintf(c.stdout, "calls of %s: %s\n", printable(r.Name), printable(sharesText(r)))
			}
			return nil
		},
	}
	command.Flags().BoolVar(&all, "all", false, "list client-only nodes too")
	return command
}

// routesOf is how calls are shared out, as the first node that reports it knows it.
func routesOf(list []surveyed) []introspect.Route {
	for _, s := range list {
		if s.Routes != nil {
			return s.Routes
		}
	}
	return nil
}

// probesOfList is the number of times that nodes are asked: the first call on a link costs more than those that follow.
const probesOfList = 3

var nodeHeader = []string{"NODE", "STATE", "UP", "ZONE", "ADDRESS", "CPU", "IN FLIGHT", "WAITING", "RTT", "REFUSED", "SERVICES", "PID"}

func nodeRow(s surveyed) []string {
	trip := "-"
	if s.RTT > 0 {
		trip = micros(float64(s.RTT) / 1e3)
	}
	return []string{s.ID, s.shownState(), ago(s.Since), firstOf(s.Zone, "-"), firstOf(s.Addr, s.Framework, "-"), fmt.Sprintf("%.0f %%", s.Load.CPU*100),
		grouped(int64(s.Load.InFlight)), waiting(s.Memory.Waiting, s.Memory.Limit), trip, refusals(s.Refused), orDash(s.Offers), fmt.Sprint(s.PID)}
}

// refusals shows how much a node has refused: "3 forged, 1 HTTP".
func refusals(r introspect.Refused) string {
	var parts []string
	if r.Forged > 0 {
		parts = append(parts, grouped(int64(r.Forged))+" forged")
	}
	if r.HTTPHeads > 0 {
		parts = append(parts, grouped(int64(r.HTTPHeads))+" HTTP")
	}
	return orDash(parts)
}

// waiting is the memory of what waits in a node, and the part of what may.
func waiting(bytes, limit int64) string {
	if limit == 0 {
		return "-"
	}
	return fmt.Sprintf("%.1f MiB (%d %%)", float64(bytes)/(1<<20), 100*bytes/limit)
}

// hidden reports whether a service is the runtime's own.
func hidden(service string, all bool) bool { return !all && strings.HasPrefix(service, "$") }

// matcher returns which names a pattern matches.
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
