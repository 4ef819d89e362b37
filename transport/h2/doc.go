// Package h2 is the transport grpc+tcp:// and h2c://, which are two names for one: bytes in the bodies of one long-lived
// request of HTTP/2 without TLS (RFC 9113, "prior knowledge"), by net/http. Importing it registers both:
//
//	h2c://host:port    POST /sabir, the request body is one direction and whose response body is the other
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("h2c://:7700"))
//
// It is for networks whose proxies and service meshes take HTTP/2 without TLS and nothing else. The bodies hold bytes
// without gRPC's message framing; for proxies that look into gRPC take package grpc.
//
// Each connection has a socket of its own.
package h2
