package ergo

import (
	"context"
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// sharing is a contender with a part of the processes: one in share, for contenders that cannot run all of them.
type sharing struct {
	contender
	share int
}

// Some take more memory or time than there is.
var (
	fewerHollywood = sharing{hollywood.with("a tenth of the processes: its inboxes of 1024 take 24 KiB each"), 10}
	smallHollywood = sharing{contender{name: "hollywood, inbox 16", program: "hollywood, inbox 16", module: hollywood.module, settings: "inboxes of 16, which grow"}, 1}
	fewerGoakt     = sharing{goakt.with("a twentieth of the processes: it starts some thousands a second"), 20}
)

// whole contenders have all of the processes.
func whole(all ...contender) []sharing {
	var list []sharing
	for _, c := range all {
		list = append(list, sharing{c, 1})
	}
	return list
}

// tenth are contenders of which each has a tenth of the processes.
func tenth(all ...contender) []sharing {
	var list []sharing
	for _, c := range all {
		list = append(list, sharing{c, 10})
	}
	return list
}

// manyRows are rows of a contender's share of the processes.
func manyRows(a amounts, group string, open func(o child.Order) bench.Runner, all []sharing) []bench.Row {
	var rows []bench.Row
	for _, s := range all {
		rows = append(rows, rowsOf(group, func(c contender) openRow {
			return func(_ context.Context, e *bench.Env) (bench.Runner, error) {
				return open(child.Order{Row: c.program, Size: max(a.processesIn(e)/s.share, 1)}), nil
			}
		}, s.contender)...)
	}
	return cold(rows)
}

// processTable is Ergo's memory benchmark.
func processTable(a amounts) bench.Table {
	return bench.Table{
		Name: "processes", Title: "Memory of a million processes",
		About: "A million processes start and wait (in quick runs 50 000); each counts itself as started when it runs for the first time. " +
			"*Bytes each* is live heap and stacks after a collection; *RSS each* is what remains with the operating system after all that is free " +
			"has been returned; *GC* is one collection with all of them there. Each measurement starts anew.\n\n" +
			"Not comparable: hollywood's default inboxes take 24 KiB each, and goakt starts some thousands a second, so they have fewer " +
			"processes, see their column; *inbox 16* has as many as the others. A goroutine with a channel of 128 messages is no process: nothing " +
			"has an address, is supervised or can be stopped from outside.",
		Columns: []bench.Column{
			{Key: "each", Title: "bytes each", Unit: bench.Bytes, Less: true},
			{Key: "rss", Title: "RSS each", Unit: bench.Bytes, Less: true},
			{Key: "start", Title: "time to start", Unit: bench.Duration, Less: true},
			{Key: "rate", Title: "starts/s", Unit: bench.PerSecond},
			{Key: "gc", Title: "GC", Unit: bench.Duration, Less: true},
			{Key: "processes", Title: "processes", Unit: bench.Count},
		},
		Rows: manyRows(a, "", func(o child.Order) bench.Runner {
			o.Work = "memory"
			return oneNode(o)
		}, slices.Concat(whole(ergoRow), []sharing{fewerHollywood, smallHollywood}, whole(protoactor), []sharing{fewerGoakt}, whole(sabir, channels))),
	}
}

// publishTable is Ergo's distributed pub/sub benchmark.
func publishTable(a amounts) bench.Table {
	return bench.Table{
		Name: "pubsub", Title: "Publish to a million subscribers",
		About: "One message by the library's own pub/sub, until each of a million processes has counted it once (in quick runs 50 000); a second " +
			"or another message fails the row. Two nodes are two processes of the operating system: the publisher is on one, all subscribers are " +
			"on the other, 100 000 of them (in quick runs 5 000): Ergo's benchmark has ten such nodes in one process, with as many each. Each measurement starts anew.\n\n" +
			"Not comparable: hollywood and goakt have fewer subscribers, see their column. protoactor-go's event stream calls a function for each " +
			"subscription, which sends to the process. What hollywood, protoactor-go and goakt publish by here stays on one " +
			"node; their clusters are not measured.",
		Columns: []bench.Column{
			{Key: "rate", Title: "deliveries/s", Unit: bench.PerSecond},
			{Key: "cpu", Title: "CPU per delivery", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "peak memory", Unit: bench.Bytes, Less: true},
			{Key: "subscribe", Title: "time to start and subscribe", Unit: bench.Duration, Less: true},
			{Key: "processes", Title: "subscribers", Unit: bench.Count},
		},
		Rows: slices.Concat(
			manyRows(a, "one node", func(o child.Order) bench.Runner {
				o.Work = "publish"
				return oneNode(o)
			}, slices.Concat(whole(ergoRow), []sharing{fewerHollywood, smallHollywood}, whole(protoactor), []sharing{fewerGoakt}, whole(sabir, channels, direct))),
			manyRows(a, "two nodes", func(o child.Order) bench.Runner {
				o.Work = "remote-publish"
				return between(o, int64(o.Size), server)
			}, tenth(ergoRow.with("EDF"), sabir.with("its native codec"),
				contender{name: "raw Go TCP, then function calls", program: "TCP", limit: true, settings: "a message of 64 bytes, passed on by a loop over the subscribers"})),
		),
	}
}
