package gomicro

import "github.com/sabir-go/sabir/lab/bench"

// frameworks are RPC libraries of Go over TCP with few and many callers.
func frameworks() bench.Table {
	return bench.Table{
		Name: "frameworks", Title: "RPC frameworks over TCP", Columns: figures(), Duration: duration,
		About: aboutMessage + "Server and client are two processes on loopback. Limits do less than any library must: *raw TCP echo* has a connection " +
			"for each caller and knows how many bytes come; *bare Go mux* shares one connection; both send 677 bytes both ways. Not comparable: " +
			"net/rpc and Sabir carry a plain Go struct, *Sabir, protobuf* and all others a protobuf message, those with *vtprotobuf* by code that is generated for it, where *Sabir, protobuf* has Google's, which bounds nesting and checks UTF-8; arpc and the *inline* rows of Sabir " +
			"run handlers on the goroutine that reads, the others have a goroutine for each request; NATS has a broker between the two sides.",
		Why: map[string]string{"1 caller": "fasthttp has a connection for each caller, and the goroutine that asks reads the answer itself, as in the raw echo. Where callers " +
			"share a connection one goroutine reads for all and wakes the caller, on a virtual processor that has gone to sleep meanwhile: the bare mux, which does nothing else, shows what " +
			"that costs. On the server one goroutine reads and another runs the handler; *Sabir, inline* spares that, and *callers read* (CallersRead of cluster.Links) the first, and polls for the answer and the next call for up to 50 µs before it sleeps. With more than one caller the shared connection is the faster way."},
		Rows: rows(frameworkGroups()...),
	}
}

func frameworkGroups() []group {
	return []group{
		frameworkGroup(order{group: "100 callers", work: calling, callers: 100}),
		frameworkGroup(order{group: "1 caller", work: calling, callers: 1}),
		frameworkGroup(order{group: "1000 callers", work: calling, callers: 1000}),
	}
}

func frameworkGroup(o order) group {
	entries := []entry{
		{name: "Sabir", contender: "sabir tcp"},
		{name: "Sabir, inline", contender: "sabir tcp, inline"},
		{name: "Sabir, inline, borrowed", contender: "sabir tcp, inline, borrowed"},
		{name: "Sabir, protobuf", contender: "sabir tcp, protobuf"},
		{name: "Sabir, protobuf, inline", contender: "sabir tcp, protobuf, inline"},
		{name: "Sabir, inline, callers read", contender: "sabir tcp, inline, callers read"},
		{name: "Sabir, protobuf, inline, callers read", contender: "sabir tcp, protobuf, inline, callers read"},
		{name: "go-micro 1, TCP", contender: "go-micro 1, tcp"},
		{name: "go-micro 1, HTTP", contender: "go-micro 1, http"},
		{name: "go-micro 1, gRPC", contender: "go-micro 1, grpc"},
		{name: "go-micro 5, HTTP", contender: "go-micro 5, http"},
		{name: "go-micro 6", missing: missingV6},
		{name: "grpc-go, unary", contender: "grpc-go"},
		{name: "grpc-go, bidi stream", contender: "grpc-go bidi, 4 conns"},
		{name: "grpc-go, bidi stream, vtprotobuf", contender: "grpc-go bidi, 4 conns, vtprotobuf"},
		{name: "connect-go, HTTP/1.1", contender: "connect-go, HTTP/1.1"},
		{name: "connect-go, h2c", contender: "connect-go, h2c"},
		{name: "kitex, mux", contender: "kitex, mux"},
		{name: "kitex, pool", contender: "kitex, pool"},
		{name: "rpcx", contender: "rpcx"},
		{name: "rpcx, 4 connections", contender: "rpcx, 4 conns async"},
		{name: "arpc", contender: "arpc"},
		{name: "arpc, 10 connections", contender: "arpc, 10 conns"},
		{name: "arpc, 10 connections, vtprotobuf", contender: "arpc, 10 conns, vtprotobuf"},
		{name: "arpc, async", contender: "arpc, async"},
		{name: "drpc", contender: "drpc"},
		{name: "net/rpc", contender: "net/rpc"},
		{name: "nats.go, micro API", contender: "nats.go micro API, embedded"},
		{name: "fasthttp", contender: "fasthttp"},
		{name: "fasthttp, vtprotobuf", contender: "fasthttp, vtprotobuf"},
		{name: "hslam/rpc", missing: "the module proxy serves neither its list of versions nor 0.0.1, 0.0.2 or the latest"},
		{name: "raw TCP echo", contender: "raw TCP echo"},
		{name: "bare Go mux", contender: "bare Go mux"},
	}
	for i, e := range entries {
		if o.callers == 100 && e.contender == "go-micro 1, tcp" {
			entries[i].published = publishedTCP
		}
	}
	return groupOf(o, entries...)
}
