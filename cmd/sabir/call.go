package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
)

func (c *cli) callCommand() *cobra.Command {
	var flags callFlags
	command := &cobra.Command{
		Use:     "call <action> [input] [flags]",
		GroupID: groupUse,
		Short:   "Call an action and print its answer",
		Long: `Calls one action of a running node and prints the answer as JSON. Use it to try
an action out, or in scripts: the exit code is 0 for an answer, 1 for an error.

With --join the call goes to a node that offers the action, or to the one named
with --to. There --stream opens a stream: it sends the input, or with - each
line of stdin as a value, and prints what comes back, one line of JSON each,
until the stream ends or Ctrl-C. It has no time limit but a --timeout you give.

` + inputHelp,
		Example: `  sabir call users.get id=u-1
  sabir call users.list city=Genoa limit:=3 --json
  sabir call orders.create '{"user_id":"u-1","lines":[{"sku":"rope","quantity":2}]}'
  sabir call orders.create @order.json --meta tenant=acme --timeout 2s
  sabir call users.get id=u-1 --join tcp://:7700 --to demo-2
  sabir call orders.watch --stream --join tcp://:7700`,
		Args:              takes(1, -1, `an action, such as users.get ("sabir actions" lists them)`),
		ValidArgsFunction: c.completeActions,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, err := withMetadata(command.Context(), flags.metadata)
			if err != nil {
				return err
			}
			if flags.stream {
				return c.callStream(ctx, args, flags, command.Flags().Changed("timeout"))
			}
			body, err := c.readInput(command.Context(), args[1:])
			if err != nil {
				return err
			}
			to, err := c.openTo(ctx, flags.to)
			if err != nil {
				return err
			}
			defer to.Close()
			answer, err := c.ask(ctx, to, args[0], body)
			if err != nil {
				return err
			}
			c.showJSON(answer)
			return nil
		},
	}
	f := command.Flags()
	f.StringArrayVar(&flags.metadata, "meta", nil, "metadata to send along, as key=value; may be repeated")
	f.StringVar(&flags.to, "to", "", "the node to call, whichever others offer the action; needs --join")
	f.BoolVar(&flags.stream, "stream", false, "open a stream and print its values; needs --join")
	c.completeTo(command)
	return command
}

// callFlags are the flags of sabir call.
type callFlags struct {
	metadata []string
	to       string
	stream   bool
}

// openTo is open for calls that go to the node of that name, if one is named.
func (c *cli) openTo(ctx context.Context, node string) (target, error) {
	if node == "" {
		return c.open(ctx)
	}
	g, err := c.openJoined(ctx, "--to")
	if err != nil {
		return nil, err
	}
	g.to = node
	return g, nil
}

// withMetadata adds "key=value" pairs to what calls carry.
func withMetadata(ctx context.Context, pairs []string) (context.Context, error) {
	for _, pair := range pairs {
		key, value, ok := strings.Cut(pair, "=")
		if !ok || key == "" {
			return nil, usagef("the metadata %q is not key=value", pair)
		}
		ctx = sabir.WithMetadata(ctx, key, value)
	}
	return ctx, nil
}
