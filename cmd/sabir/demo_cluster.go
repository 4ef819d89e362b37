package main

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/examples/shop"
)

// maxDemoNodes bounds the nodes of a demo.
const maxDemoNodes = 20

// demoJoin is the address at which the nodes of a demo meet.
const demoJoin = "tcp://127.0.0.1:7700"

// clusterNodes are the nodes of the demo's cluster.
type clusterNodes interface {
	start(ctx context.Context, ids []string) ([]member, error)
	stop(ctx context.Context) error
}

// demoCluster runs the shop on several nodes. This process is an observer node among them: it places the customers' orders,
// serves HTTP and shows the activity.
func (c *cli) demoCluster(ctx context.Context, flags demoFlags) error {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	if flags.length > 0 {
		var end context.CancelFunc
		ctx, end = context.WithTimeout(ctx, flags.length)
		defer end()
	}
	address, ids, err := c.meetingPlace(ctx, flags.nodes)
	if err != nil {
		return err
	}
	line := newLiveLine(c.stdout)
	d := &clusterDemo{cli: c, flags: flags, address: address, line: line, log: line.above(c.stderr), out: line.above(c.stdout)}
	var nodes clusterNodes = &sameProcess{cli: c, address: address, log: d.log}
	if flags.processes {
		nodes = &processes{cli: c, flags: flags, address: address, log: d.log, notify: func(news childNews) {
			d.tellNews(news)
			if news.Left == 0 && !news.Restart {
				cancel(errAllEnded)
			}
		}}
	}
	members, err := nodes.start(ctx, ids)
	if err == nil {
		err = d.run(ctx, members)
	}
	stopCtx, stopped := context.WithTimeout(context.WithoutCancel(ctx), 2*killLimit)
	defer stopped()
	if failed := nodes.stop(stopCtx); err == nil && failed != nil {
		err = fmt.Errorf("the demo did not end cleanly: %w", failed)
	}
	switch {
	case errors.Is(context.Cause(ctx), errAllEnded):
		return failf("%w", errAllEnded)
	case err != nil:
		return failf("the demo cannot go on: %w", err)
	}
	d.showSummary()
	return nil
}

var errAllEnded = errors.New("all processes of the demo have ended")

// meetingPlace chooses the address where the nodes meet, and their names. At a given address there may be others.
func (c *cli) meetingPlace(ctx context.Context, nodes int) (address string, ids []string, err error) {
	name := "demo"
	switch {
	case c.join != "":
		if _, err := parseAddress(c.joinAddress()); err != nil {
			return "", nil, err
		}
		address, name = c.joinAddress(), fmt.Sprintf("demo-%d", os.Getpid())
	default:
		if address, err = freeAddress(ctx); err != nil {
			return "", nil, failf("the demo finds no free port: %w", err)
		}
	}
	for i := range nodes {
		ids = append(ids, fmt.Sprintf("%s-%d", name, i+1))
	}
	return address, ids, nil
}

// freeAddress is demoJoin, or one with a free port where that is taken.
func freeAddress(ctx context.Context) (string, error) {
	var config net.ListenConfig
	for _, try := range []string{strings.TrimPrefix(demoJoin, "tcp://"), "127.0.0.1:0"} {
		l, err := config.Listen(ctx, "tcp", try)
		if err != nil {
			continue
		}
		return "tcp://" + l.Addr().String(), l.Close()
	}
	return "", errors.New("neither 7700 nor any other can be listened on")
}

// sameProcess is the nodes of the demo as nodes of this process.
type sameProcess struct {
	cli     *cli
	address string
	log     io.Writer
	shops   []*shop.Shop
}

func (s *sameProcess) start(ctx context.Context, ids []string) ([]member, error) {
	listening := make(chan struct{})
	failed := make(chan error, len(ids))
	var starting sync.WaitGroup
	for i, id := range ids {
		app, err := s.cli.newMember(id, i, len(ids), s.address, demoLog(s.log), func() {
			if i == 0 {
				close(listening)
			}
		})
		if err != nil {
			return nil, err
		}
		s.shops = append(s.shops, app)
	}
	ctx, giveUp := context.WithCancel(ctx) // they wait for each other's services
	defer giveUp()
	for i, app := range s.shops {
		starting.Go(func() {
			if err := app.Start(ctx); err != nil {
				failed <- err
				giveUp()
			}
		})
		if i == 0 {
			select {
			case <-listening:
			case <-ctx.Done():
			}
		}
	}
	starting.Wait()
	select {
	case err := <-failed:
		return nil, err
	default:
	}
	var members []member
	for _, app := range s.shops {
		members = append(members, memberOf(app))
	}
	return members, nil
}

