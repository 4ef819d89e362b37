package hsf

import (
	"context"
	"encoding/json"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// The programs that make calls.
var (
	goCalls   = bench.Go("hsf")
	javaDubbo = bench.Java("dubbo", "Dubbo.java")
	nodeCalls = bench.Node("hsf", "rpc.js")
)

// caller is a contender of the tables of calls.
type caller struct {
	name        string
	row         string // its name in its program
	program     *bench.Program
	module      string
	settings    string
	ours, limit bool
	connections int
	noPanic     bool              // its panics are its errors, or the end of its process
	without     map[string]string // why it has not a codec
}

// The load of the report.
const (
	inFlight    = 50
	connections = 5
)

const (
	noJSONInBolt  = "Bolt for Node knows Hessian and Protocol Buffers only"
	noJSONInDubbo = "it writes Dubbo's protocol with Hessian only"
)

// javaWarm is the warm-up of calls of Java besides the usual one: two virtual machines compile at the same time, and reach a
// tenth of their rate in the first second.
const javaWarm = 5 * time.Second

// peersFrom is the index of the first peer among the callers.
const peersFrom = 4

var callers = []caller{
	{name: "Sabir", row: "sabir", program: goCalls, ours: true, connections: connections, settings: "tcp, sabir.Codecs, 5 connections (1 is its default)"},
	{name: "Sabir, 1 connection", row: "sabir", program: goCalls, ours: true, connections: 1, settings: "tcp, sabir.Codecs"},
	{name: "raw batched echo", row: "raw", program: goCalls, limit: true, connections: connections, settings: "lengths and numbers only, no codec; what waits is written in one go"},
	{name: "raw batched echo, 1 connection", row: "raw", program: goCalls, limit: true, connections: 1, settings: "the same"},
	{name: "Apache Dubbo, Java", row: "dubbo", program: javaDubbo, module: "dubbo", connections: connections, settings: "Dubbo's protocol, 5 connections, 50 threads"},
	{name: "dubbo-go", row: "dubbo-go", program: goCalls, module: "dubbo.apache.org/dubbo-go/v3", connections: connections, noPanic: true,
		settings: "Dubbo's protocol, 5 connections (16 is its default)", without: map[string]string{"json": "its Dubbo protocol knows Hessian and Protocol Buffers only; its JSON is for Triple"}},
	{name: "sofa-rpc-node", row: "bolt", program: nodeCalls, module: "sofa-rpc-node", connections: connections, noPanic: true,
		settings: "Bolt, 5 clients with a connection each", without: map[string]string{"json": noJSONInBolt}},
	{name: "dubbo-remoting", row: "dubbo", program: nodeCalls, module: "dubbo-remoting", connections: connections, noPanic: true,
		settings: "Dubbo's protocol on sofa-rpc-node, 5 clients with a connection each", without: map[string]string{"json": noJSONInDubbo}},
}

// open starts the server, counts the bytes of some calls, and starts the client that is measured.
func (c caller) open(codec, work string) func(context.Context, *bench.Env) (bench.Runner, error) {
	return func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
		address, err := brokers.FreeAddress("tcp")
		if err != nil {
			return nil, err
		}
		extra, err := json.Marshal(map[string]string{"codec": codec})
		if err != nil {
			return nil, err
		}
		order := child.Order{Role: "server", Row: c.row, Work: work, Address: address, Size: c.connections, Callers: inFlight, Extra: extra}
		server, err := bench.StartChild(ctx, c.program, order, bench.Unpinned)
		if err != nil {
			return nil, err
		}
		order.Role = "client"
		counted, err := countBytes(ctx, c.program, order)
		if err != nil {
			server.Stop()
			return nil, err
		}
		client, err := bench.StartChild(ctx, c.program, order, bench.Unpinned)
		if err != nil {
			server.Stop()
			return nil, err
		}
		r := &calling{server, client, counted}
		if c.program == javaDubbo {
			if _, err := client.Measure(ctx, javaWarm); err != nil {
				r.Close()
				return nil, err
			}
		}
		return r, nil
	}
}

// calling is an open row.
type calling struct {
	server, client *bench.Process
	counted        traffic
}

func (c *calling) Measure(ctx context.Context, d time.Duration) (child.Sample, error) {
	s, err := c.client.Measure(ctx, d)
	if err != nil {
		return s, err
	}
	s.Figures = distribution(s.Latencies)
	s.Figures["sent"], s.Figures["received"] = c.counted.sent, c.counted.received
	return s, nil
}

func (c *calling) Processes() []*bench.Process { return []*bench.Process{c.server, c.client} }

func (c *calling) Close() {
	c.client.Stop()
	c.server.Stop()
}
