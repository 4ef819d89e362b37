package main

import (
	"context"
	"fmt"
	"os"
	"path/filepath"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/cmd/sabir/scaffold"
)

// newResult is the output of sabir new with --json.
type newResult struct {
	scaffold.Result
	Sabir   string `json:"sabir"` // version, or directory of the source
	Tidied  bool   `json:"tidied"`
	Problem string `json:"problem,omitempty"` // why the module does not build yet
}

func (c *cli) newCommand() *cobra.Command {
	var plan scaffold.Plan
	var source string
	var tidy bool
	command := &cobra.Command{
		Use:     "new <name> [flags]",
		GroupID: groupMake,
		Short:   "Make a new service that builds and passes its test",
		Long: `Writes a small service with its test, a main program and a README into a new
directory, as a Go module of its own. Use it to begin a service; then change
what it wrote. Nothing that exists is overwritten. With --deploy the program takes
its settings from flags, the environment and a file, and there is what it takes to
run it as a container, on Kubernetes and by systemd.

The module uses the same release of Sabir as this program. Where this program is
a development build, it points to the source that the program was built from, or
to --sabir DIR.`,
		Example: `  sabir new greeter && cd greeter && go test ./... && go run .
  sabir new greeter --module example.com/team/greeter --dir services/greeter
  sabir new greeter --deploy
  sabir new greeter --sabir ~/src/sabir`,
		Args: takes(1, 1, "a name for the service, such as greeter"),
		RunE: func(command *cobra.Command, args []string) error {
			plan.Name = args[0]
			result, err := newService(command.Context(), plan, source, command.Flags().Changed("tidy"), tidy)
			if err != nil {
				return err
			}
			c.showNew(result)
			if result.Problem != "" {
				return failf("%s does not build yet: %s; when that is mended, run go mod tidy in it", result.Dir, result.Problem)
			}
			return nil
		},
	}
	flags := command.Flags()
	flags.StringVar(&plan.Module, "module", "", "the path of the Go module (default the name)")
	flags.StringVar(&plan.Dir, "dir", "", "where to write; must be empty or not there yet (default the name)")
	flags.BoolVar(&plan.Deploy, "deploy", false, "write a Dockerfile, compose.yaml, manifests for Kubernetes and a unit for systemd too")
	flags.StringVar(&source, "sabir", "", "a directory with Sabir's source to use instead of a release")
	flags.BoolVar(&tidy, "tidy", false, "run go mod tidy, which may use the network (default only with a release, which needs it)")
	return command
}

// newService writes a service. Without tidySet it tidies only where the module would not build otherwise.
func newService(ctx context.Context, plan scaffold.Plan, source string, tidySet, tidy bool) (newResult, error) {
	if err := scaffold.CheckName(plan.Name); err != nil {
		return newResult{}, usagef("%v", err)
	}
	plan.Module = firstOf(plan.Module, plan.Name)
	plan.Dir = firstOf(plan.Dir, plan.Name)
	if err := scaffold.CheckModule(plan.Module, scaffold.Standard(ctx)); err != nil {
		return newResult{}, usagef("%v", err)
	}
	var err error
	if plan.Sabir, err = scaffold.Find(ctx, source); err != nil {
		return newResult{}, failf("%w", err)
	}
	written, err := scaffold.Write(plan)
	if err != nil {
		return newResult{}, failf("%w", err)
	}
	result := newResult{Result: written, Sabir: firstOf(plan.Sabir.Version, plan.Sabir.Dir)}
	needed := plan.Sabir.Released()
	switch {
	case tidy || needed && !tidySet:
		err := scaffold.Tidy(ctx, written.Dir)
		result.Tidied = err == nil
		if err != nil {
			result.Problem = err.Error()
		}
	case needed:
		result.Problem = "go.sum is missing, because go mod tidy was not run"
	}
	return result, nil
}

func (c *cli) showNew(r newResult) {
	if c.json {
		writeJSON(c.stdout, r)
		return
	}
	dir := r.Dir
	if here, err := os.Getwd(); err == nil {
		if short, err := filepath.Rel(here, dir); err == nil && filepath.IsLocal(short) {
			dir = short
		}
	}
	fmt.Fprintf(c.stdout, "made %s (module %s):\n", dir, r.Module)
	for _, name := range r.Files {
		fmt.Fprintln(c.stdout, "  "+name)
	}
	if filepath.IsAbs(r.Sabir) {
		fmt.Fprintf(c.stdout, "\nIts go.mod uses the development version of Sabir in %s;\nuse a release before you share the module.\n", r.Sabir)
	}
	fmt.Fprintf(c.stdout, "\nnext:\n  cd %s && go test ./... && go run .\n", dir)
}