// stop stops the nodes one after the other. The first, which is the address where the others meet, is the last: they would
// warn that it cannot be reached.
func (s *sameProcess) stop(ctx context.Context) error {
	var errs []error
	for _, app := range slices.Backward(s.shops) {
		if app.State() == "running" {
			errs = append(errs, app.Stop(ctx))
		}
	}
	return errors.Join(errs...)
}

// clusterDemo is the observer's side of the demo's cluster.
type clusterDemo struct {
	cli     *cli
	flags   demoFlags
	address string
	line    *liveLine
	log     io.Writer
	out     io.Writer
	began   time.Time

	placed, rejected, lost atomic.Int64 // orders
}

// run runs the demo until the context ends.
func (d *clusterDemo) run(ctx context.Context, members []member) error {
	d.began = time.Now()
	front, err := d.openFront(ctx)
	if err != nil {
		return err
	}
	defer front.Close()
	d.greet(front, members)
	var customers sync.WaitGroup
	if d.flags.rate > 0 {
		customers.Go(func() { shop.Traffic(ctx, front.node, d.flags.rate, d.count) })
	}
	d.showTraffic(ctx, front)
	customers.Wait()
	return nil
}

// openFront makes the observer node that serves HTTP.
func (d *clusterDemo) openFront(ctx context.Context) (*clusterClient, error) {
	join, err := d.cli.joining()
	if err != nil {
		return nil, err
	}
	join.ClientOnly = true
	front := &clusterClient{address: withoutPassword(d.address)}
	id := "front-" + strings.ToLower(rand.Text()[:8])
	return front, d.cli.atAddr(d.flags, func(addr string) error {
		front.node = sabir.NewNode(sabir.NodeID(id), sabir.Logger(slog.New(demoLog(d.log))), d.cli.demoHTTP(addr),
			sabir.Join(d.address, join))
		return front.node.Start(ctx)
	})
}

// count counts an order by its result.
func (d *clusterDemo) count(err error) {
	switch e := sabir.AsError(err); {
	case err == nil:
		d.placed.Add(1)
	case e.Code == sabir.CodeUnavailable || e.Code == sabir.CodeDeadlineExceeded:
		d.lost.Add(1)
	default:
		d.rejected.Add(1)
	}
}

// greet prints where the demo is and what to try.
func (d *clusterDemo) greet(front *clusterClient, members []member) {
	c := d.cli
	httpURL := "http://" + front.node.HTTPAddr()
	if c.json {
		writeJSON(d.out, map[string]any{"type": "ready", "url": httpURL, "join": front.address, "nodes": members})
		return
	}
	s := styleOf(c.stdout)
	fmt.Fprintf(d.out, "%s: %s at %s, HTTP at %s\n\n", s.bold("The Sabir demo is open"), count(len(members), "node"), s.green(front.address), s.green(httpURL))
	var rows [][]string
	for _, m := range members {
		rows = append(rows, []string{"  " + m.ID, fmt.Sprintf("process %d", m.PID), m.Addr, strings.Join(m.Services, ", ")})
	}
	writeRows(d.out, rows)
	me, to := commandLine(), " --join "+front.address
	if c.cluster != "" {
		to += " --cluster " + c.cluster
	}
	fmt.Fprintf(d.out, "\nTry, in another terminal:\n")
	if c.clusterKeys() != nil {
		fmt.Fprintln(d.out, "  (with the key in SABIR_KEY there too)")
	}
	fmt.Fprintf(d.out, "  who is there     %s nodes%s\n", me, to)
	fmt.Fprintf(d.out, "  what goes on     %s top%s\n", me, to)
	fmt.Fprintf(d.out, "  in a browser     %s/dashboard, %s/docs\n", httpURL, httpURL)
	fmt.Fprintf(d.out, "  a call           %s call users.get id=u-1%s\n", me, to)
	fmt.Fprintf(d.out, "  a load           %s bench users.get id=u-1 --retry -d 30s%s\n", me, to)
	if last := members[len(members)-1]; d.flags.processes && len(members) > 1 {
		fmt.Fprintf(d.out, "  a crash under it kill -9 %d     # %s\n", last.PID, last.ID)
	}
	fmt.Fprintln(d.out)
	if d.flags.length == 0 {
		fmt.Fprintln(d.out, "Ctrl-C ends it.")
	}
}

