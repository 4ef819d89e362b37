package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/api"
)

// genDiff is the output of sabir gen diff with --json.
type genDiff struct {
	Breaking bool         `json:"breaking"`
	Changes  []api.Change `json:"changes"`
}

func (c *cli) genDiffCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "diff <old> [new] [flags]",
		Short: "Tell what changed for callers, and fail if something breaks them",
		Long: `Compares two descriptions of an API and tells what changed for its callers. Each
is a URL, a file, or - for stdin; without the new one it is that of the running node,
or of the cluster with --join. The exit code is 1 where a change may break callers
that were written for the old one, so that a build can refuse it.

Descriptions of a cluster have the types of events and channels too: of those that
services receive, and of those that they name with sabir.Sends. A type that senders
or receivers of before cannot agree with any more is a breaking change, and so is
one that is not sent, or not received, any more. Over HTTP there are none.`,
		Example: `  curl -s 'http://127.0.0.1:3000/$api' > api.json
  sabir gen diff api.json http://127.0.0.1:3000
  sabir gen api --join tcp://:7700 -o cluster.json
  sabir gen diff cluster.json --join tcp://:7700 --json`,
		Args: takes(1, 2, "the old and the new description: URLs or files"),
		RunE: func(command *cobra.Command, args []string) error {
			before, err := c.describedAPI(command.Context(), args[0])
			if err != nil {
				return err
			}
			newer := ""
			if len(args) > 1 {
				newer = args[1]
			}
			after, err := c.describedAPI(command.Context(), newer)
			if err != nil {
				return err
			}
			return c.showDiff(api.Diff(before, after))
		},
		ValidArgsFunction:     completeSource,
		DisableFlagsInUseLine: true,
	}
}

func (c *cli) showDiff(changes []api.Change) error {
	breaking := 0
	for _, change := range changes {
		if change.Breaking {
			breaking++
		}
	}
	if c.json {
		if changes == nil {
			changes = []api.Change{}
		}
		writeJSON(c.stdout, genDiff{breaking > 0, changes})
	} else {
		for _, change := range changes {
			fmt.Fprintln(c.stdout, printable(change.String()))
		}
		if len(changes) == 0 {
			fmt.Fprintln(c.stdout, "nothing changed for callers")
		}
	}
	if breaking > 0 {
		return failf("%d of %d changes may break callers", breaking, len(changes))
	}
	return nil
}
