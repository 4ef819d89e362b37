package ergo

import (
	"context"
	"runtime"
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
	"github.com/sabir-go/sabir/lab/child"
)

// pingTable is Ergo's ping benchmark.
func pingTable(a amounts) bench.Table {
	const (
		protobuf  = "google protobuf between nodes"
		oneRoom   = "pong's mailbox holds 65,536 messages and lets senders wait"
		manyRooms = "its native codec; pong's mailbox holds 1,073,741,824 messages"
	)
	tcp := contender{name: "raw Go TCP, 64-byte messages in 64 KiB writes", program: "TCP", limit: true}
	here := func(work string, pairs int) func(contender) openRow {
		return func(c contender) openRow {
			return func(_ context.Context, e *bench.Env) (bench.Runner, error) {
				return oneNode(child.Order{Row: c.program, Work: work, Size: each(a.messagesIn(e), pairs)}), nil
			}
		}
	}
	there := func(work string, pairs int) func(contender) openRow {
		return func(c contender) openRow {
			return func(_ context.Context, e *bench.Env) (bench.Runner, error) {
				size := each(a.messagesIn(e), pairs)
				return between(child.Order{Row: c.program, Work: work, Size: size}, int64(size*pairs), client), nil
			}
		}
	}
	n := runtime.NumCPU()
	return bench.Table{
		Name: "ping", Title: "Ping: messages from process to process",
		About: "One process sends to another as fast as it can, from within; N-N has as many pairs as the machine has cores. 1-1 sends " +
			"3 million messages, N-N 1 million for each pair, quick runs a tenth; the time goes from before the first until the receiver has " +
			"the last. Two nodes are two processes of the operating system, over loopback TCP. A message is an integer and a sequence number: " +
			"a plain struct on one node, and protobuf between nodes with hollywood, protoactor-go and goakt, which want that. Every receiver checks " +
			"number, value and order of each message; a run in which one is lost, doubled, altered or overtaken fails its row. Each " +
			"measurement starts anew.\n\n" +
			"Not comparable: a channel of 128 holds its sender back, and so does the mailbox of Sabir's receiver on one node; the mailboxes " +
			"of the peers are unbounded, so part of their time is memory. Sabir hands over what one callback sends to one process in a row together.",
		Columns: []bench.Column{
			{Key: "rate", Title: "messages/s", Unit: bench.PerSecond},
			{Key: "cpu", Title: "CPU per message", Unit: bench.Duration, Less: true},
			{Key: "memory", Title: "peak memory", Unit: bench.Bytes, Less: true},
		},
		Rows: cold(slices.Concat(
			rowsOf("1-1, one node", here("local-1-1", 1), ergoRow, hollywood, protoactor, goakt, sabir.with(oneRoom), channels),
			rowsOf("N-N, one node", here("local-n-n", n), ergoRow, hollywood, protoactor, goakt, sabir.with(oneRoom), channels),
			rowsOf("1-1, two nodes", there("remote-1-1", 1), ergoRow.with("EDF; 1 TCP connection: with its default of 3 the first messages overtake"),
				hollywood.with(protobuf), protoactor.with(protobuf+", gRPC"), goakt.with(protobuf), sabir.with(manyRooms), tcp),
			rowsOf("N-N, two nodes", there("remote-n-n", n), ergoRow.with("EDF; CPUs/2 TCP connections, as its benchmark"),
				hollywood.with(protobuf), protoactor.with(protobuf+", gRPC"), goakt.with(protobuf), sabir.with(manyRooms), tcp),
		)),
	}
}

// each returns the number of messages that each of the pairs sends.
func each(messages, pairs int) int {
	if pairs == 1 {
		return messages
	}
	return messages / 3
}
