// Package deadconn ends connections that carry nothing any more, as after a failover. HTTP/2 stays on a connection whatever becomes of the calls
// on it. Pings of HTTP/2 would find that out too, but servers of gRPC end the connections, and with them the calls, of clients that send more
// than a few while the server is silent.
package deadconn

import "time"

// Limit is how long bytes may stay unreceived by the other machine before their connection ends.
const Limit = 10 * time.Second
