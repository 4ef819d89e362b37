package mion

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
	"github.com/sabir-go/sabir/lab/http/ask"
)

// The cores of the two sides.
const (
	serverCore = bench.Pin(0)
	loadCore   = bench.Pin(1)
)

// loader is the program that runs the tools against the servers and checks the answers.
var loader = bench.Go("http/load")

// connections is the number of connections of the load.
const connections = 100

// tool is a program that makes load.
type tool struct {
	kind    string
	program *bench.Program
}

// load is a way to ask for an action.
type load struct {
	action    string
	tool      tool
	pipelined int // requests under way on each connection
}

// underLoad is a server, and the load program that asks it.
type underLoad struct{ server, load *bench.Process }

// open starts a contender's server and, when that gives the right answers, is ready to ask it.
func (l load) open(c contender) func(context.Context, *bench.Env) (bench.Runner, error) {
	return func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
		address, err := brokers.FreeAddress("tcp")
		if err != nil {
			return nil, err
		}
		line, dir, env := l.tool.program.Command()
		extra, err := json.Marshal(ask.Job{Server: c.server, Kind: l.tool.kind, Tool: line, Dir: dir, Env: env})
		if err != nil {
			return nil, err
		}
		server, err := bench.StartProgram(ctx, c.program, "server", serverCore, address)
		if err != nil {
			return nil, err
		}
		// A load without a server ends, too.
		loading, cancel := context.WithCancel(ctx)
		go func() {
			<-server.Ended()
			cancel()
		}()
		r := &underLoad{server: server}
		order := child.Order{Role: "load", Row: c.name, Work: l.action, Address: address, Callers: connections, Size: l.pipelined, Extra: extra}
		if r.load, err = bench.StartChild(loading, loader, order, loadCore); err != nil {
			err = r.explain(ctx, err)
			server.Stop()
			return nil, err
		}
		return r, nil
	}
}

func (r *underLoad) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	s, err := r.load.Measure(ctx, d)
	if err != nil {
		err = r.explain(ctx, err)
	}
	return s, err
}

// explain puts the server's end in the place of what followed from it.
func (r *underLoad) explain(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return err // then it ended because of that
	}
	const moment = 200 * time.Millisecond // for the system to tell that it ended
	select {
	case <-r.server.Ended():
		return r.server.Gone()
	case <-time.After(moment):
		return err
	}
}

// Processes has the load, too, so that what it uses is not taken for that of others.
func (r *underLoad) Processes() []*bench.Process { return []*bench.Process{r.server, r.load} }

func (r *underLoad) Close() {
	r.load.Stop()
	r.server.Stop()
}

// byLoader is a row for which the load program starts the server itself, in every measurement: so its start is measured, and
// what it uses is not taken for that of others.
func (c contender) byLoader(work string, size int, arguments ...string) func(context.Context, *bench.Env) (bench.Runner, error) {
	return func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
		line, dir, env := c.program.Command()
		if bench.Pinned() {
			line = append([]string{"taskset", "-c", strconv.Itoa(int(serverCore))}, line...)
		}
		extra, err := json.Marshal(ask.Job{Server: c.server, Command: line, Arguments: arguments, Dir: dir, Env: env})
		if err != nil {
			return nil, err
		}
		order := child.Order{Role: "load", Row: c.name, Work: work, Callers: size, Extra: extra}
		return bench.Children(ctx, bench.Child(loader, order, bench.Unpinned))
	}
}
