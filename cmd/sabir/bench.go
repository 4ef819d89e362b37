package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"maps"
	"math"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cmd/sabir/demo"
	"github.com/sabir-go/sabir/cmd/sabir/load"
	"github.com/sabir-go/sabir/web"
)

// benchFlags is what sabir bench is told.
type benchFlags struct {
	plan        load.Plan
	local       bool
	allowErrors bool
}

// benchResult is what sabir bench tells with --json.
type benchResult struct {
	Action      string `json:"action"`
	Target      string `json:"target"` // URL, or "in process"
	Concurrency int    `json:"concurrency"`
	*load.Report
}

const inProcess = "in process"

// The callers at once, where nobody says how many.
const defaultConcurrency = 32

// localTimeEvery is how many calls in process go untimed for one that is timed: the clock costs about as much as a call.
const localTimeEvery = 64

func (c *cli) benchCommand() *cobra.Command {
	var flags benchFlags
	command := &cobra.Command{
		Use:     "bench <action> [input] [flags]",
		GroupID: groupMake,
		Short:   "Measure how fast an action is",
		Long: `Calls one action over and over from several callers at once, each waiting for its
answer before it calls again, and prints how many calls a second that makes and
how long they took. Use it to compare: before and after a change, HTTP and
in process. The callers run on this machine and share it with the node if that
does too.

One call is made first, and nothing is measured if that fails. If calls fail
later, the exit code is 1: failed calls say nothing about speed.

` + inputHelp,
		Example: `  sabir bench users.get id=u-1
  sabir bench users.get id=u-1 --local          # the demo's, in process: no HTTP, no JSON
  sabir bench orders.create @order.json -c 100 -d 30s --json
  sabir bench users.get id=u-1 --rate 2000      # latency at a load, not at the limit`,
		Args:              takes(1, -1, `an action, such as users.get ("sabir actions" lists them)`),
		ValidArgsFunction: c.completeBench(&flags.local),
		RunE: func(command *cobra.Command, args []string) error {
			body, err := c.readInput(args[1:])
			if err != nil {
				return err
			}
			return c.bench(command.Context(), args[0], body, flags)
		},
	}
	f := command.Flags()
	f.IntVarP(&flags.plan.Concurrency, "concurrency", "c", 0, fmt.Sprintf("callers at once (default %d; with --local one per CPU)", defaultConcurrency))
	f.DurationVarP(&flags.plan.Duration, "duration", "d", 10*time.Second, "how long to measure")
	f.DurationVar(&flags.plan.Warmup, "warmup", time.Second, "how long to call before it, unmeasured")
	f.Float64Var(&flags.plan.Rate, "rate", 0, "calls per second, timed from when each was due; 0 is as many as there can be")
	f.BoolVar(&flags.local, "local", false, "call the demo's services in process, bound to their Go types")
	f.BoolVar(&flags.allowErrors, "allow-errors", false, "measure an action that fails, too")
	return command
}

func (c *cli) bench(ctx context.Context, action string, body []byte, flags benchFlags) error {
	plan := flags.plan
	if plan.Concurrency == 0 {
		plan.Concurrency = defaultConcurrency
		if flags.local {
			plan.Concurrency = runtime.GOMAXPROCS(0)
		}
	}
	if err := plan.Check(); err != nil {
		return usagef("%v", err)
	}
	open := c.overHTTP
	if flags.local {
		open, plan.TimeEvery = c.inDemo, localTimeEvery
	}
	call, target, closeTarget, err := open(ctx, action, body)
	if err != nil {
		return err
	}
	defer closeTarget()
	if _, err := call(); err != nil && !flags.allowErrors {
		return err
	}
	done := c.progress("measuring "+action, plan.Warmup+plan.Duration)
	report := load.Run(ctx, plan, call)
	done()
	c.showBench(benchResult{Action: action, Target: target, Concurrency: plan.Concurrency, Report: report})
	if report.Failed > 0 && !flags.allowErrors {
		return failf("%s of %s calls failed, so the figures say little; --allow-errors takes them as they are", grouped(report.Failed), grouped(report.Calls))
	}
	return nil
}

// overHTTP makes calls of the node's action.
func (c *cli) overHTTP(ctx context.Context, action string, body []byte) (load.Call, string, func(), error) {
	client, err := c.dial()
	if err != nil {
		return nil, "", nil, err
	}
	return callOver(ctx, client, action, body, c.timeout), client.Name(), client.Close, nil
}

