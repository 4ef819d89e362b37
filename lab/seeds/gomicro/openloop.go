package gomicro

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

// openLoop is calls that come when they come, as those of many users do, not when the last has its answer.
func openLoop() bench.Table {
	return bench.Table{
		Name: "open-loop", Title: "Open loop: calls at random moments", Duration: time.Second,
		About: aboutCall + "Calls come at the moments of a Poisson process, the same for each row of a group, whether or not those before have " +
			"been answered; 256 callers make them. A latency goes from the moment for which a call was meant to its answer, so waiting for a free caller counts. How " +
			"many come is a share of a capacity that is measured when the table begins, by 100 callers in a closed loop: the best of some peers, or Sabir's. " +
			"A row that cannot do what is asked of it falls behind, and its latencies are those of its queue. *Behind* is how late the client itself " +
			"was for 99 % of the calls, part of each latency: a goroutine that sleeps is not woken to the microsecond. Rows are ranked by p99.",
		Columns: []bench.Column{
			{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
			{Key: "p50", Title: "median", Unit: bench.Duration, Less: true},
			{Key: "p90", Title: "p90", Unit: bench.Duration, Less: true},
			{Key: "p999", Title: "p99.9", Unit: bench.Duration, Less: true},
			{Key: "max", Title: "max", Unit: bench.Duration, Less: true},
			{Key: "behind", Title: "behind", Unit: bench.Duration, Less: true},
			{Key: "offered", Title: "offered/s", Unit: bench.PerSecond},
			{Key: "rate", Title: "answered/s", Unit: bench.PerSecond},
			{Key: "cpu:server", Title: "CPU per call, server", Unit: bench.Duration, Less: true},
			{Key: "cpu:client", Title: "CPU per call, client", Unit: bench.Duration, Less: true},
		},
		Rows: rows(openLoopGroups()...),
	}
}

func openLoopGroups() []group {
	entries := []entry{
		{name: "Sabir", contender: "sabir tcp"},
		{name: "Sabir, inline", contender: "sabir tcp, inline"},
		{name: "Sabir, protobuf", contender: "sabir tcp, protobuf"},
		{name: "grpc-go, unary", contender: "grpc-go"},
		{name: "grpc-go, bidi stream", contender: "grpc-go bidi, 4 conns"},
		{name: "kitex, mux", contender: "kitex, mux"},
		{name: "rpcx", contender: "rpcx"},
		{name: "arpc", contender: "arpc"},
		{name: "arpc, 10 connections", contender: "arpc, 10 conns"},
		{name: "fasthttp", contender: "fasthttp"},
		{name: "raw TCP echo", contender: "raw TCP echo"},
		{name: "bare Go mux", contender: "bare Go mux"},
	}
	peers := []string{"grpc-go bidi, 4 conns", "kitex, mux", "arpc, 10 conns", "fasthttp"}
	var all []group
	for _, load := range []float64{.2, .5, .8} {
		all = append(all, groupOf(order{group: fmt.Sprintf("%.0f %% of the best peer's capacity", load*100), work: calling, callers: 256, load: load, capacityOf: peers}, entries...))
	}
	for _, load := range []float64{.2, .5, .8} {
		all = append(all, groupOf(order{group: fmt.Sprintf("%.0f %% of Sabir's capacity", load*100), work: calling, callers: 256, load: load, capacityOf: []string{"sabir tcp"}}, entries...))
	}
	return all
}

// How capacities are measured: by so many callers in a closed loop, for so long after so long.
const (
	capacityCallers = 100
	capacityWarm    = 1500 * time.Millisecond
	capacityTime    = time.Second
)

// rate is how many calls a second come in an open loop, 0 in a closed one.
func (o order) rate(ctx context.Context, e *bench.Env) (float64, error) {
	if o.load == 0 {
		return 0, nil
	}
	most := 0.0
	for _, c := range Contenders() {
		if !slices.Contains(o.capacityOf, c.Name) {
			continue
		}
		capacity, err := e.Known("capacity of "+c.Name, func() (float64, error) { return c.capacity(ctx, e) })
		if err != nil {
			return 0, err
		}
		most = max(most, capacity)
	}
	return o.load * most, nil
}

func (c Contender) capacity(ctx context.Context, e *bench.Env) (float64, error) {
	r, err := c.open(ctx, e, order{group: "capacity", work: calling, callers: capacityCallers})
	if err != nil {
		return 0, err
	}
	defer r.Close()
	if _, err := r.Measure(ctx, capacityWarm); err != nil {
		return 0, err
	}
	s, err := r.Measure(ctx, capacityTime)
	if err != nil {
		return 0, err
	}
	if s.Wrong > 0 {
		return 0, fmt.Errorf("%d wrong answers: %s", s.Wrong, s.Problem)
	}
	return float64(s.Operations) / s.Elapsed.Seconds(), nil
}
