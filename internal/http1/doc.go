// Package http1 is an HTTP/1.1 server (RFC 9112) for small calls: a goroutine for each connection, a parser that allocates
// nothing but one copy of what was read, and one write for all answers to the requests of one read.
//
// It reads only the plain form of a request: see [Server] for the exact list. Everything else, well-formed or not, it hands
// over to a net/http server on the same connection, together with the bytes that were read: HTTP/2, upgrades, chunked and
// large bodies, other methods, errors of syntax. What it does read means the very same to net/http, byte for byte.
//
// net/http gets a connection through package httpstrict, which refuses what proxies and servers read in several ways.
//
// A [Handler] decides for each request whether it answers it here, and answers it through an [exchange.Exchange].
package http1