// childEvent is childNews for programs.
type childEvent struct {
	Type    string `json:"type"` // "ended" or "started"
	Node    string `json:"node"`
	PID     int    `json:"pid"`
	Why     string `json:"why,omitempty"`
	Restart bool   `json:"restart"`
	Left    int    `json:"left"`
}

// tellNews reports a process that ended or was started again.
func (d *clusterDemo) tellNews(news childNews) {
	if d.cli.json {
		what := "started"
		if news.Ended {
			what = "ended"
		}
		writeJSON(d.out, childEvent{what, news.ID, news.PID, news.Why, news.Restart, news.Left})
		return
	}
	text := fmt.Sprintf("%s is there again (process %d)", news.ID, news.PID)
	if news.Ended {
		text = fmt.Sprintf("%s (process %d) has ended: %s; %s left", news.ID, news.PID, news.Why, count(news.Left, "node"))
	}
	switch {
	case news.Ended && news.Restart:
		text += "; starting it again"
	case news.Instead != "":
		text += "; it was the one at " + withoutPassword(d.address) + ", so join at " + news.Instead
	}
	fmt.Fprintln(d.out, text)
}

// clusterTraffic is one line of the activity in the demo's cluster.
type clusterTraffic struct {
	Type         string  `json:"type"` // "traffic", or "summary" at the end
	Seconds      float64 `json:"seconds"`
	Nodes        int     `json:"nodes,omitempty"`
	PerSecond    float64 `json:"calls_per_second"`
	ErrorsPerSec float64 `json:"errors_per_second"`
	Orders       int64   `json:"orders"`
	Rejected     int64   `json:"rejected"`
	Lost         int64   `json:"lost"` // orders that no node answered
}

func (d *clusterDemo) traffic(kind string) clusterTraffic {
	return clusterTraffic{Type: kind, Seconds: time.Since(d.began).Seconds(), Orders: d.placed.Load(), Rejected: d.rejected.Load(), Lost: d.lost.Load()}
}

// showTraffic reports the traffic until the context ends.
func (d *clusterDemo) showTraffic(ctx context.Context, front *clusterClient) {
	if d.flags.quiet {
		<-ctx.Done()
		return
	}
	every := everyEntry
	if d.line.live && !d.cli.json {
		every = time.Second
	}
	tick := time.NewTicker(every)
	defer tick.Stop()
	defer d.line.end()
	o := &observer{cli: d.cli, to: front}
	for {
		figures, err := o.look(ctx)
		if ctx.Err() != nil {
			return
		}
		if err == nil && figures.Seconds > 0 {
			d.showFigures(figures)
		}
		select {
		case <-ctx.Done():
			return
		case <-tick.C:
		}
	}
}

func (d *clusterDemo) showFigures(f clusterFigures) {
	t, total := d.traffic("traffic"), f.total()
	t.Nodes, t.PerSecond, t.ErrorsPerSec = len(f.Nodes), total.PerSecond, total.ErrorsPerSec
	if d.cli.json {
		writeJSON(d.out, t)
		return
	}
	d.line.show(fmt.Sprintf("%s · %s calls/s · %s errors/s · %s orders, %s rejected, %s lost", count(t.Nodes, "node"), digits(t.PerSecond), digits(t.ErrorsPerSec),
		grouped(t.Orders), grouped(t.Rejected), grouped(t.Lost)))
}

func (d *clusterDemo) showSummary() {
	t := d.traffic("summary")
	if d.cli.json {
		writeJSON(d.cli.stdout, t)
		return
	}
	fmt.Fprintf(d.cli.stdout, "The demo has closed after %.1f s: %s orders, %s rejected, %s lost.\n", t.Seconds, grouped(t.Orders), grouped(t.Rejected), grouped(t.Lost))
}
