// Package tcp is the transports tcp://, tls:// and unix://, by the system's own sockets. Importing it registers them:
//
//	tcp://host:port    plain TCP
//	tls://host:port    TLS 1.3 over TCP; see [Certificates]
//	unix:///run/x.sock a Unix domain socket, for this user on this machine; unix:@name an abstract one (Linux)
//
// A node listens at such an address, and joins others by it:
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("tcp://:7700"))
//
// Frames are sent at once: Nagle's algorithm is off. Connections of tcp:// and unix:// are *net.TCPConn and
// *net.UnixConn, which write several buffers in one system call.
package tcp
