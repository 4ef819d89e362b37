package moleculer

import (
	"context"
	"encoding/json"
	"fmt"
	"time"

	"github.com/sabir-go/sabir/internal/brokers"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// bridgeGo is Sabir's side of calls between it and a Moleculer node.
var bridgeGo = bench.Go("bridges")

func bridgeTables() []bench.Table {
	columns := []bench.Column{
		{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
		{Key: "cpu:server", Title: "server's CPU per call", Unit: bench.Duration, Less: true},
		{Key: "cpu:client", Title: "client's CPU per call", Unit: bench.Duration, Less: true},
		{Key: "p50", Title: "p50", Unit: bench.Duration, Less: true},
		{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
		{Key: "memory:server", Title: "server's memory", Unit: bench.Bytes, Less: true},
		{Key: "memory:client", Title: "client's memory", Unit: bench.Bytes, Less: true},
	}
	return []bench.Table{{Name: "moleculer-bridge", Title: "Calls between Moleculer and Sabir", Columns: columns,
		About: "One operation is a call of `echo.reply` over NATS with `{\"a\":1234}` in JSON, which is answered with the same. 100 callers do so at once, each again when it has its answer. " +
			"In the first group a Moleculer node calls: another Moleculer node, or Sabir by its bridge. In the second, both call a Moleculer node.",
		Why: map[string]string{
			"called by Moleculer": "The Moleculer node that calls is the busier side.",
			"calls Moleculer":     "The Moleculer node that is called is the busier side.",
		},
		Rows: []bench.Row{
			bridged("called by Moleculer", "Sabir", bridgeGo, remoteNode),
			bridged("called by Moleculer", "Moleculer", remoteNode, remoteNode),
			bridged("calls Moleculer", "Sabir", remoteNode, bridgeGo),
			bridged("calls Moleculer", "Moleculer", remoteNode, remoteNode),
		}}}
}

// bridged is a row with a node of each program, at a broker of their own cluster.
func bridged(group, name string, server, client *bench.Program) bench.Row {
	row := bench.Row{Name: name, Group: group, Ours: name == "Sabir", Needs: []*bench.Program{server, client}}
	if !row.Ours {
		row.Module = "moleculer"
	}
	row.Open = func(ctx context.Context, e *bench.Env) (bench.Runner, error) {
		broker, _, err := e.Broker(brokers.NATS)
		if err != nil {
			return nil, err
		}
		extra, err := json.Marshal(remoteSettings{Cluster: fmt.Sprintf("lab-%x", time.Now().UnixNano())})
		if err != nil {
			return nil, err
		}
		o := child.Order{Role: "server", Row: "moleculer", Address: broker.URL(), Callers: manyCallers, Extra: extra}
		caller := o
		caller.Role = "client"
		runner, err := bench.Children(ctx, bench.Child(server, o, bench.Unpinned), bench.Child(client, caller, bench.Unpinned))
		if err != nil || client != remoteNode {
			return runner, err
		}
		if _, err := runner.Processes()[1].Ask(ctx, fmt.Sprintf("callers %d", manyCallers)); err != nil {
			runner.Close()
			return nil, err
		}
		return runner, nil
	}
	return row
}
