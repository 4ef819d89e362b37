package hsf

import (
	"slices"
	"time"

	"github.com/sabir-go/sabir/lab/bench"
)

// method is the text on the method that all tables of calls share.
const method = " 50 callers over 5 connections, each of which makes its next call when its last is answered: the report's client kept 50 calls " +
	"under way. The codec is the group's. Bytes are counted by something between client and server before the measurement, for " +
	"each call, without TCP's own; Sabir's links have heartbeats, too, which are counted. Server and client share one machine, and are not pinned to cores. Peers " +
	"have other features: Dubbo and Sabir have deadlines, metadata and errors with a code; the limit has a length and a number."

var callColumns = []bench.Column{
	{Key: "rate", Title: "requests/s", Unit: bench.PerSecond},
	{Key: "mean", Title: "time per request", Unit: bench.Duration, Less: true},
	{Key: "max", Title: "max", Unit: bench.Duration, Less: true},
	{Key: "sent", Title: "sent per request", Unit: bench.Bytes, Less: true},
	{Key: "received", Title: "received per request", Unit: bench.Bytes, Less: true},
	{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
	{Key: "cpu:server", Title: "server CPU per request", Unit: bench.Duration, Less: true},
	{Key: "memory:server", Title: "server memory", Unit: bench.Bytes, Less: true},
}

// The durations of a measurement of calls.
const (
	callsWhole = time.Second
	callsQuick = 300 * time.Millisecond
)

func pingTable() bench.Table {
	return bench.Table{Name: "hsf-ping", Title: "ping", About: "One operation is a call without arguments that is answered with the text \"echo\"." + method,
		Columns: callColumns, Duration: callsWhole, Quick: callsQuick,
		Rows: slices.Concat(
			callRows("JSON", "json", "ping", "16 200/s of two clients with 50 calls each, 6.16 ms mean, 29 to 40 ms max, 27 bytes sent and 33 received; server CPU 100%"),
			callRows("Hessian", "hessian", "ping", "7 145/s of one client, 6.99 ms mean, 52 ms max; 7 800/s of two clients, 12.79 ms mean, 60 to 222 ms max, "+
				"342 bytes sent and 503 received"))}
}

func parseTable() bench.Table {
	return bench.Table{Name: "parse", Title: "A complex object", About: "One operation is a call with the arguments 's', 1 and 2 that is answered with an object of " +
		"5 fields, lists and objects within: 212 bytes as JSON, 156 in Hessian. The server makes it anew for each call. The client looks at the shape of each reply, and at " +
		"all of it in one of a thousand. Sabir has a Go type for the object; the others have maps." + method,
		Columns: callColumns, Duration: callsWhole, Quick: callsQuick,
		Rows: slices.Concat(
			callRows("JSON", "json", "parse", "13 500/s of two clients with 50 calls each, 7.39 ms mean, 226 to 231 ms max, 28 bytes sent and 239 received; server CPU 100%"),
			callRows("Hessian", "hessian", "parse", "7 800/s of two clients with 50 calls each, 12.79 ms mean, 60 to 222 ms max, 342 bytes sent and 503 received; server CPU 100%"))}
}

func domainTable() bench.Table {
	return bench.Table{Name: "domain", Title: "Errors outside of the handler", About: "One operation is a call without arguments. Without an error it is answered with \"ok\". The error is " +
		"made where the handler does not see it, and must reach its caller as that error, and nobody else: in Sabir by a goroutine that the handler has started with sabir.Go, " +
		"in Dubbo by a future that a pool of threads completes, in dubbo-go by a goroutine that hands it to the handler, in Node after process.nextTick. The panic is the same with a " +
		"panic, or a null pointer's exception; its text does not leave Sabir's server." + method,
		Columns: callColumns, Duration: callsWhole, Quick: callsQuick,
		Rows: slices.Concat(
			callRows("no error", "hessian", "noError", "13 000/s of two clients with 50 calls each, 7.68 ms mean, 40 ms max, 30 bytes sent and 31 received (JSON)"),
			callRows("error", "hessian", "asyncError", "5 295/s of one client, 9.44 ms mean, 314 ms max, 33 bytes sent and 73 received (JSON)"),
			callRows("panic", "hessian", "panic", ""))}
}

// callRows returns the rows of a group. published is the figure of node-hsf in its own report.
func callRows(group, codec, work, published string) []bench.Row {
	rows := make([]bench.Row, 0, len(callers)+1)
	for _, c := range callers {
		if work == "panic" && c.noPanic {
			continue
		}
		r := bench.Row{Name: c.name, Group: group, Ours: c.ours, Limit: c.limit, Settings: c.settings, Module: c.module}
		if r.Missing = c.without[codec]; r.Missing == "" {
			r.Needs, r.Open = []*bench.Program{c.program}, c.open(codec, work)
		}
		if c.program == javaDubbo && codec == "json" {
			r.Settings += "; fastjson2, which Dubbo has write JSONB, its binary form of JSON"
		}
		rows = append(rows, r)
	}
	if published != "" {
		rows = slices.Insert(rows, peersFrom, bench.Row{Name: "node-hsf", Group: group, Published: published,
			Missing: "it is Alibaba's own and was never published: npm has no node-hsf, and its hsf is another package with that name"})
	}
	return rows
}
