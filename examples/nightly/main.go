// Nightly shows a job by the clock that runs on one machine, though several machines run the program.
//
//	go run ./examples/nightly -every 1s                             # alone: a run each second
//	go run ./examples/nightly -store redis://127.0.0.1:6379         # on each machine: one of them runs it at half past two
//
// Only the store knows of the other machines. It must be one that all of them reach, and that outlives each of them.
package main

import (
	"context"
	"flag"
	"fmt"
	"io"
	"log"
	"os"
	"os/signal"
	"time"

	"github.com/sabir-go/sabir/actor"
	"github.com/sabir-go/sabir/actor/cron"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/nats"  // nats://
	_ "github.com/sabir-go/sabir/broker/redis" // redis://
)

func main() {
	address := flag.String("store", "mem://nightly", "what all machines share, such as redis://… or nats://…; mem:// is this program alone")
	every := flag.Duration("every", 0, "the time between two runs, in place of half past two at night")
	flag.Parse()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx, os.Stdout, *address, *every); err != nil {
		log.Fatal(err)
	}
}

// doc: run
func run(ctx context.Context, out io.Writer, address string, every time.Duration) error {
	st, err := store.Open(ctx, address)
	if err != nil {
		return err
	}
	defer st.Close()
	system := actor.NewSystem(actor.Config{}) // where the processes of this program are
	defer system.Stop(context.WithoutCancel(ctx))
	jobs, err := cron.Start(system) // the scheduler
	if err != nil {
		return err
	}
	report := cron.Job{
		Name: "report", // the same on all machines
		Spec: "CRON_TZ=Europe/Berlin 30 2 * * *",
		Once: st,
		Do:   func(*actor.Process) error { _, err := fmt.Fprintln(out, "the report is made"); return err },
	}
	if every > 0 {
		report.Spec, report.Every = "", every
	}
	if err := jobs.Add(ctx, report); err != nil {
		return err
	}
	<-ctx.Done()
	return nil
}

// end
