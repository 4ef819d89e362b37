package hsf

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
)

var (
	loader = bench.Go("http/load")
	wrk    = bench.Tool("wrk", "apt-get install wrk")
)

// The cores of the two sides.
const (
	serverCore = bench.Pin(0)
	loadCore   = bench.Pin(1)
)

// site is a server of hello world.
type site struct {
	name, settings string
	program        *bench.Program
	ours, limit    bool
	server         ask.Server
}

var sites = []site{
	{name: "Sabir", program: bench.Go("http/servers/sabir"), ours: true, settings: "router, request ids, deadlines, limits"},
	{name: "Go epoll", program: bench.Go("http/servers/epoll"), limit: true, settings: "one thread, hand-written, knows two addresses"},
	{name: "Node's http", program: bench.Node("http", "http-node.js"), settings: "no router", server: ask.Server{Lax: true}},
	{name: "net/http", program: bench.Go("http/servers/nethttp"), settings: "its router"},
}

func httpHello() bench.Table {
	return bench.Table{Name: "http-hello", Title: "HTTP hello world",
		About: `One operation is a GET that is answered with {"hello":"world"} as JSON; the report's server answered 11 bytes of text. The report asked with siege and connections that are kept, ` +
			"which wrk does here with one thread. The server is pinned to core 0, the load to core 1. Every server answers rightly before it is measured and after each measurement; an error status or a " +
			"broken connection under load takes the row out. wrk knows whole seconds only; the report's server was measured for 100. Transferred is what came in a second, heads included; the report counts bodies.",
		Columns: []bench.Column{
			{Key: "rate", Title: "transactions/s", Unit: bench.PerSecond},
			{Key: "mean", Title: "response time", Unit: bench.Duration, Less: true},
			{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
			{Key: "max", Title: "longest", Unit: bench.Duration, Less: true},
			{Key: "output", Title: "transferred/s", Unit: bench.Bytes},
			{Key: "cpu:server", Title: "server CPU per request", Unit: bench.Duration, Less: true},
			{Key: "cores:server", Title: "server CPU", Unit: bench.Percent, Less: true},
			{Key: "memory:server", Title: "server memory", Unit: bench.Bytes, Less: true},
		},
		Duration: time.Second, Quick: time.Second,
		Rows: slices.Concat(
			siteRows(50, "9 919/s, 10 ms mean, 220 ms longest, 0.10 MB/s of bodies; server CPU 100%"),
			siteRows(100, "10 857/s, 10 ms mean, 220 ms longest, 0.11 MB/s of bodies; server CPU 100%"))}
}

func siteRows(connections int, published string) []bench.Row {
	var rows []bench.Row
	for _, s := range sites {
		r := bench.Row{Name: s.name, Group: fmt.Sprintf("%d connections", connections), Ours: s.ours, Limit: s.limit, Settings: s.settings,
			Needs: []*bench.Program{s.program, loader, wrk}, Open: s.open(connections)}
		if s.program.Language == "Node" {
			r.Published = published
		}
		rows = append(rows, r)
	}
	return rows
}

// open starts the server, and what asks it.
func (s site) open(connections int) func(context.Context, *bench.Env) (bench.Runner, error) {
	return func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
		address, err := brokers.FreeAddress("tcp")
		if err != nil {
			return nil, err
		}
		line, dir, env := wrk.Command()
		extra, err := json.Marshal(ask.Job{Server: s.server, Kind: ask.Wrk, Tool: line, Dir: dir, Env: env})
		if err != nil {
			return nil, err
		}
		order := child.Order{Role: "load", Row: s.name, Work: ask.Hello, Address: address, Callers: connections, Size: 1, Extra: extra}
		return bench.Children(ctx,
			func(ctx context.Context) (*bench.Process, error) {
				return bench.StartProgram(ctx, s.program, "server", serverCore, address)
			},
			bench.Child(loader, order, loadCore))
	}
}
