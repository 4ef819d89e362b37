package hsf

import (
	"context"
	"encoding/json"
	"slices"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// bridgeGo is Sabir's side of calls between it and Java.
var bridgeGo = bench.Go("bridges")

// bridgeCallers are the threads of a consumer, or as many goroutines.
const bridgeCallers = 100

func bridgeTable() bench.Table {
	return bench.Table{Name: "dubbo-bridge", Title: "Calls between Java's Dubbo and Sabir", Duration: callsWhole, Quick: callsQuick,
		About: "One operation is a call over Dubbo's protocol with Hessian, over one connection: ping, which is answered with a text, and parse, which is answered with an object of " +
			"5 fields, lists and objects within. 100 callers call at once, threads in Java, each again when it has its answer. In the groups \"called by Java\" a consumer of Java calls a provider: " +
			"Sabir by its bridge, or Java. In the others, both call a provider of Java.",
		Columns: []bench.Column{
			{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
			{Key: "cpu:server", Title: "server's CPU per call", Unit: bench.Duration, Less: true},
			{Key: "cpu:client", Title: "client's CPU per call", Unit: bench.Duration, Less: true},
			{Key: "p50", Title: "p50", Unit: bench.Duration, Less: true},
			{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
			{Key: "memory:server", Title: "server's memory", Unit: bench.Bytes, Less: true},
			{Key: "memory:client", Title: "client's memory", Unit: bench.Bytes, Less: true},
		},
		Rows: slices.Concat(bridgedRows("ping"), bridgedRows("parse"))}
}

func bridgedRows(work string) []bench.Row {
	return []bench.Row{
		bridged(work+", called by Java", work, "Sabir", bridgeGo, javaDubbo),
		bridged(work+", called by Java", work, "Java", javaDubbo, javaDubbo),
		bridged(work+", calls Java", work, "Sabir", javaDubbo, bridgeGo),
		bridged(work+", calls Java", work, "Java", javaDubbo, javaDubbo),
	}
}

// bridged is a row of two programs. Java has more time to warm up than other rows, whichever side it is.
func bridged(group, work, name string, server, client *bench.Program) bench.Row {
	row := bench.Row{Name: name, Group: group, Ours: name == "Sabir", Needs: []*bench.Program{server, client}}
	if !row.Ours {
		row.Module = "dubbo"
	}
	row.Open = func(ctx context.Context, _ *bench.Env) (bench.Runner, error) {
		address, err := brokers.FreeAddress("tcp")
		if err != nil {
			return nil, err
		}
		extra, err := json.Marshal(map[string]string{"codec": "hessian"})
		if err != nil {
			return nil, err
		}
		o := child.Order{Role: "server", Row: "dubbo", Work: work, Address: address, Size: 1, Callers: bridgeCallers, Extra: extra}
		caller := o
		caller.Role = "client"
		runner, err := bench.Children(ctx, bench.Child(server, o, bench.Unpinned), bench.Child(client, caller, bench.Unpinned))
		if err != nil {
			return nil, err
		}
		if _, err := runner.Measure(ctx, javaWarm); err != nil {
			runner.Close()
			return nil, err
		}
		return runner, nil
	}
	return row
}
