package main

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/spf13/cobra"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/gen/openapi"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/dashboard"
)

// demoFlags are the flags of sabir demo.
type demoFlags struct {
	addr      string
	addrGiven bool
	quiet     bool
	rate      float64
	length    time.Duration

	nodes     int
	processes bool
	restart   bool
	part      int    // of a child process: which of the nodes it is, from 1; 0 for the demo itself
	id        string // of a child process: the node's
}

const demoAddr = ":3000"

func (c *cli) demoCommand() *cobra.Command {
	var flags demoFlags
	command := &cobra.Command{
		Use:     "demo [flags]",
		GroupID: groupTry,
		Short:   "Run a small shop to try Sabir with",
		Long: `Runs a small application in this process: the services users, orders, stock and
mail, which call each other and emit events, with made-up data, some customers
who place orders all the time, and an HTTP address for your own calls. Use it to
see Sabir at work, and read its code in examples/shop to see how it is written.
Ctrl-C ends it.

With --nodes the shop is a cluster: each service runs on two of three nodes, so
that one may go. With --processes each node is a process of its own, whose log is
shown here; kill one and see the others go on. The nodes meet at --join, which is
tcp://127.0.0.1:7700, or a free port. Each keeps its own orders and stock.`,
		Example: `  sabir demo
  sabir demo --nodes 3 --processes --restart
  sabir demo --http :8080 --rate 500
  sabir demo --quiet --for 30s`,
		Args: takes(0, 0, "no argument"),
		RunE: func(command *cobra.Command, _ []string) error {
			flags.addrGiven = command.Flags().Changed("http")
			if !(flags.rate >= 0) || flags.rate > 1e6 {
				return usagef("the rate is %v: want 0 (no orders) to 1e6 per second", flags.rate)
			}
			if flags.length < 0 {
				return usagef("the time to run is %v: want 0 (until Ctrl-C) or more", flags.length)
			}
			if flags.nodes < 1 || flags.nodes > maxDemoNodes {
				return usagef("the number of nodes is %d: want 1 to %d", flags.nodes, maxDemoNodes)
			}
			if flags.restart && !flags.processes {
				return usagef("--restart starts processes again: add --processes")
			}
			switch {
			case flags.part > 0:
				return c.demoPart(command.Context(), flags)
			case flags.nodes > 1 || flags.processes || c.join != "":
				return c.demoCluster(command.Context(), flags)
			}
			return c.demo(command.Context(), flags)
		},
	}
	f := command.Flags()
	f.IntVar(&flags.nodes, "nodes", 1, "how many nodes the shop is spread over")
	f.BoolVar(&flags.processes, "processes", false, "make each node a process of its own")
	f.BoolVar(&flags.restart, "restart", false, "start a process again that has ended")
	f.IntVar(&flags.part, "part", 0, "be this one of the nodes, for a demo with --processes")
	f.StringVar(&flags.id, "id", "", "the name of that node")
	_ = f.MarkHidden("part") // the flags are there
	_ = f.MarkHidden("id")
	f.StringVar(&flags.addr, "http", demoAddr, "where to serve HTTP; without a host, this machine only")
	f.Float64Var(&flags.rate, "rate", 20, "orders per second; 0 for none but yours")
	f.DurationVar(&flags.length, "for", 0, "end after this time (default with Ctrl-C)")
	f.BoolVarP(&flags.quiet, "quiet", "q", false, "do not print the traffic")
	return command
}

