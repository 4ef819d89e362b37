package main

import (
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/introspect"
)

func (c *cli) emitCommand() *cobra.Command {
	var broadcast bool
	var groups []string
	command := &cobra.Command{
		Use:     "emit <event> [payload] [flags]",
		GroupID: groupUse,
		Short:   "Emit an event on a node or in a cluster",
		Long: `Tells running services an event, as if one of them had emitted it: each group of
services that listens gets it once in the whole cluster, with --broadcast each
service on each node, with --group these groups only. Use it to try event handlers out. It joins the cluster, since
nobody emits events over HTTP.

` + inputHelp,
		Example: `  sabir emit stock.low sku=rope left:=3 --join tcp://:7700
  sabir emit user.changed '{"id":"u-1"}' --broadcast --join tcp://:7700
  sabir emit order.placed id=7 --group mail --group stock --join tcp://:7700
  SABIR_JOIN=tcp://:7700 sabir emit order.rejected @event.json
  sabir emit user.changed id=u-1 --broadcast --join tcp://:7700`,
		Args:              takes(1, -1, "an event, such as order.created"),
		ValidArgsFunction: c.completeEvents,
		RunE: func(command *cobra.Command, args []string) error {
			if broadcast && groups != nil {
				return usagef("--broadcast tells every group: leave out --group")
			}
			if err := names.Check(args[0]); err != nil {
				return usagef("%v", err)
			}
			payload, err := c.readInput(command.Context(), args[1:])
			if err != nil {
				return err
			}
			body, err := json.Marshal(description.Emit{Event: args[0], Payload: payload, Broadcast: broadcast, Groups: groups})
			if err != nil {
				return usagef("the payload cannot be sent: %v", err)
			}
			to, err := c.openJoined(command.Context(), "emit")
			if err != nil {
				return err
			}
			defer to.Close()
			if _, err := c.ask(command.Context(), to, "$node.emit", body); err != nil {
				return err
			}
			c.showEmitted(args[0], broadcast, groups)
			foreign := func(n introspect.Node) bool { return n.Framework != "" } // who listens there is known to their bridge alone
			if !c.json && !slices.ContainsFunc(to.node.Nodes(), foreign) {
				noteNoListener(c.stderr, args[0], to.node.Services())
			}
			return nil
		},
	}
	command.Flags().BoolVar(&broadcast, "broadcast", false, "tell every service that listens, not one of each group")
	command.Flags().StringArrayVar(&groups, "group", nil, "tell this group only; may be repeated")
	return command
}

// noteNoListener says where no service listens to an event, which may be a slip of its name. The event may have been for a client of GET /events.
func noteNoListener(w io.Writer, event string, services []introspect.Service) {
	var known []string
	for _, s := range services {
		for _, pattern := range s.Events {
			if names.Match(pattern, event) {
				return
			}
			known = append(known, pattern)
		}
	}
	slices.Sort(known)
	note := "no service listens to " + event
	if near := names.Nearest(event, slices.Compact(known)); near != nil {
		note += "; did you mean " + strings.Join(near, ", ") + "?"
	}
	fmt.Fprintln(w, "note:", printable(note))
}

func (c *cli) showEmitted(event string, broadcast bool, groups []string) {
	if c.json {
		writeJSON(c.stdout, struct {
			Event     string   `json:"event"`
			Broadcast bool     `json:"broadcast"`
			Groups    []string `json:"groups,omitempty"`
		}{event, broadcast, groups})
		return
	}
	what := "emitted"
	if broadcast {
		what = "broadcast"
	}
	if groups != nil {
		event += " to " + strings.Join(groups, ", ")
	}
	fmt.Fprintln(c.stdout, what, event)
}
