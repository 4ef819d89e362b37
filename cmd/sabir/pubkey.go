package main

import (
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/internal/identity"
)

// maxKeyFile bounds what is read of a file with a key, in bytes.
const maxKeyFile = 64 << 10

func (c *cli) pubkeyCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "pubkey [file] [flags]",
		GroupID: groupMake,
		Short:   "Print the public key of a node's key",
		Long: `Prints the public key of a node's key (cluster.Config.NodeKey, or node_key in settings): what other nodes have in cluster.Config.NodeKeys, or
node_keys. The key is read from the file, or from the standard input without one; spaces and line breaks around it do not count. It is
a random text of at least 32 bytes, and stays with the nodes that prove their ids by it.`,
		Example: `  openssl rand -hex 32 > orders.key
  sabir pubkey orders.key
  sabir pubkey /run/secrets/orders.key --json`,
		Args:              takes(0, 1, "the file with the key"),
		ValidArgsFunction: completeFile,
		RunE: func(command *cobra.Command, args []string) error {
			from := untilDone(command.Context(), c.stdin)
			if len(args) > 0 {
				file, err := os.Open(args[0])
				if err != nil {
					return usagef("%v", err)
				}
				defer file.Close()
				from = file
			}
			text, err := io.ReadAll(io.LimitReader(from, maxKeyFile))
			if err != nil {
				return err
			}
			key, err := identity.NewKey(strings.TrimSpace(string(text)))
			if err != nil {
				return usagef("%v", err)
			}
			if c.json {
				writeJSON(c.stdout, map[string]string{"public": key.Public()})
				return nil
			}
			fmt.Fprintln(c.stdout, key.Public())
			return nil
		},
	}
}
