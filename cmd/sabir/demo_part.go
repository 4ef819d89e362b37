package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"os/signal"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/examples/shop"
	"github.com/sabir-go/sabir/rpc"
)

// member is one node of the demo's cluster.
type member struct {
	ID       string   `json:"node"`
	PID      int      `json:"pid"`
	Addr     string   `json:"url"`
	Services []string `json:"services"`
}

// demoBuckets separate short calls better than the usual bounds: 5 steps to a power of ten, from 1 µs to 100 ms.
var demoBuckets = func() (seconds []float64) {
	for unit := 1e-6; unit < 0.05; unit *= 10 {
		for _, step := range []float64{1, 2, 3, 5, 7} {
			seconds = append(seconds, unit*step)
		}
	}
	return append(seconds, 0.1, 0.3, 1, 3, 10, 30)
}()

// newMember makes a node of the demo's cluster: one of so many parts of the shop, which reports what its actions do.
// listening is called once, when it listens for the others, which is before it waits for the services that it needs.
func (c *cli) newMember(id string, part, of int, address string, log slog.Handler, listening func()) (*shop.Shop, error) {
	join, err := c.joining()
	if err != nil {
		return nil, err
	}
	observed, traced, err := demoTelemetry()
	if err != nil {
		return nil, err
	}
	listening = sync.OnceFunc(listening)
	joined := sabir.Middleware{Name: "joined", Lifecycle: func(s sabir.Stage, next func(context.Context) error) func(context.Context) error {
		if !s.Stop && s.Service != "" { // the node has joined before its first service starts
			listening()
		}
		return next
	}}
	return shop.NewPart(part, of, sabir.NodeID(id), sabir.Logger(slog.New(log)), sabir.Join(address, join), observed,
		sabir.Use(traced, joined, rpc.Package(demoPackage))), nil
}

// memberOf describes a node that runs.
func memberOf(app *shop.Shop) member {
	info := app.Info()
	m := member{ID: info.ID, PID: info.PID, Addr: info.Addr}
	for _, s := range app.Services() {
		if s.Node == info.ID && !hidden(s.Name, false) {
			m.Services = append(m.Services, s.Name)
		}
	}
	return m
}

// partNote is a line that a child process of the demo writes to its stdout for its parent.
type partNote struct {
	Type string `json:"type"` // "listening", then "ready"
	member
}

// demoPart is a child process of sabir demo --processes: one node, until its parent closes its stdin or is gone.
func (c *cli) demoPart(ctx context.Context, flags demoFlags) error {
	signal.Ignore(os.Interrupt) // Ctrl-C reaches all processes of a terminal: the parent signals when to stop
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() {
		_, _ = io.Copy(io.Discard, c.stdin)
		cancel()
	}()
	app, err := c.newMember(flags.id, flags.part-1, flags.nodes, c.joinAddress(), demoLog(c.stderr), func() {
		writeJSON(c.stdout, partNote{Type: "listening"})
	})
	if err != nil {
		return err
	}
	if err := app.Start(ctx); err != nil {
		if ctx.Err() != nil {
			return nil
		}
		return fmt.Errorf("the node cannot start: %w", err)
	}
	writeJSON(c.stdout, partNote{"ready", memberOf(app)})
	<-ctx.Done()
	stopCtx, stopped := context.WithTimeout(context.WithoutCancel(ctx), partStopLimit)
	defer stopped()
	return app.Stop(stopCtx)
}

// partStopLimit is the time that a node of the demo waits for its calls when it stops; killLimit is when its parent has waited
// enough.
const (
	partStopLimit = 5 * time.Second
	killLimit     = 8 * time.Second
)
