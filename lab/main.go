// Command lab measures Sabir and its peers side by side, on this machine, in the tables of five published benchmark reports.
//
//	go run -C lab . list                              what there is
//	go run -C lab . run --quick --seed ergo           a seed in a few minutes
//	go run -C lab . run                               everything, for two hours and more
//	go run -C lab . report                            the last run as Markdown and as a page
//	go run -C lab . compare first.json [second.json]  how far two runs are apart
//
// README.md has the method.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir/lab/overload"
	"github.com/sabir-go/sabir/lab/scale"
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop) // a second signal ends the program at once
	if err := command().ExecuteContext(ctx); err != nil {
		os.Exit(1)
	}
}

func command() *cobra.Command {
	root := &cobra.Command{
		Use:   "lab",
		Short: "Sabir and its peers, measured side by side",
		Long: `The lab makes the tables of five published benchmark reports anew, on this machine: with the frameworks they
measured, with today's strongest peers, with the physical limit of the work, and with Sabir.

A report is called a seed; each has tables, whose rows are the contenders. "lab list" shows them all. Start with

  go run -C lab . run --quick --seed go-micro`,
		SilenceUsage: true,
	}
	root.AddCommand(listCommand(), runCommand(), reportCommand(), compareCommand(), overload.Command(), scale.Command())
	return root
}
