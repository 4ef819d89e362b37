package main

import (
	"fmt"
	"os"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/api"
)

// genDiff is the output of sabir gen diff with --json.
type genDiff struct {
	Breaking bool         `json:"breaking"`
	Changes  []api.Change `json:"changes"`
}

func (c *cli) genDiffCommand() *cobra.Command {
	var lock string
	command := &cobra.Command{
		Use:   "diff <old> [new] [flags]",
		Short: "Tell what changed for callers, and fail if something breaks them",
		Long: `Compares two descriptions of an API and tells what changed for its callers. Each
is a URL, a file, or - for stdin; without the new one it is that of the running node,
or of the cluster with --join. The exit code is 1 where a change may break callers
that were written for the old one, so that a build can refuse it.

Descriptions of a cluster have the types of events and channels too: of those that
services receive, and of those that they name with sabir.Sends. A type that senders
or receivers of before cannot agree with any more is a breaking change, and so is
one that is not sent, or not received, any more. Over HTTP there are none.

A changed tag protobuf:"3" breaks callers over gRPC. With --lock, the file that sabir
gen proto keeps, so does each field whose number in its order is another one now.`,
		Example: `  curl -s 'http://127.0.0.1:3000/$api' > api.json
  sabir gen diff api.json http://127.0.0.1:3000
  sabir gen api --join tcp://:7700 -o cluster.json
  sabir gen diff cluster.json --join tcp://:7700 --json
  sabir gen diff api.json http://127.0.0.1:3000 --lock shop.proto.lock`,
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
			changes := api.Diff(before, after)
			if lock != "" {
				broken, err := brokenNumbers(lock, after)
				if err != nil {
					return err
				}
				changes = append(changes, broken...)
			}
			return c.showDiff(changes)
		},
		ValidArgsFunction:     completeSource,
		DisableFlagsInUseLine: true,
	}
	command.Flags().StringVar(&lock, "lock", "", "the file of the numbers that fields of Protocol Buffers have, see sabir gen proto")
	return command
}

// brokenNumbers lists the fields whose numbers are not those of the lock.
func brokenNumbers(lock string, a api.API) (changes []api.Change, err error) {
	text, err := os.ReadFile(lock)
	if err != nil {
		return nil, usagef("the lock cannot be read: %v", err)
	}
	numbers, err := parseLock(lock, text)
	if err != nil {
		return nil, err
	}
	for _, problem := range numbers.Check(a) {
		changes = append(changes, api.Change{Breaking: true, Text: problem.Error() + "."})
	}
	return changes, nil
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
