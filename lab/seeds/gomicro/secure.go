package gomicro

import (
	"slices"

	"github.com/sabir-go/sabir/lab/bench"
)

// overTLS is calls over encrypted connections.
func overTLS() bench.Table {
	return bench.Table{
		Name: "tls", Title: "Encrypted connections", Columns: figures(), Duration: duration,
		About: aboutMessage + "The report has no such table. TLS is TLS 1.3 of Go's library with an Ed25519 certificate that both ends show; *Sabir, key* is what a cluster " +
			"with a key has over tcp://: the Noise protocol with that key. *Raw TLS echo* has a connection for each caller and no codec. In the last group an operation is one field of 1 MiB " +
			"there and back.",
		Rows: rows(secureGroups()...),
	}
}

func secureGroups() []group {
	both := []entry{
		{name: "Sabir", contender: "sabir tls"},
		{name: "Sabir, key", contender: "sabir tcp, key"},
		{name: "Sabir, not encrypted", contender: "sabir tcp"},
		{name: "grpc-go, unary", contender: "grpc-go, TLS"},
		{name: "arpc", contender: "arpc, TLS"},
		{name: "arpc, 10 connections", contender: "arpc, TLS, 10 conns"},
		{name: "raw TLS echo", contender: "raw TLS echo"},
	}
	small := slices.Concat(both[:2], []entry{
		{name: "Sabir, protobuf", contender: "sabir tls, protobuf"},
		{name: "Sabir, key, protobuf", contender: "sabir tcp, key, protobuf"},
		{name: "net/http, HTTP/1.1", contender: "net/http, HTTP/1.1 and TLS"},
		{name: "net/http, HTTP/2", contender: "net/http, HTTP/2 and TLS"},
	}, both[2:])
	return []group{
		groupOf(order{group: "100 callers", work: calling, callers: 100}, small...),
		groupOf(order{group: "1 caller", work: calling, callers: 1}, small...),
		groupOf(order{group: "1 MiB, 10 callers", work: echoing, callers: 10, size: 1 << 20}, both...),
	}
}
