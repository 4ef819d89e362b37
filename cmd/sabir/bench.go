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
	"github.com/sabir-go/sabir/cmd/sabir/load"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/policy"
)

// benchFlags are the flags of sabir bench.
type benchFlags struct {
	plan         load.Plan
	callersGiven bool
	local        bool
	allowErrors  bool
	retry        bool
	to           string
}

// benchResult is the output of sabir bench with --json.
type benchResult struct {
	Action      string `json:"action"`
	Target      string `json:"target"` // URL, or "in process"
	Concurrency int    `json:"concurrency"`
	Retry       bool   `json:"retry,omitempty"`
	*load.Report
	Changes []nodeChange `json:"changes,omitempty"` // of the cluster, while it was measured
}

const inProcess = "in process"

// The callers at once, by default.
const defaultConcurrency = 32

// localTimeEvery is the number of untimed in-process calls for each timed one: the clock costs about as much as a call.
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

With --join calls go over links, to all nodes that offer the action. When a node
dies the others are called on, the calls that failed by it are counted by the
name of their error, and the report says when which node went or came. --retry
tries calls again that may be: those that never left, and those of actions that
are declared idempotent.

One call is made first, and nothing is measured if that fails. If calls fail
later, the exit code is 1: failed calls say nothing about speed.

` + inputHelp,
		Example: `  sabir bench users.get id=u-1
  sabir bench users.get id=u-1 --local          # the demo's, in process: no HTTP, no JSON
  sabir bench orders.create @order.json -c 100 -d 30s --json
  sabir bench users.get id=u-1 --rate 2000      # latency at a load, not at the limit
  sabir bench users.get id=u-1 --join tcp://:7700 --callers 1000 --retry`,
		Args:              takes(1, -1, `an action, such as users.get ("sabir actions" lists them)`),
		ValidArgsFunction: c.completeBench(&flags.local),
		RunE: func(command *cobra.Command, args []string) error {
			body, err := c.readInput(command.Context(), args[1:])
			if err != nil {
				return err
			}
			flags.callersGiven = command.Flags().Changed("callers") || command.Flags().Changed("concurrency")
			return c.bench(command.Context(), args[0], body, flags)
		},
	}
	f := command.Flags()
	f.IntVarP(&flags.plan.Concurrency, "callers", "c", 0, fmt.Sprintf("callers at once, to %d (default %d; with --local one per CPU)", load.MaxConcurrency, defaultConcurrency))
	f.IntVar(&flags.plan.Concurrency, "concurrency", 0, "what --callers was called once")
	_ = f.MarkHidden("concurrency") // the flag is there
	f.DurationVarP(&flags.plan.Duration, "duration", "d", 10*time.Second, "how long to measure")
	f.DurationVar(&flags.plan.Warmup, "warmup", time.Second, "how long to call before it, unmeasured")
	f.Float64Var(&flags.plan.Rate, "rate", 0, "calls per second, timed from when each was due; 0 is as many as there can be")
	f.BoolVar(&flags.local, "local", false, "call the demo's services in process, bound to their Go types")
	f.BoolVar(&flags.allowErrors, "allow-errors", false, "measure an action that fails, too")
	f.BoolVar(&flags.retry, "retry", false, "try failed calls again where that does no harm; needs --join")
	f.StringVar(&flags.to, "to", "", "the node to call, whichever others offer the action; needs --join")
	c.completeTo(command)
	return command
}

func (c *cli) bench(ctx context.Context, action string, body []byte, flags benchFlags) error {
	plan := flags.plan
	if plan.Concurrency == 0 && !flags.callersGiven {
		plan.Concurrency = defaultConcurrency
		if flags.local {
			plan.Concurrency = runtime.GOMAXPROCS(0)
		}
	}
	if err := plan.Check(); err != nil {
		return usagef("%v", err)
	}
	if flags.local {
		plan.TimeEvery = localTimeEvery
	}
	aim, err := c.aim(ctx, action, body, flags, plan)
	if err != nil {
		return err
	}
	defer aim.close()
	if err := aim.try(ctx); err != nil && (!flags.allowErrors || ctx.Err() != nil) {
		return err
	}
	notify, done := c.progress("measuring "+action, plan.Warmup+plan.Duration)
	changes := &nodeWatch{cluster: aim.cluster}
	changes.look(load.Progress{Warming: true})
	plan.Watch = func(p load.Progress) {
		changes.look(p)
		notify(plan, p)
	}
	report := load.Run(ctx, plan, aim.call)
	done()
	c.showBench(benchResult{Action: action, Target: aim.name, Concurrency: plan.Concurrency, Retry: flags.retry, Report: report, Changes: changes.list})
	if report.Failed > 0 && !flags.allowErrors {
		return failf("%s of %s calls failed, so the figures say little; --allow-errors takes them as they are", grouped(report.Failed), grouped(report.Calls))
	}
	return nil
}