func (c *cli) demo(ctx context.Context, flags demoFlags) error {
	if flags.length > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, flags.length)
		defer cancel()
	}
	line := newLiveLine(c.stdout)
	meter := shop.NewMeter()
	observed, traced, err := demoTelemetry()
	if err != nil {
		return err
	}
	options := []sabir.NodeOption{
		sabir.Logger(slog.New(demoLog(line.above(c.stderr)))),
		sabir.Use(traced, meter.Middleware(), rpc.Package(demoPackage)),
		observed,
	}
	app, err := c.openShop(ctx, flags, options)
	if err != nil {
		return failf("the demo cannot start: %w", err)
	}
	c.greet(app, flags)
	var customers sync.WaitGroup
	if flags.rate > 0 {
		customers.Go(func() { app.Traffic(ctx, flags.rate) })
	}
	c.showTraffic(ctx, line, app, meter, flags.quiet)
	customers.Wait()
	stopCtx, cancel := context.WithTimeout(context.WithoutCancel(ctx), 10*time.Second)
	defer cancel()
	if err := app.Stop(stopCtx); err != nil {
		return failf("the demo did not end cleanly: %w", err)
	}
	c.showSummary(app.Stats(), meter.Total())
	return nil
}

// openShop starts the shop.
func (c *cli) openShop(ctx context.Context, flags demoFlags, options []sabir.NodeOption) (app *shop.Shop, err error) {
	err = c.atAddr(flags, func(addr string) error {
		app, err = c.startShop(ctx, addr, options)
		return err
	})
	return app, err
}

// atAddr starts what serves HTTP. Where the usual port is taken, and was not asked for, a free one will do.
func (c *cli) atAddr(flags demoFlags, start func(addr string) error) error {
	err := start(flags.addr)
	if !errors.Is(err, syscall.EADDRINUSE) {
		return err
	}
	if flags.addrGiven {
		return fmt.Errorf("%w; choose another with --http, or :0 for any free one", err)
	}
	fmt.Fprintf(c.stderr, "port %s is taken, so the demo takes a free one\n", demoAddr)
	return start(":0")
}

func (c *cli) startShop(ctx context.Context, addr string, options []sabir.NodeOption) (*shop.Shop, error) {
	app := shop.New(append([]sabir.NodeOption{c.demoHTTP(addr)}, options...)...)
	if err := app.Start(ctx); err != nil {
		return nil, err
	}
	return app, nil
}

// demoHTTP serves HTTP with all its pages, to clients that have the key if there is one.
func (c *cli) demoHTTP(addr string) sabir.NodeOption {
	options := []gateway.HTTPOption{
		web.With(web.Config{Title: "The chandler's shop", Version: "1", Description: "Sabir's demo: made-up users, stock and orders.",
			Events: []string{"**"}, Forward: []string{"**"}}),
		openapi.At("/docs"), dashboard.At("/dashboard"),
		mcp.At("/mcp", mcp.Config{Tools: []string{"**"}, Resources: []string{"**"}}),
		rpc.Serve(),
	}
	if key := c.httpKey(); key != "" {
		return sabir.HTTP(addr, append(options, gateway.Key(key), web.With(web.Config{Operators: []string{web.KeyHolder}}))...)
	}
	return sabir.HTTP(addr, append(options, web.With(web.Config{Operators: []string{web.ThisMachine}}))...)
}

// demoPackage is the package of Protocol Buffers of all services of the demo, so that one .proto file has them all.
const demoPackage = "shop.v1"

// demoTelemetry collects the figures of actions and the latest traces of a node of the demo, for sabir top and the dashboard.
func demoTelemetry() (sabir.NodeOption, sabir.Middleware, error) {
	traces := dashboard.Traces(2000)
	tel, err := telemetry.New(telemetry.Config{Metrics: true, Buckets: demoBuckets, Traces: traces, SampleRatio: 0.05, Values: []string{"**"}})
	if err != nil {
		return nil, sabir.Middleware{}, err
	}
	return sabir.Serve(tel.Stats(), traces.Service()), tel.Middleware(), nil
}

