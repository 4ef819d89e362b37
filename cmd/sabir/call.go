package main

import (
	"context"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
)

func (c *cli) callCommand() *cobra.Command {
	var metadata []string
	command := &cobra.Command{
		Use:     "call <action> [input] [flags]",
		GroupID: groupUse,
		Short:   "Call an action and print its answer",
		Long: `Calls one action of a running node and prints the answer as JSON. Use it to try
an action out, or in scripts: the exit code is 0 for an answer, 1 for an error.

` + inputHelp,
		Example: `  sabir call users.get id=u-1
  sabir call users.list city=Genoa limit:=3 --json
  sabir call orders.create '{"user_id":"u-1","lines":[{"sku":"rope","quantity":2}]}'
  sabir call orders.create @order.json --meta tenant=acme --timeout 2s`,
		Args:              takes(1, -1, `an action, such as users.get ("sabir actions" lists them)`),
		ValidArgsFunction: c.completeActions,
		RunE: func(command *cobra.Command, args []string) error {
			ctx, err := withMetadata(command.Context(), metadata)
			if err != nil {
				return err
			}
			body, err := c.readInput(args[1:])
			if err != nil {
				return err
			}
			answer, err := c.ask(ctx, args[0], body)
			if err != nil {
				return err
			}
			c.showJSON(answer)
			return nil
		},
	}
	command.Flags().StringArrayVar(&metadata, "meta", nil, "metadata to send along, as key=value; may be repeated")
	return command
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
