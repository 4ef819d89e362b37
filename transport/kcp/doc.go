// Package kcp is the transport kcp://host:port: KCP, a protocol over UDP that sends again sooner than TCP and does not
// slow down for losses, by github.com/xtaci/kcp-go. Importing it registers it.
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("kcp://:7700"))
//
// It is for paths that lose packets, where the time of a message counts more than bytes. It takes no heed of other
// traffic on the path, has no forward error correction here, and does not encrypt: a TLS configuration is refused. A sender that
// can send packets with a forged source can break a connection.
//
// KCP itself knows no beginning and no end. Package session adds both, and back pressure: Dial ends when the listener has
// answered, a closed connection is seen by the peer, and what was written before Close arrives.
//
// A session works every 10 ms also when it is idle, so thousands of links cost processor time.
package kcp