func callOver(ctx context.Context, client *web.Client, action string, body []byte, timeout time.Duration) load.Call {
	ctx = context.WithoutCancel(ctx) // calls under way at the end are waited for
	return func() (int, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		answer, err := client.Call(ctx, action, body)
		return len(answer), named(err, action)
	}
}

// inDemo makes calls of the demo's action in this process.
func (c *cli) inDemo(ctx context.Context, action string, body []byte) (load.Call, string, func(), error) {
	shop := demo.New(sabir.Logger(slog.New(slog.DiscardHandler)))
	call, err := shop.Local(action, body)
	if err != nil {
		return nil, "", nil, err
	}
	if err := shop.Start(ctx); err != nil {
		return nil, "", nil, err
	}
	stop := func() { _ = shop.Stop(context.WithoutCancel(ctx)) } // what is measured is over
	return func() (int, error) { return 0, call(context.Background()) }, inProcess, stop, nil
}

// localActions lists what --local can call.
func localActions() []cobra.Completion { return demo.LocalActions() }

func (c *cli) showBench(r benchResult) {
	if c.json {
		writeJSON(c.stdout, r)
		return
	}
	w, s := c.stdout, styleOf(c.stdout)
	callers := "callers"
	if r.Concurrency == 1 {
		callers = "caller"
	}
	fmt.Fprintf(w, "%s, %s, %d %s, %.1f s\n\n", s.bold(r.Action), r.Target, r.Concurrency, callers, r.Seconds)
	if r.Interrupted {
		fmt.Fprintln(w, "  interrupted: these are the figures until then")
	}
	figures := [][]string{{"  calls/s", grouped(int64(r.CallsPerSecond + 0.5))}, {"  calls", grouped(r.Calls)}, {"  failed", grouped(r.Failed)}}
	if r.Target != inProcess {
		figures = append(figures, []string{"  answers", byteSize(r.Bytes)})
	}
	if r.Missed > 0 {
		figures = append(figures, []string{"  missed", grouped(r.Missed) + " (the rate was more than the callers could do)"})
	}
	l := r.Latency
	for _, latency := range []struct {
		name  string
		value float64
	}{{"mean", l.Mean}, {"p50", l.P50}, {"p90", l.P90}, {"p99", l.P99}, {"p99.9", l.P999}, {"max", l.Max}} {
		figures = append(figures, []string{"  " + latency.name, micros(latency.value)})
	}
	writeRows(w, figures)
	writeErrors(w, s, r.Errors)
	if r.Timed < r.Calls {
		fmt.Fprintf(w, "\n  times are of one call in %d and include about 0.1 µs for the clock\n", localTimeEvery)
	}
	fmt.Fprintln(w)
	writeHistogram(w, r.Histogram, r.Timed)
}

func writeErrors(w io.Writer, s style, errors map[string]int64) {
	if len(errors) == 0 {
		return
	}
	fmt.Fprintln(w, "\n  "+s.red("errors"))
	var rows [][]string
	for _, name := range slices.Sorted(maps.Keys(errors)) {
		rows = append(rows, []string{"  " + name, grouped(errors[name])})
	}
	writeRows(w, rows)
}

// writeHistogram draws a bar for each step, the longest of barWidth characters.
func writeHistogram(w io.Writer, bars []load.Bar, total int64) {
	const barWidth = 40
	var most int64
	for _, bar := range bars {
		most = max(most, bar.Count)
	}
	var rows [][]string
	for _, bar := range bars {
		length := int(math.Ceil(float64(bar.Count) / float64(most) * barWidth)) // one at least for what is there at all
		share := fmt.Sprintf("%5.1f %%", float64(bar.Count)/float64(total)*100)
		rows = append(rows, []string{"  " + micros(bar.From), "to " + micros(bar.To), share, strings.Repeat("█", length)})
	}
	writeRows(w, rows)
}

func byteSize(n int64) string {
	switch {
	case n >= 1<<30:
		return digits(float64(n)/(1<<30)) + " GiB"
	case n >= 1<<20:
		return digits(float64(n)/(1<<20)) + " MiB"
	case n >= 1<<10:
		return digits(float64(n)/(1<<10)) + " KiB"
	}
	return grouped(n) + " bytes"
}
