package gomicro

import "github.com/sabir-go/sabir/lab/bench"

// large is the echo of messages that are mostly copying.
func large() bench.Table {
	return bench.Table{
		Name: "large", Title: "Messages of 1 MiB", Duration: duration,
		About: "One operation is a call that sends one field of 1 MiB over TCP and gets it back. Every reply is checked for its length and its mark, one " +
			"in a thousand, and all while warming up, in every byte. The report has no such table. *Raw copy* sends back what comes while it " +
			"comes; *raw TCP echo* when all of it is there.",
		Why: map[string]string{
			"1 caller": "Half of Sabir's CPU time is the system's copying, a seventh is copying of its own, and a seventh the collection of garbage: each message that " +
				"a handler or a caller may keep is new memory.",
			"10 callers": "kitex's pool has a connection for each caller, Sabir one for all, on which values take turns, 256 KiB at a time: the CPU time of each call is the " +
				"same, but the two ends of one connection keep two cores less busy.",
		},
		Columns: append([]bench.Column{
			{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
			{Key: "megabytes", Title: "MB/s each way", Unit: bench.Count},
			{Key: "mean", Title: "mean", Unit: bench.Duration, Less: true},
			{Key: "p50", Title: "median", Unit: bench.Duration, Less: true},
			{Key: "p99", Title: "p99", Unit: bench.Duration, Less: true},
		}, used()...),
		Rows: rows(largeGroups()...),
	}
}

func largeGroups() []group {
	entries := []entry{
		{name: "Sabir", contender: "sabir tcp"},
		{name: "grpc-go, unary", contender: "grpc-go"},
		{name: "kitex, mux", contender: "kitex, mux"},
		{name: "kitex, pool", contender: "kitex, pool"},
		{name: "rpcx", contender: "rpcx"},
		{name: "arpc", contender: "arpc"},
		{name: "net/rpc", contender: "net/rpc"},
		{name: "raw copy", contender: "raw copy"},
		{name: "raw TCP echo", contender: "raw TCP echo"},
	}
	const size = 1 << 20
	return []group{
		groupOf(order{group: "1 caller", work: echoing, callers: 1, size: size}, entries...),
		groupOf(order{group: "10 callers", work: echoing, callers: 10, size: size}, entries...),
	}
}

// mixedSizes is small and large messages beside each other.
func mixedSizes() bench.Table {
	return bench.Table{
		Name: "mixed", Title: "Messages of 10 bytes to 1 MiB beside each other", Duration: 2 * duration,
		About: "One operation is a call that sends one field of bytes over TCP and gets it back. Of a thousand calls 400 have 10 bytes, 300 have 100, 200 have " +
			"677, 70 have 4 KiB, 25 have 64 KiB and 5 have 1 MiB, in no order, the same for each row. *Small* are those up to 677 bytes: they show whether a " +
			"large message holds up the others on its connection. Every reply is checked for its length and its mark, one in a thousand, and all while " +
			"warming up, in every byte. The report has no such table. *Raw TCP echo* has a connection for each caller, and a length before each message.",
		Columns: append([]bench.Column{
			{Key: "rate", Title: "calls/s", Unit: bench.PerSecond},
			{Key: "megabytes", Title: "MB/s each way", Unit: bench.Count},
			{Key: "small p50", Title: "small, median", Unit: bench.Duration, Less: true},
			{Key: "small p99", Title: "small, p99", Unit: bench.Duration, Less: true},
			{Key: "p99", Title: "all, p99", Unit: bench.Duration, Less: true},
		}, used()...),
		Rows: rows(mixedGroups()...),
	}
}

func mixedGroups() []group {
	entries := []entry{
		{name: "Sabir", contender: "sabir tcp"},
		{name: "grpc-go, unary", contender: "grpc-go"},
		{name: "kitex, mux", contender: "kitex, mux"},
		{name: "kitex, pool", contender: "kitex, pool"},
		{name: "rpcx", contender: "rpcx"},
		{name: "arpc", contender: "arpc"},
		{name: "arpc, 10 connections", contender: "arpc, 10 conns"},
		{name: "net/rpc", contender: "net/rpc"},
		{name: "raw TCP echo", contender: "raw TCP echo, lengths"},
	}
	return []group{
		groupOf(order{group: "10 callers", work: mixing, callers: 10}, entries...),
		groupOf(order{group: "100 callers", work: mixing, callers: 100}, entries...),
	}
}

// streams is messages one way.
func streams() bench.Table {
	return bench.Table{
		Name: "streams", Title: "Streams, messages of 1 KiB", Duration: duration,
		About: "One operation is a message of 1 KiB, sent one way over a stream that stays open. At its end the server says how many messages and bytes " +
			"have come, which must be those that were sent. The report has no such table. *Raw TCP push* collects frames in 64 KiB buffers and " +
			"has no flow control but TCP's.",
		Columns: append([]bench.Column{
			{Key: "rate", Title: "messages/s", Unit: bench.PerSecond},
			{Key: "megabytes", Title: "MB/s", Unit: bench.Count},
		}, used()...),
		Rows: rows(onewayGroups()...),
	}
}

func onewayGroups() []group {
	entries := []entry{
		{name: "Sabir", contender: "sabir tcp"},
		{name: "Sabir, unix", contender: "sabir unix"},
		{name: "grpc-go, client stream", contender: "grpc-go"},
		{name: "raw TCP push", contender: "raw TCP push"},
	}
	const size = 1 << 10
	return []group{
		groupOf(order{group: "1 stream", work: streaming, callers: 1, size: size}, entries...),
		groupOf(order{group: "10 streams", work: streaming, callers: 10, size: size}, entries...),
		groupOf(order{group: "1000 streams", work: streaming, callers: 1000, size: size}, entries...),
	}
}
