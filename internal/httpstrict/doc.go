// Package httpstrict lets net/http serve HTTP/1 without the requests that can be read in two ways: a length beside chunks, bare LF,
// folded headers, two hosts and more. net/http takes forms that RFC 9112 lets a server refuse, and a proxy in front may read them as
// another request, so that one who sends such a request hides a second one in it. docs/http-server.md has the list.
//
// Every server of net/http that Sabir starts gets its connections through here: by [Serve], or those of sabir.HTTP by the engine of
// package http1, which reads most requests itself and makes a [Conn] of the connections that it hands over. The bytes of HTTP/1 pass
// a check before net/http reads them. What is refused is answered with 400 and the reason, and ends the connection. HTTP/2 passes as
// it is: its form is net/http's to hold.
package httpstrict