// greet prints where the demo is and what to try.
func (c *cli) greet(app *shop.Shop, flags demoFlags) {
	url := "http://" + app.HTTPAddr()
	if c.json {
		writeJSON(c.stdout, map[string]any{"type": "ready", "url": url, "node": app.ID()})
		return
	}
	s := styleOf(c.stdout)
	to := "" // the flags that sabir needs
	if url != "http://127.0.0.1:3000" {
		to = " --url " + url
	}
	header := "-H 'Content-Type: application/json'"
	if c.httpKey() != "" {
		header += ` -H "Authorization: Bearer $SABIR_HTTP_KEY"`
	}
	fmt.Fprintf(c.stdout, "%s at %s\n\n", s.bold("The Sabir demo is open"), s.green(url))
	me := commandLine()
	fmt.Fprintf(c.stdout, "Try, in another terminal:\n")
	fmt.Fprintf(c.stdout, "  a good call      %s call users.get id=u-1%s\n", me, to)
	fmt.Fprintf(c.stdout, "                   curl %s -d '{\"id\":\"u-1\"}' %s/users/get\n", header, url)
	fmt.Fprintf(c.stdout, "  an invalid one   %s call orders.create user_id=u-1 'lines:=[{\"sku\":\"rope\",\"quantity\":0}]'%s\n", me, to)
	fmt.Fprintf(c.stdout, "  an unknown one   %s call user.get id=u-1%s\n", me, to)
	fmt.Fprintf(c.stdout, "  a REST form      curl %s/users/u-1\n", url)
	fmt.Fprintf(c.stdout, "  a typed client   %s gen ts %s > shop.ts\n", me, url)
	fmt.Fprintf(c.stdout, "  over gRPC        %s gen proto %s -o shop.proto\n", me, url)
	fmt.Fprintf(c.stdout, "                   grpcurl -plaintext -d '{\"id\":\"u-1\"}' %s %s.Users/Get\n", app.HTTPAddr(), demoPackage)
	fmt.Fprintf(c.stdout, "  an agent's tools npx @modelcontextprotocol/inspector --cli %s/mcp --transport http --method tools/list\n", url)
	fmt.Fprintf(c.stdout, "  what goes on     %s top%s\n", me, to)
	fmt.Fprintf(c.stdout, "  in a browser     %s/dashboard, %s/docs\n", url, url)
	fmt.Fprintf(c.stdout, "What else there is: %s\n\n", s.bold(me+" actions"+to))
	if flags.length == 0 {
		fmt.Fprintln(c.stdout, "Ctrl-C ends it.")
	}
}

// commandLine returns the command that starts this program again: as it was built, or by "go run" when that built it.
func commandLine() string {
	path, err := os.Executable()
	if err == nil && strings.Contains(path, string(filepath.Separator)+"go-build") {
		return "go run ./cmd/sabir"
	}
	return "sabir"
}

// traffic is one line of the demo's activity.
type traffic struct {
	Type string `json:"type"` // "traffic", or "summary" at the end
	shop.Stats
	shop.Reading
}

// The intervals at which the traffic is reported: on a terminal, and to a file.
const (
	everyGlance = 500 * time.Millisecond
	everyEntry  = 5 * time.Second
)

// showTraffic reports the traffic until the context ends.
func (c *cli) showTraffic(ctx context.Context, line *liveLine, app *shop.Shop, meter *shop.Meter, quiet bool) {
	if quiet {
		<-ctx.Done()
		return
	}
	every := everyEntry
	if line.live && !c.json {
		every = everyGlance
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	defer line.end()
	for {
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
			t := traffic{"traffic", app.Stats(), meter.Recent()}
			if c.json {
				writeJSON(c.stdout, t)
				continue
			}
			line.show(t.String())
		}
	}
}

func (t traffic) String() string {
	return fmt.Sprintf("%s calls/s · %s orders, %s rejected · %s errors · p99 %s · %s mails",
		digits(t.CallsPerSec), grouped(t.Orders), grouped(t.Rejected), grouped(t.Errors), micros(t.P99Micros), grouped(t.Mails))
}

func (c *cli) showSummary(stats shop.Stats, total shop.Reading) {
	t := traffic{"summary", stats, total}
	if c.json {
		writeJSON(c.stdout, t)
		return
	}
	fmt.Fprintf(c.stdout, "The demo has closed after %.1f s: %s calls, %s errors, p99 %s; %s orders, %s rejected; %s mails.\n",
		t.Seconds, grouped(t.Calls), grouped(t.Reading.Errors), micros(t.P99Micros), grouped(t.Orders), grouped(t.Rejected), grouped(t.Mails))
}
