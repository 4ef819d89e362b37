package ergo

import (
	"context"
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

const whyBounded = "A mailbox of Sabir is bounded: who sends to it counts its messages, and waits where it is full. The inbox of hollywood grows with what comes."

// shapeTable compares messages on one node where Ergo's benchmark has no table: many senders, many receivers, rings and the like.
func shapeTable(a amounts) bench.Table {
	// A ping-pong, a ring and what is sent to others at random wake a process for each message or so, which takes longer.
	of := func(work string, fewer int) func(contender) openRow {
		return func(c contender) openRow {
			return func(_ context.Context, e *bench.Env) (bench.Runner, error) {
				return oneNode(child.Order{Row: c.program, Work: work, Size: a.messagesIn(e) / fewer}), nil
			}
		}
	}
	among := func(processes int) func(contender) openRow {
		return func(c contender) openRow {
			return func(_ context.Context, e *bench.Env) (bench.Runner, error) {
				n := processes
				if e.Quick {
					n /= 10
				}
				return oneNode(child.Order{Row: c.program, Work: "random", Size: a.messagesIn(e) / 3, Callers: min(n, a.processesIn(e))}), nil
			}
		}
	}
	const waits = "mailboxes hold 65,536 messages and let senders wait"
	all := []contender{sabir.with(waits), ergoRow, hollywood, protoactor, goakt, channels.with("channels of 1024")}
	return bench.Table{
		Name: "shapes", Title: "Messages on one node: who sends to whom",
		About: "Ergo's report has one process send to another. Here a goroutine that is no process sends to one, which in another group stands still each time until 30,000 messages wait for it; a hundred processes send to one; one sends to " +
			"a thousand in turn; two pass one message to and fro; a thousand in a ring pass on a hundred messages; a hundred thousand (a tenth of them in quick runs) pass a " +
			"thousand messages to each other at random. *With work* has about a microsecond of arithmetic done for each message. 3 million messages, or 1 million where a " +
			"process wakes for each, quick runs a tenth; the time goes from before the first until the last has come. The receivers check every message and, for each sender and each " +
			"message that is passed on, the order. Each measurement starts anew.\n\n" +
			"Not comparable: Sabir's mailboxes and the channels hold their senders back, those of the peers are unbounded. goakt has a tenth of the hundred thousand, " +
			"as it starts some thousands a second, and hollywood inboxes of 16 there.",
		Why: map[string]string{
			"goroutine to process":  whyBounded,
			"100 to one, with work": whyBounded,
		},
		Columns: []bench.Column{
			{Key: "rate", Title: "messages/s", Unit: bench.PerSecond},
			{Key: "cpu", Title: "CPU per message", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "peak memory", Unit: bench.Bytes, Less: true},
		},
		Rows: cold(slices.Concat(
			rowsOf("goroutine to process", of("from-outside", 1), all...),
			rowsOf("goroutine to process, 30,000 waiting", of("backlog", 1), append(all[:5:5], channels.with("a channel of 60,000"))...),
			rowsOf("100 to one", of("many-to-one", 1), all...),
			rowsOf("100 to one, with work", of("many-to-one-work", 3), all...),
			rowsOf("one to 1000", of("one-to-many", 1), all...),
			rowsOf("ping-pong", of("ping-pong", 3), all...),
			rowsOf("ring of 1000", of("ring", 3), all...),
			rowsOf("ring of 1000, with work", of("ring-work", 3), all...),
			rowsOf("random among 100,000", among(100_000), all[0], ergoRow, smallHollywood.contender, protoactor, all[5]),
			rowsOf("random among 100,000", among(10_000), goakt.with("10,000 processes")),
		)),
	}
}

// workingTable is how soon a message leaves a process that goes on working.
func workingTable(a amounts) bench.Table {
	return bench.Table{
		Name: "sent-while-working", Title: "A message of a process that goes on working",
		About: "A process sends two messages to another and then computes for 20 ms before it is done. Shown is how long the second message takes until the other process has " +
			"it: a library that hands over what one callback sends all together must not wait for the callback's end. 50 times for each measurement.",
		Why: map[string]string{"": "What a callback sends is handed over together at its end, or by a watchdog that looks ten times a millisecond where callbacks have lasted that long. " +
			"The others hand over each message at once, which costs them more for each: see the table before."},
		Columns: []bench.Column{
			{Key: "delay", Title: "delay, median", Unit: bench.Duration, Less: true},
			{Key: "delay99", Title: "p99", Unit: bench.Duration, Less: true},
		},
		Rows: cold(rowsOf("", func(c contender) openRow {
			return func(_ context.Context, e *bench.Env) (bench.Runner, error) {
				return oneNode(child.Order{Row: c.program, Work: "sent-while-working", Size: min(50, a.processesIn(e)/100)}), nil
			}
		}, sabir, ergoRow, hollywood, protoactor, goakt, channels)),
	}
}

// treeTable is the skynet benchmark.
func treeTable(a amounts) bench.Table {
	open := func(o child.Order) bench.Runner { o.Work = "skynet"; return oneNode(o) }
	return bench.Table{
		Name: "skynet", Title: "A tree of a million processes",
		About: "The benchmark *skynet*: a process starts ten others, each of these ten more, down to a million leaves (quick runs 10,000). Each leaf tells its number to the " +
			"process that started it, which adds up what ten have told and tells the sum to its own, and all end. 1,111,111 processes are started in all, each with a message to begin " +
			"and one to tell; the time goes until the first one has the sum, which is checked. Each measurement starts anew.\n\n" +
			"goakt 4.2.1 is not here: of its actors that start others at the same moment some time out.",
		Columns: []bench.Column{
			{Key: "rate", Title: "processes/s", Unit: bench.PerSecond},
			{Key: "cpu", Title: "CPU per process", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "peak memory", Unit: bench.Bytes, Less: true},
		},
		Rows: manyRows(a, "", open, whole(sabir, ergoRow, smallHollywood.contender, protoactor, contender{name: "channels", program: "channels", limit: true, settings: "a goroutine each, and a channel of 10 where it starts others"})),
	}
}
