package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/introspect"
)

// The commands about durable channels ask the service $channels of nodes that use some.

func (c *cli) channelsCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "channels [flags]",
		GroupID: groupUse,
		Short:   "List durable channels; list, replay and delete their dead letters",
		Long: `Lists the durable channels that a running node or the nodes of a cluster use, a
line for each group of consumers: how many messages are kept, wait for the group,
are in flight and come again later. Use it to see whether consumers keep up, and
whether there are dead letters: messages that were given up.`,
		Example: `  sabir channels
  sabir channels --join tcp://:7700
  sabir channels dead shop.orders.dead
  sabir channels replay shop.orders.dead --all
  sabir channels delete shop.orders.dead 17 18`,
		Args: takes(0, 0, "no argument but dead, replay or delete"),
		RunE: func(command *cobra.Command, _ []string) error {
			to, err := c.open(command.Context())
			if err != nil {
				return err
			}
			defer to.Close()
			list, err := c.listChannels(command.Context(), to)
			if err != nil {
				return err
			}
			list = mergeChannels(list)
			if c.json {
				writeJSON(c.stdout, list)
				return nil
			}
			var rows [][]string
			for _, info := range list {
				rows = append(rows, channelRows(info)...)
			}
			if len(rows) == 0 {
				fmt.Fprintln(c.stderr, "no channel is used")
				return nil
			}
			c.writeTable([]string{"CHANNEL", "KEPT", "GROUP", "WAITING", "IN FLIGHT", "DELAYED", "REDELIVERED", "BROKER"}, rows)
			return nil
		},
	}
	command.AddCommand(c.deadCommand(), c.settleCommand("replay", "Publish dead letters again, for the groups that gave them up", "replayed"),
		c.settleCommand("delete", "Delete dead letters for good", "deleted"))
	return command
}

// maxDeadLetters is how many a node lists, replays or deletes at once.
const maxDeadLetters = 10_000

func (c *cli) deadCommand() *cobra.Command {
	in := channel.DeadLettersRequest{}
	command := &cobra.Command{
		Use:   "dead <channel> [flags]",
		Short: "List dead letters with the reason and where they are from",
		Long: `Lists the messages of a channel of dead letters, the oldest first: their keys,
where they are from, who gave them up after how many attempts, and why.`,
		Example: `  sabir channels dead shop.orders.dead
  sabir channels dead shop.orders.dead --json | jq '.[].data'`,
		Args: takes(1, 1, "the channel of dead letters, such as shop.orders.dead"),
		RunE: func(command *cobra.Command, args []string) error {
			in.Channel = args[0]
			if in.Limit < 1 || in.Limit > maxDeadLetters {
				return usagef("the limit is %d: want 1 to %s", in.Limit, grouped(maxDeadLetters))
			}
			to, err := c.open(command.Context())
			if err != nil {
				return err
			}
			defer to.Close()
			letters, err := askUser[[]channel.DeadLetter](command.Context(), c, to, "dead", in)
			if err != nil {
				return err
			}
			show(c, letters, []string{"KEY", "FROM", "GROUP", "ATTEMPTS", "WHEN", "REASON", "DATA"}, letterRow, "there are no dead letters in "+args[0])
			return nil
		},
	}
	command.Flags().IntVar(&in.Limit, "limit", 100, "the most to list, to 10000")
	return command
}

// settleCommand is the command that replays or deletes dead letters.
func (c *cli) settleCommand(name, short, did string) *cobra.Command {
	in := channel.DeadLettersRequest{}
	command := &cobra.Command{
		Use:     name + " <channel> [key...] [flags]",
		Short:   short,
		Long:    short + `: those with the keys that "sabir channels dead" lists, or all.`,
		Example: "  sabir channels " + name + " shop.orders.dead 17 18\n  sabir channels " + name + " shop.orders.dead --all",
		Args:    takes(1, -1, "the channel of dead letters, such as shop.orders.dead"),
		RunE: func(command *cobra.Command, args []string) error {
			in.Channel, in.Keys = args[0], args[1:]
			if in.All != (len(in.Keys) == 0) {
				return usagef("%s needs the keys of dead letters, or --all: one of them", name)
			}
			to, err := c.open(command.Context())
			if err != nil {
				return err
			}
			defer to.Close()
			n, err := askUser[int](command.Context(), c, to, name, in)
			if err != nil {
				return err
			}
			if c.json {
				writeJSON(c.stdout, map[string]int{did: n})
				return nil
			}
			fmt.Fprintf(c.stdout, "%s %s\n", grouped(int64(n)), did)
			return nil
		},
	}
	command.Flags().BoolVar(&in.All, "all", false, "all there are, 10000 at once at most")
	return command
}

