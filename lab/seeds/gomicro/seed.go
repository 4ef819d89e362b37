// Package gomicro repeats go-micro's benchmarks in the lab.
package gomicro

import (
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

// Seed has all its tables.
func Seed() bench.Seed {
	return bench.Seed{Name: "go-micro", Title: "go-micro",
		About: "A comparison of go-micro 1.8.3's transports (Go 1.12, macOS, 2.2 GHz Core i7, 2019): a message of 677 bytes there and back, " +
			"100 callers. What it calls P99 is the 99.9th percentile, and its raw lines have p90 and p99 in each other's place; its GRPC rows " +
			"are go-micro's gRPC client and server, which ignore the transport that they are given.",
		Tables: append(transports(), frameworks(), openLoop(), overTLS(), large(), mixedSizes(), streams()),
	}
}

// duration is the length of one measurement of a row. It is short, since there are many rows.
const duration = 500 * time.Millisecond

const aboutCall = "One operation is a call with the fields of the rpcx benchmark's `BenchmarkMessage`, every string with 66 bytes: 677 bytes as " +
	"protobuf. The server changes two fields; its reply has 611 bytes. Each request carries its caller's and its call's number; every reply is checked for them, and one in a thousand, " +
	"and all while warming up, in every field. "

const aboutMessage = aboutCall + "Callers form a closed loop: each makes its next call when it has the reply to its last. Memory has what the lab's programs themselves take, with all the libraries that they are linked " +
	"with (that of go-micro has fewer) and the latencies that are kept: the limits' rows show how much that is. "

// figures returns the columns of tables of calls. The report's are TPS, mean, median, max, min, P90 and P99, in its order but
// for the first. p99.9 stands beside them, since the report's P99 is that figure.
func figures() []bench.Column {
	return append([]bench.Column{{Key: "rate", Title: "TPS", Unit: bench.PerSecond}}, append([]bench.Column{
		{Key: "mean", Title: "mean", Unit: bench.Duration, Less: true},
		{Key: "p50", Title: "median", Unit: bench.Duration, Less: true},
		{Key: "max", Title: "max", Unit: bench.Duration, Less: true},
		{Key: "min", Title: "min", Unit: bench.Duration, Less: true},
		{Key: "p90", Title: "p90", Unit: bench.Duration, Less: true},
		{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
		{Key: "p999", Title: "p99.9", Unit: bench.Duration, Less: true},
	}, used()...)...)
}

// used are the columns of what the row's processes have used.
func used() []bench.Column {
	return []bench.Column{
		{Key: "cpu", Title: "CPU per call", Unit: bench.Duration, Less: true},
		{Key: "cpu:server", Title: "of these the server", Unit: bench.Duration, Less: true},
		{Key: "cpu:client", Title: "the client", Unit: bench.Duration, Less: true},
		{Key: "memory", Title: "memory", Unit: bench.Bytes, Less: true},
	}
}