// aim is the target of a bench.
type aim struct {
	try     func(context.Context) error // one call, which ends with the context
	call    load.Call
	name    string
	cluster *clusterClient // nil but over links
	close   func()
}

// maxHTTPCallers is the number of connections that a web.Client opens to one node.
const maxHTTPCallers = 512

func (c *cli) aim(ctx context.Context, action string, body []byte, flags benchFlags, plan load.Plan) (aim, error) {
	if flags.local {
		return c.aimAtDemo(ctx, action, body)
	}
	joined, err := c.joins()
	if err != nil {
		return aim{}, err
	}
	if !joined && plan.Concurrency > maxHTTPCallers {
		return aim{}, usagef("%d callers are too many for HTTP: want %d at most, or --join", plan.Concurrency, maxHTTPCallers)
	}
	if joined || flags.retry || flags.to != "" {
		return c.aimAtCluster(ctx, action, body, flags)
	}
	to, err := c.dial()
	if err != nil {
		return aim{}, err
	}
	return c.aimAtTarget(ctx, to, action, body), nil
}

func (c *cli) aimAtCluster(ctx context.Context, action string, body []byte, flags benchFlags) (aim, error) {
	var more []sabir.NodeOption
	if flags.retry {
		more = append(more, sabir.Use(policy.Retry{}))
	}
	g, err := c.openJoined(ctx, "--retry or --to", more...)
	if err != nil {
		return aim{}, err
	}
	g.to = flags.to
	a := c.aimAtTarget(ctx, g, action, body)
	a.cluster = g
	return a, nil
}

func (c *cli) aimAtTarget(ctx context.Context, to target, action string, body []byte) aim {
	try := func(ctx context.Context) error {
		_, err := c.ask(ctx, to, action, body)
		return err
	}
	return aim{try: try, call: callsOf(ctx, to, action, body, c.timeout), name: to.Name(), close: to.Close}
}

// callsOf makes calls of the target's action.
func callsOf(ctx context.Context, to target, action string, body []byte, timeout time.Duration) load.Call {
	ctx = context.WithoutCancel(ctx) // calls under way at the end are waited for
	return func() (int, error) {
		ctx, cancel := context.WithTimeout(ctx, timeout)
		defer cancel()
		answer, err := to.Call(ctx, action, body)
		return len(answer), named(to, err, action)
	}
}

// aimAtDemo makes calls of the demo's action in this process.
func (c *cli) aimAtDemo(ctx context.Context, action string, body []byte) (aim, error) {
	app := shop.New(sabir.Logger(slog.New(slog.DiscardHandler)))
	call, err := app.Local(action, body)
	if err != nil {
		return aim{}, err
	}
	if err := app.Start(ctx); err != nil {
		return aim{}, err
	}
	stop := func() { _ = app.Stop(context.WithoutCancel(ctx)) } // what is measured is over
	return aim{try: call, call: func() (int, error) { return 0, call(context.Background()) }, name: inProcess, close: stop}, nil
}

// localActions lists the actions that --local can call.
func localActions() []cobra.Completion { return shop.LocalActions() }

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
	retry := ""
	if r.Retry {
		retry = ", with retry"
	}
	fmt.Fprintf(w, "%s, %s, %d %s%s, %.1f s\n\n", s.bold(r.Action), r.Target, r.Concurrency, callers, retry, r.Seconds)
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
	writeChanges(w, r.Changes)
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

// writeHistogram draws a bar for each step, the longest of 40 characters or as many as a terminal has room for.
func writeHistogram(w io.Writer, bars []load.Bar, total int64) {
	const besides = 35 // what stands before the bars
	barWidth := 40
	if width := widthOf(w); width > 0 {
		barWidth = max(1, min(barWidth, width-besides))
	}
	var most int64
	for _, bar := range bars {
		most = max(most, bar.Count)
	}
	var rows [][]string
	for _, bar := range bars {
		length := int(math.Ceil(float64(bar.Count) / float64(most) * float64(barWidth))) // one at least for what is there at all
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
