package main

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/membership"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

func (c *cli) routeCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "route [flags]",
		GroupID: groupUse,
		Short:   "Share out calls: a new version, a node or a label gets so many percent",
		Long: `Sets how the calls of an action are shared out in the whole cluster, lists what is
set, and ends it. Use it to try a new version with a few calls (a canary), or to give
some nodes more calls than others. All nodes learn of it at once, and those that
come later; it is kept for as long as one of them runs.`,
		Example: `  sabir route set users.get v2=5% --join tcp://:7700
  sabir route set 'users.*' track=canary=10% --join tcp://:7700
  sabir route list --join tcp://:7700
  sabir route clear users.get --join tcp://:7700`,
		Args: func(_ *cobra.Command, args []string) error {
			if len(args) == 0 {
				return usagef("route needs set, list or clear")
			}
			return usagef("route cannot %q: want set, list or clear", args[0])
		},
		RunE: func(*cobra.Command, []string) error { return nil }, // Args has refused
	}
	command.AddCommand(c.routeSetCommand(), c.routeListCommand(), c.routeClearCommand())
	return command
}

func (c *cli) routeSetCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "set <action> <target>=<percent>%... [flags]",
		Short: "Set the shares of an action's calls, in place of those it has",
		Long: `Sets the shares of the calls of an action, or of all that a pattern takes. A target is

  v2=5%              version 2 of the service, for calls of the name without a version
  track=canary=10%   the nodes with that label (cluster.Config.Labels)
  node=node-3=20%    a node

The rest goes to the other version, or to the other nodes; of several versions to the
one that the name stands for without those that have a share. So set the share of a
new version before it starts. A share that nobody offers goes to the rest; a note on
stderr says so, and names like yours where no action has that one. Calls with
a key (sabir.ByKey) stay on their side. Attempts after a failed one go elsewhere.
Calls that stay on the caller's node, because it offers the action, are not shared
out among nodes.`,
		Example: `  sabir route set users.get v2=5% --join tcp://:7700
  sabir route set 'users.*' track=canary=10% --join tcp://:7700
  sabir route set users.get node=node-3=20% node=node-4=20% --join tcp://:7700`,
		Args: takes(2, -1, "an action or a pattern, and shares such as v2=5%"),
		RunE: func(command *cobra.Command, args []string) error {
			in, decision := introspect.Route{Name: args[0]}, membership.Decision{Route: args[0]}
			for _, text := range args[1:] {
				share, err := parseShare(text)
				if err != nil {
					return err
				}
				in.Shares, decision.Shares = append(in.Shares, share), append(decision.Shares, membership.Share(share))
			}
			if err := decision.Check(); err != nil {
				return usagef("%v", err)
			}
			return c.changeRoute(command.Context(), in, "set")
		},
		DisableFlagsInUseLine: true,
	}
}

func (c *cli) routeListCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "list [flags]",
		Short: "List how calls are shared out",
		Long:  `Lists the actions and patterns whose calls are shared out, with the shares.`,
		Example: `  sabir route list --join tcp://:7700
  SABIR_JOIN=tcp://:7700 sabir route list --json | jq -r '.[].name'`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			list, err := c.askRoute(command.Context(), introspect.Route{}, "list")
			if err != nil {
				return err
			}
			show(c, list, []string{"CALLS OF", "SHARES"}, func(r introspect.Route) []string { return []string{r.Name, sharesText(r)} }, "no calls are shared out")
			return nil
		},
		DisableFlagsInUseLine: true,
	}
}

func (c *cli) routeClearCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "clear <action> [flags]",
		Short: "End the sharing out of an action's calls",
		Long:  `Ends what sabir route set began: calls go where they go without it.`,
		Example: `  sabir route clear users.get --join tcp://:7700
  sabir route clear 'users.*' --join tcp://:7700 --json`,
		Args: takes(1, 1, "an action or a pattern, as sabir route list has it"),
		RunE: func(command *cobra.Command, args []string) error {
			return c.changeRoute(command.Context(), introspect.Route{Name: args[0]}, "clear")
		},
		DisableFlagsInUseLine: true,
	}
}

