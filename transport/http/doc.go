// Package http is the transports http:// and https://: bytes in binary messages of a WebSocket (RFC 6455), by
// github.com/gobwas/ws. Importing it registers them:
//
//	http://host:port/path    HTTP/1.1 over TCP
//	https://host:port/path   the same over TLS 1.3
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("http://:7700"))
//
// It is for networks that let nothing out but HTTP, and for links that come in through a web server: see [Handler]. The
// path is /sabir where the address has none, and the port of an address to dial is 80 or 443 where it has none.
//
// Dialling goes through the proxy that HTTP_PROXY, HTTPS_PROXY and NO_PROXY name, as net/http reads them, always by the
// method CONNECT (RFC 9110, section 9.3.6): other proxies cannot pass a WebSocket on. As with net/http, this machine's own
// addresses are never asked of a proxy.
//
// Requests with an Origin header are refused, so that web pages cannot make a browser open links.
package http
