// Package transport carries the bytes of links between nodes: by connections of its own, or through a broker.
//
// A transport is named by the scheme of a URL and is in a package of its own below this one, which registers it when
// it is imported, as database/sql drivers do. A program links only what it uses:
//
//	import _ "github.com/sabir-go/sabir/transport/tcp" // tcp://, tls:// and unix://
//
//	listener, err := transport.Listen(ctx, "tcp://:7700", transport.Config{})
//	conn, err := transport.Dial(ctx, "tcp://127.0.0.1:7700", transport.Config{})
//
// A transport of the [Stream] shape dials and accepts ordered, reliable connections of bytes: a [net.Conn]. One of the [Bus] shape
// publishes and subscribes to messages at a broker. Neither knows of nodes, services or what the bytes mean. Package
// internal/transporttest is the conformance suite of both shapes: run it over a new transport.
//
// An address that other machines can reach is only listened on if those that connect must prove themselves: see [Config].
package transport