// changeRoute sets or ends the shares of a name, and writes what is set then.
func (c *cli) changeRoute(ctx context.Context, in introspect.Route, what string) error {
	if in.Shares == nil {
		set, err := c.askRoute(ctx, introspect.Route{}, what)
		if err != nil {
			return err
		}
		if !slices.ContainsFunc(set, func(r introspect.Route) bool { return r.Name == in.Name }) {
			return failf("the calls of %s are not shared out; sabir route list tells which are", in.Name)
		}
	}
	list, err := c.askRoute(ctx, in, what)
	if err != nil {
		return err
	}
	switch {
	case c.json:
		writeJSON(c.stdout, list)
	case in.Shares == nil:
		fmt.Fprintf(c.stdout, "calls of %s are not shared out any more\n", printable(in.Name))
	default:
		fmt.Fprintf(c.stdout, "calls of %s: %s\n", printable(in.Name), printable(sharesText(in)))
	}
	return nil
}

// askRoute asks a node of the cluster, which tells the others.
func (c *cli) askRoute(ctx context.Context, in introspect.Route, what string) (list []introspect.Route, err error) {
	to, err := c.openJoined(ctx, "route "+what)
	if err != nil {
		return nil, err
	}
	defer to.Close()
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	text, err := json.Marshal(in)
	if err != nil {
		return nil, err
	}
	answer, err := c.askAny(ctx, to, "$node.route", text)
	if err != nil {
		return nil, err
	}
	for _, note := range withoutEffect(to.node, in) {
		fmt.Fprintln(c.stderr, "note:", printable(note))
	}
	return list, json.Unmarshal(answer, &list)
}

// askAny asks a node of the cluster what any of them can answer.
func (c *cli) askAny(ctx context.Context, to *clusterClient, action string, in []byte) ([]byte, error) {
	for _, n := range to.node.Nodes() {
		if n.ID != to.node.ID() && !n.ClientOnly && n.Framework == "" && n.State == "running" {
			at := *to
			at.to = n.ID
			return c.ask(ctx, &at, action, in)
		}
	}
	return nil, failf("the cluster at %s has no node that could be asked", to.address)
}

// withoutEffect returns a note for each part of a setting that no action, version or node takes now. An operator may set it before they come, so it
// is no error; the note shows a misspelt name.
func withoutEffect(n *sabir.Node, in introspect.Route) (notes []string) {
	if len(in.Shares) == 0 {
		return nil
	}
	versions, known, taken := make(map[int]bool), []string{}, false
	for _, a := range n.Actions() {
		name := a.Name
		if a.Version > 0 {
			_, name, _ = strings.Cut(name, ".") // calls of names without a version are shared out too
		}
		if hidden(a.Service, false) {
			continue
		}
		known = append(known, name)
		if names.Match(in.Name, name) || names.Match(in.Name, a.Name) {
			taken, versions[a.Version] = true, true
		}
	}
	if !taken {
		note := "no node offers an action called " + in.Name + " now"
		slices.Sort(known)
		if near := names.Nearest(in.Name, slices.Compact(known)); near != nil {
			note += "; did you mean " + strings.Join(near, ", ") + "?"
		}
		return []string{note}
	}
	nodes := slices.DeleteFunc(n.Nodes(), func(one introspect.Node) bool { return one.ClientOnly })
	for _, one := range in.Shares {
		share := membership.Share(one)
		takes := func(node introspect.Node) bool {
			return share.Takes(&membership.Candidate{ID: node.ID, Place: membership.Place{Labels: node.Labels}})
		}
		if v := share.Version(); v > 0 && !versions[v] || v == 0 && !slices.ContainsFunc(nodes, takes) {
			notes = append(notes, "nothing that is there now is "+share.To+": its share goes to the rest until something is")
		}
	}
	return notes
}

// parseShare reads "v2=5%", "track=canary=10%" or "node=node-3=20%".
func parseShare(text string) (s introspect.Share, err error) {
	at := strings.LastIndexByte(text, '=')
	if at < 0 {
		return s, usagef("the share %q is not TARGET=PERCENT%%, such as v2=5%%", text)
	}
	number, percent := strings.CutSuffix(text[at+1:], "%")
	if s.Percent, err = strconv.ParseFloat(number, 64); err != nil || !percent {
		return s, usagef("the share %q does not end with a percentage, such as 5%%", text)
	}
	s.To = text[:at]
	return s, nil
}

// sharesText is "v2=5%, the rest as usual".
func sharesText(r introspect.Route) string {
	var texts []string
	sum := 0.0
	for _, s := range r.Shares {
		texts = append(texts, s.To+"="+strconv.FormatFloat(s.Percent, 'g', -1, 64)+"%")
		sum += s.Percent
	}
	if sum < 100 {
		texts = append(texts, "the rest to the others")
	}
	return strings.Join(texts, ", ")
}
