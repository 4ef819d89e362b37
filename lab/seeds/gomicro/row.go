package gomicro

import (
	"context"
	"fmt"
	"strings"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// order is the work of the rows of a group, with its parameters. The works are those of package work.
type order struct {
	group   string
	work    string
	callers int
	size    int // of a blob, bytes

	// load is the share of capacityOf's capacity that an open loop asks for; 0 is a closed loop.
	load       float64
	capacityOf []string
}

const (
	calling   = "call"
	echoing   = "echo"
	mixing    = "mixed"
	streaming = "stream"
	batching  = "batch"
)

// entry is a row of a group: a contender under its name in the table.
type entry struct {
	name      string
	contender string
	published string
	missing   string
}

var programs = map[string]*bench.Program{calls: bench.Go(calls), gomicro: bench.Go(gomicro)}

// group is a set of contenders that are compared in the same work.
type group struct {
	order
	entries []entry
}

func groupOf(o order, entries ...entry) group { return group{o, entries} }

// rows are the rows of a table.
func rows(groups ...group) []bench.Row {
	known := map[string]Contender{}
	for _, c := range Contenders() {
		known[c.Name] = c
	}
	var all []bench.Row
	for _, g := range groups {
		for _, e := range g.entries {
			r := bench.Row{Name: e.name, Group: g.group, Published: e.published, Missing: e.missing}
			if c, there := known[e.contender]; there {
				c.fill(&r, g.order)
			}
			all = append(all, r)
		}
	}
	return all
}

func (c Contender) fill(r *bench.Row, o order) {
	if strings.HasPrefix(c.Name, "raw batched echo") {
		o.work = batching
	}
	r.Ours, r.Limit, r.Module, r.Settings = c.kind == ours, c.kind == limit, c.Module, c.Settings
	r.Needs = []*bench.Program{programs[c.Program]}
	r.Open = func(ctx context.Context, e *bench.Env) (bench.Runner, error) { return c.open(ctx, e, o) }
}

// open starts the server and then the client, or one process that is both.
func (c Contender) open(ctx context.Context, e *bench.Env, o order) (bench.Runner, error) {
	rate, err := o.rate(ctx, e)
	if err != nil {
		return nil, err
	}
	work := child.Order{Role: "client", Row: c.Name, Work: o.work, Callers: o.callers, Size: o.size, Rate: rate}
	program := programs[c.Program]
	if c.Broker != "" {
		server, broker, err := e.Broker(c.Broker)
		if err != nil {
			return nil, err
		}
		work.Address = server.URL()
		runner, err := both(ctx, program, work)
		if err != nil {
			return nil, err
		}
		return bench.With(runner, broker), nil
	}
	switch c.Network {
	case "":
		work.Role = "alone"
		return bench.Children(ctx, bench.Child(program, work, bench.Unpinned))
	case "unix":
		work.Address, err = e.Socket(socketOf(c.Name, o))
	default:
		work.Address, err = brokers.FreeAddress(c.Network)
	}
	if err != nil {
		return nil, err
	}
	return both(ctx, program, work)
}

func both(ctx context.Context, program *bench.Program, client child.Order) (bench.Runner, error) {
	server := client
	server.Role = "server"
	return bench.Children(ctx, bench.Child(program, server, bench.Unpinned), bench.Child(program, client, bench.Unpinned))
}

// socketOf is a name that no other row of the table has.
func socketOf(name string, o order) string {
	return strings.Map(func(r rune) rune {
		if r == '/' || r == ' ' || r == ',' {
			return '-'
		}
		return r
	}, fmt.Sprintf("%s-%s-%d", name, o.work, o.callers))
}
