package main

import (
	"context"
	"io"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/names"
	"github.com/sabir-go/sabir/mcp"
)

const mcpInstructions = `The tools whose names begin with sabir_ tell about a cluster of services: its nodes, services, actions, channels and dead letters,
traces, and which calls failed lately. To find out why something fails, ask sabir_errors first, then sabir_traces with the trace of an error.
Other tools are actions of the cluster's services.`

func (c *cli) mcpCommand() *cobra.Command {
	var write bool
	command := &cobra.Command{
		Use:     "mcp [pattern...] [flags]",
		GroupID: groupUse,
		Short:   "Let an agent look at a cluster and call its actions (MCP)",
		Long: `Serves a running cluster to one client of the Model Context Protocol over stdin and
stdout: a desktop client starts it as a command. It offers tools that tell about
nodes, services, actions, channels and dead letters, traces and late errors, and
as further tools the public actions that match a pattern. Only actions are offered that
declare that they read (a route with GET and none with another method, or a cache);
with --write all that match are, and dead letters can be replayed and deleted.`,
		Example: `  sabir mcp --join tcp://:7700
  sabir mcp --join tcp://:7700 'orders.*' users.get
  sabir mcp --join tcp://:7700 --write 'orders.*'
  claude mcp add shop -- sabir mcp --join tcp://:7700 'orders.*'`,
		RunE: func(command *cobra.Command, patterns []string) error {
			for _, p := range patterns {
				if err := names.CheckPattern(p); err != nil {
					return usagef("%v", err)
				}
			}
			return c.serveMCP(command.Context(), patterns, write)
		},
	}
	command.Flags().BoolVar(&write, "write", false, "offer actions that may change something too, and replaying and deleting dead letters")
	return command
}

// serveMCP serves one client until it goes.
func (c *cli) serveMCP(ctx context.Context, patterns []string, write bool) error {
	service := &operatorService{cli: c}
	cluster, err := c.openJoined(ctx, "mcp", sabir.Serve(service.make(write)))
	if err != nil {
		return err
	}
	defer cluster.Close()
	service.cluster.Store(cluster)
	offered := mcp.Config{Tools: append([]string{operatorName + ".*"}, patterns...), Instructions: mcpInstructions, ReadOnly: !write}
	return mcp.ServeStdio(ctx, cluster.node, io.NopCloser(c.stdin), unclosed{c.stdout}, offered)
}

// unclosed is an output that stays open.
type unclosed struct{ io.Writer }

func (unclosed) Close() error { return nil }
