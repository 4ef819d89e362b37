package main

import (
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
)

// completionPatience is how long a shell waits for a node that may not be there.
const completionPatience = 500 * time.Millisecond

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
		}
	}
}

// completeActions completes the first argument to an action of the running node.
func (c *cli) completeActions(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
	if len(args) > 0 {
		return nil, cobra.ShellCompDirectiveNoFileComp
	}
	list, _ := askFor[[]sabir.ActionInfo](command.Context(), c.hasty(), "$node.actions") // no node, no completion
	var names []cobra.Completion
	for _, a := range list {
		if strings.HasPrefix(a.Name, typed) && !a.Stream && a.Visibility == sabir.Public && !hidden(a.Service, strings.HasPrefix(typed, "$")) {
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
	list, _ := askFor[[]sabir.ServiceInfo](command.Context(), c.hasty(), "$node.services")
	var names []cobra.Completion
	for _, s := range list {
		for _, event := range s.Events {
			if strings.HasPrefix(event, typed) && !strings.Contains(event, "*") {
				names = append(names, cobra.CompletionWithDesc(event, "taken by "+printable(s.Name)))
			}
		}
	}
	return names, cobra.ShellCompDirectiveNoFileComp
}

// completeLocal completes to the actions of the demo where those are meant, else to those of the node.
func (c *cli) completeBench(local *bool) cobra.CompletionFunc {
	return func(command *cobra.Command, args []string, typed string) ([]cobra.Completion, cobra.ShellCompDirective) {
		if !*local || len(args) > 0 {
			return c.completeActions(command, args, typed)
		}
		return localActions(), cobra.ShellCompDirectiveNoFileComp
	}
}

// hasty is the same command line with less patience.
func (c *cli) hasty() *cli {
	hasty := *c
	hasty.timeout = completionPatience
	return &hasty
}
