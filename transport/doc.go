// Package transport is what carries frames between two nodes.
//
// A transport is named by the scheme of a URL and lives in a package of its own below this one, which registers it when
// it is imported, as database/sql drivers do. A program links only what it uses:
//
//	import _ "github.com/sabir-go/sabir/transport/tcp" // tcp://, tls:// and unix://
//
//	listener, err := transport.Listen(ctx, "tcp://:7700", transport.Config{})
//	conn, err := transport.Dial(ctx, "tcp://127.0.0.1:7700", transport.Config{})
//
// A transport of the [Stream] shape dials and accepts ordered, reliable connections of bytes: a [net.Conn]. It knows
// nothing of nodes, services or what the bytes mean. Package transporttest holds the conformance suite that says what
// every transport does; run it over a new one.
//
// Nobody comes in uninvited: an address that other machines can reach is only listened on where callers must prove who
// they are, see [Config].
package transport
