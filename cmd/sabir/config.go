package main

import (
	"fmt"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/config"
)

func (c *cli) configCommand() *cobra.Command {
	command := &cobra.Command{
		Use:     "config",
		GroupID: groupMake,
		Short:   "Check and show the settings of a node",
		Long: `Reads the settings that a node with config.Load would read, from the environment and
a file: to see what is wrong, and what is from where, before it starts. Settings of a
program's own (app) are not looked at, since only the program knows them. Lists the
settings of a node that runs, and changes those that can change meanwhile.`,
		Example: `  sabir config check sabir.yaml
  sabir config show sabir.yaml
  sabir config schema
  sabir config list node-3 --join tcp://:7700
  sabir config set '*' log.level=debug --join tcp://:7700`,
		Args: takes(0, 0, "check, show, schema, list or set"),
		RunE: func(command *cobra.Command, _ []string) error { return command.Help() },
	}
	command.AddCommand(c.configCheckCommand(), c.configShowCommand(), c.configSchemaCommand(), c.configListCommand(), c.configSetCommand())
	return command
}

func (c *cli) configCheckCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "check [file]",
		Short: "Say what is wrong with settings",
		Long: `Reads a file and the environment, and fails where a setting does not exist or has a
wrong value. Without a file it is the one that SABIR_CONFIG names. Flags and defaults of
the program, and settings of its own (app), are not known here.`,
		Example: `  sabir config check sabir.yaml
  SABIR_LOG_LEVEL=loud sabir config check`,
		Args:              takes(0, 1, "one file"),
		ValidArgsFunction: completeFile,
		RunE: func(_ *cobra.Command, args []string) error {
			values, err := loadSettings(args)
			if err != nil {
				return err
			}
			if c.json {
				writeJSON(c.stdout, map[string]int{"settings": len(values)})
				return nil
			}
			fmt.Fprintf(c.stdout, "good: %s\n", plural(len(values), "setting"))
			return nil
		},
	}
}

func (c *cli) configShowCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "show [file]",
		Short: "Show settings with where each is from",
		Long: `Lists the settings that a file and the environment give, where each is from, and whether
it can change while the node runs or takes a restart. Secrets and passwords in
addresses are hidden.`,
		Example: `  sabir config show sabir.yaml
  sabir config show --json`,
		Args:              takes(0, 1, "one file"),
		ValidArgsFunction: completeFile,
		RunE: func(_ *cobra.Command, args []string) error {
			values, err := loadSettings(args)
			if err != nil {
				return err
			}
			c.showSettings(values)
			return nil
		},
	}
}

func (c *cli) configSchemaCommand() *cobra.Command {
	return &cobra.Command{
		Use:   "schema",
		Short: "Print the JSON schema of a file of settings",
		Long: `Prints the JSON schema of a file of settings, with which editors complete names and
show mistakes.`,
		Example: `  sabir config schema
  # yaml-language-server: $schema=sabir.schema.json    as the first line of sabir.yaml`,
		Args: takes(0, 0, "no argument"),
		RunE: func(*cobra.Command, []string) error {
			_, err := c.stdout.Write(config.Schema(nil))
			return err
		},
	}
}

func (c *cli) showSettings(values []config.Value) {
	show(c, values, []string{"SETTING", "VALUE", "FROM", "CHANGES"}, func(v config.Value) []string {
		changes := "by a restart"
		if v.Live {
			changes = "while it runs"
		}
		return []string{v.Name, v.Value, v.Origin, changes}
	}, "nothing is set")
}

func loadSettings(args []string) ([]config.Value, error) {
	from := config.Config{SkipApp: true}
	if len(args) == 1 {
		from.File = args[0]
	}
	loaded, err := config.Load(from)
	if err != nil {
		return nil, err
	}
	return loaded.Values(), nil
}
