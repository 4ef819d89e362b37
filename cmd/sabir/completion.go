package main

import (
	"context"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/introspect"
)

// completionTimeout is the time that a shell waits for a node that may not be there.
const completionTimeout = 500 * time.Millisecond

// addCompletion adds cobra's command that writes scripts for shells.
func addCompletion(root *cobra.Command) {
	root.SetCompletionCommandGroupID(groupMake)
	root.SetHelpCommandGroupID(groupMake)
	root.InitDefaultCompletionCmd()
	for _, command := range root.Commands() {
		if command.Name() == "completion" {
			command.Short = "Write a script that completes commands and action names in your shell"
			command.Example = `  source <(sabir completion bash)
  sabir completion zsh > "${fpath[1]}/_sabir"
  sabir completion fish > ~/.config/fish/completions/sabir.fish`
			command.Args = takes(0, 0, "the shell, bash, zsh, fish or powershell")
			command.RunE = func(command *cobra.Command, _ []string) error { return command.Help() }
			for _, shell := range command.Commands() {
				shell.Args = takes(0, 0, "no argument")
			}
		}
	}
}

// completeFiles completes flags to names of files or folders where they want one, and nothing else to such but what has completeFile.
func completeFiles(root *cobra.Command) {
	root.CompletionOptions.SetDefaultShellCompDirective(cobra.ShellCompDirectiveNoFileComp)
	for _, flag := range []string{"node-key-file", "tls-cert", "tls-key", "tls-ca"} {
		completeFlag(root, flag, cobra.ShellCompDirectiveDefault)
	}
	completeFileFlags(root)
}

// completeFile completes the first argument to names of files.
func completeFile(_ *cobra.Command, args []string, _ string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	return nil, cobra.ShellCompDirectiveDefault
}

// completeFileFlags does it for the flags of all commands below one.
func completeFileFlags(command *cobra.Command) {
	for _, below := range command.Commands() {
		for _, file := range []string{"output", "lock"} {
			if below.Flags().Lookup(file) != nil {
				completeFlag(below, file, cobra.ShellCompDirectiveDefault)
			}
		}
		for _, folder := range []string{"dir", "sabir"} {
			if below.Flags().Lookup(folder) != nil {
				completeFlag(below, folder, cobra.ShellCompDirectiveFilterDirs)
			}
		}
		completeFileFlags(below)
	}
}

func completeFlag(command *cobra.Command, name string, to cobra.ShellCompDirective) {
	if err := command.RegisterFlagCompletionFunc(name, cobra.FixedCompletions(nil, to)); err != nil {
		panic(err) // the command has the flag
	}
}

// completeActions completes the first argument to an action of the running node.
func (c *cli) completeActions(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	stream, _ := command.Flags().GetBool("stream")
	list := askHastily[[]introspect.Action](command.Context(), c, "$node.actions")
	var names []cobra.Completion
	for _, a := range list {
		if strings.HasPrefix(a.Name, typed) && a.Stream == stream && a.Visibility == "public" && !hidden(a.Service, strings.HasPrefix(typed, "$")) {
			names = append(names, cobra.CompletionWithDesc(a.Name, printable(a.Description)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeEvents completes the first argument to an event that a service listens to by its whole name.
func (c *cli) completeEvents(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list := askHastily[[]introspect.Service](command.Context(), c, "$node.services")
	var names []cobra.Completion
	for _, s := range byName(list) {
		for _, event := range s.Events {
			if strings.HasPrefix(event, typed) && !strings.Contains(event, "*") {
				names = append(names, cobra.CompletionWithDesc(event, "taken by "+printable(s.Name)))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeTo completes the flag --to to the nodes of the cluster.
func (c *cli) completeTo(command *cobra.Command) {
	complete := func(command *cobra.Command, _ []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		return c.completeNode(command, nil, typed)
	}
	if err := command.RegisterFlagCompletionFunc("to", complete); err != nil {
		panic(err) // the command has the flag
	}
}

// completeNode completes the first argument to the nodes of the cluster.
func (c *cli) completeNode(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	var names []cobra.Completion
	for _, n := range askHastily[[]introspect.Node](command.Context(), c, "$node.nodes") {
		if strings.HasPrefix(n.ID, typed) && !n.ClientOnly {
			names = append(names, cobra.CompletionWithDesc(n.ID, printable(n.Addr)))
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeBench completes to the actions of the demo where those are meant, else to those of the node.
func (c *cli) completeBench(local *bool) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if !*local || len(args) > 0 {
			return c.completeActions(command, args, typed)
		}
		return localActions(), cobra.ShellCompDirectiveNoFileComp
	}
}

// askHastily is askFor with the timeout of a shell: without a node there is nothing to complete to.
func askHastily[Out any](ctx context.Context, c *cli, action string) (out Out) {
	hasty := *c
	hasty.timeout = completionTimeout
	to, err := hasty.open(ctx)
	if err != nil {
		return out
	}
	defer to.Close()
	out, _ = askFor[Out](ctx, &hasty, to, action)
	return out
}