// listChannels asks the node, or all nodes of the cluster that use channels.
func (c *cli) listChannels(ctx context.Context, to target) ([]channel.Info, error) {
	g, ok := to.(*clusterClient)
	if !ok {
		return askFor[[]channel.Info](ctx, c, to, "$channels.list")
	}
	nodes, err := askFor[[]introspect.Node](ctx, c, to, "$node.nodes")
	if err != nil {
		return nil, err
	}
	var all []channel.Info
	for _, n := range nodes {
		if n.ClientOnly || n.ID == g.node.ID() {
			continue
		}
		ctx, cancel := context.WithTimeout(ctx, c.timeout)
		list, err := sabir.Call[[]channel.Info](ctx, g.node, "$channels.list", sabir.Empty{}, sabir.ToNode(n.ID))
		cancel()
		if errors.Is(err, sabir.ErrActionNotFound) {
			continue // it has no broker
		}
		if err != nil {
			return nil, err
		}
		all = append(all, list...)
	}
	return all, nil
}

// askUser asks, about dead letters, a node that uses their channel: it knows where they are from.
func askUser[Out any](ctx context.Context, c *cli, to target, action string, in channel.DeadLettersRequest) (out Out, err error) {
	g, ok := to.(*clusterClient)
	if !ok {
		text, err := json.Marshal(in)
		if err != nil {
			return out, err
		}
		answer, err := c.ask(ctx, to, "$channels."+action, text)
		if err != nil {
			return out, err
		}
		return out, json.Unmarshal(answer, &out)
	}
	list, err := c.listChannels(ctx, to)
	if err != nil {
		return out, err
	}
	i := slices.IndexFunc(list, func(info channel.Info) bool { return info.Name == in.Channel })
	if i < 0 {
		return out, errors.New("no node uses the channel " + in.Channel + `; "sabir channels" lists those that are used`)
	}
	ctx, cancel := context.WithTimeout(ctx, c.timeout)
	defer cancel()
	return sabir.Call[Out](ctx, g.node, "$channels."+action, in, sabir.ToNode(list[i].Node))
}

// mergeChannels puts together the reports of several nodes on one channel. Brokers that do not show a node the groups of others
// make it know its own only.
func mergeChannels(list []channel.Info) (merged []channel.Info) {
	slices.SortStableFunc(list, func(a, b channel.Info) int {
		return cmp.Or(strings.Compare(a.Broker, b.Broker), strings.Compare(a.Name, b.Name))
	})
	for _, info := range list {
		last := len(merged) - 1
		if last < 0 || merged[last].Name != info.Name || merged[last].Broker != info.Broker {
			merged = append(merged, info)
			continue
		}
		for _, g := range info.Groups {
			if !slices.ContainsFunc(merged[last].Groups, func(known channel.GroupStats) bool { return known.Name == g.Name }) {
				merged[last].Groups = append(merged[last].Groups, g)
			}
		}
	}
	return merged
}

func channelRows(info channel.Info) (rows [][]string) {
	kept := grouped(int64(info.Kept))
	if info.Dead {
		kept += " dead"
	}
	for _, g := range info.Groups {
		rows = append(rows, []string{info.Name, kept, g.Name, grouped(int64(g.Waiting)), grouped(int64(g.InFlight)), grouped(int64(g.Delayed)), grouped(int64(g.Retried)), info.Broker})
	}
	if len(rows) == 0 {
		rows = [][]string{{info.Name, kept, "-", "-", "-", "-", "-", info.Broker}}
	}
	return rows
}

func letterRow(l channel.DeadLetter) []string {
	from := channel.DeadInfo{Channel: "-", Group: "-"}
	when := "-"
	if l.Dead != nil {
		from, when = *l.Dead, ago(l.Dead.Time)+" ago"
	}
	text := string(l.Data)
	if event := l.Attributes; len(event) > 0 { // what people know an event by; --json has all
		text = strings.TrimSpace(event["type"]+" "+event["id"]) + " " + text
	}
	data := []rune(text)
	if len(data) > 60 {
		data = append(data[:59], '…')
	}
	return []string{l.Key, from.Channel, from.Group, fmt.Sprint(from.Attempts), when, firstOf(from.Reason, "-"), string(data)}
}
