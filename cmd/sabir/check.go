package main

import (
	"context"
	"slices"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/introspect"
)

// dependencyOn adds the node of the service that depends.
type dependencyOn struct {
	By string `json:"by"`
	introspect.Dependency
}

func (c *cli) checkCommand() *cobra.Command {
	return &cobra.Command{
		Use:     "check [flags]",
		GroupID: groupUse,
		Short:   "Check that services fit those that they depend on",
		Long: `Asks the nodes what their services depend on (sabir.DependsOn) and compares the
types of each contract with those of every node that offers it. The exit code is 1
where an action is not offered, or where no value of one type can be read as the
other, so that a deployment can be stopped before the first call fails.`,
		Example: `  sabir check --join tcp://:7700
  sabir check --json | jq -r '.[] | select(.problem) | .on'`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error { return c.showCheck(command.Context()) },
	}
}

func (c *cli) showCheck(ctx context.Context) error {
	to, err := c.open(ctx)
	if err != nil {
		return err
	}
	defer to.Close()
	list := []dependencyOn{}
	err = eachNode(ctx, c, to, "$node.dependencies", func(node string, found []introspect.Dependency) {
		for _, d := range found {
			list = append(list, dependencyOn{node, d})
		}
	})
	if err != nil {
		return err
	}
	none := "no service says what it depends on: see sabir.DependsOn"
	if !c.joined() {
		none = "no service of the asked node says what it depends on: --join asks all nodes"
	}
	show(c, list, []string{"SERVICE", "NODE", "DEPENDS ON", "OFFERED BY", "RESULT"}, dependencyRow, none)
	wrong := len(slices.DeleteFunc(list, func(d dependencyOn) bool { return d.Problem == "" }))
	if wrong > 0 {
		return failf("%d of the dependencies do not fit what is offered", wrong)
	}
	return nil
}

func dependencyRow(d dependencyOn) []string {
	result, by := "fits", d.Node
	if d.Problem != "" {
		result = d.Problem
	}
	if by == "" {
		by = "-"
	}
	return []string{d.Service, d.By, d.On, by, result}
}
