package ergo

import (
	"context"
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// callTable is not in Ergo's benchmarks: what a call costs with the same libraries.
func callTable() bench.Table {
	const protobuf = "google protobuf"
	open := func(work string, count, nodes int) func(contender) openRow {
		return func(c contender) openRow {
			return func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
				return callers(ctx, child.Order{Row: c.program, Work: work, Callers: count}, nodes)
			}
		}
	}
	calls := ergoRow.with("calls from processes")
	remote := []contender{calls.with("EDF; 3 TCP connections"), hollywood.with(protobuf), protoactor.with(protobuf + ", gRPC"), goakt.with(protobuf), sabir.with("its native codec")}
	return bench.Table{
		Name: "process-calls", Title: "Calls of a process",
		About: "One operation is a request to a process and its reply, both an integer and a sequence number; every reply is checked. Callers " +
			"form a closed loop. On one node the clock is read once in 64 calls, and the percentiles are those of the means; between nodes it is read for " +
			"each call. Ergo makes its calls from a process, the others from goroutines outside. This is not in Ergo's report, whose " +
			"benchmarks only send.\n\n" +
			"The batched echo is one connection with the requests of all callers in one write and their replies in one, nobody waiting for a single " +
			"one: its percentiles are those of a whole batch.",
		Why: map[string]string{"1 caller, two nodes": "goakt takes a connection of a pool for each call, and the goroutine that asks writes and reads on it itself. Where calls " +
			"share a connection one goroutine reads for all and wakes the caller, on a virtual processor that has gone to sleep meanwhile. With 100 callers the shared " +
			"connection is the faster way."},
		Columns: []bench.Column{
			{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
			{Key: "mean", Title: "mean", Unit: bench.Duration, Less: true},
			{Key: "p50", Title: "p50", Unit: bench.Duration, Less: true},
			{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
			{Key: "cpu", Title: "CPU per call", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "peak memory", Unit: bench.Bytes, Less: true},
		},
		Rows: slices.Concat(
			rowsOf("1 caller, one node", open("local-call", 1, 1), calls, hollywood, protoactor, goakt, sabir, channels),
			rowsOf("1 caller, two nodes", open("remote-call", 1, 2), append(slices.Clone(remote),
				contender{name: "raw Go TCP echo", program: "TCP", limit: true, settings: "64-byte messages"})...),
			rowsOf("100 callers, two nodes", open("remote-call", 100, 2), append(slices.Clone(remote),
				contender{name: "raw Go TCP, batched echo", program: "TCP", limit: true, settings: "100 messages of 64 bytes at a time"})...),
		),
		Duration: time.Second, Quick: 200 * time.Millisecond,
	}
}
