// Package grpc is the transports grpc:// and grpc+tls://: bytes over one bidirectional stream of gRPC, by
// google.golang.org/grpc. Importing it registers them:
//
//	grpc://host:port      over TCP
//	grpc+tls://host:port  over TLS 1.3 over TCP
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.Join("grpc://:7700"))
//
// It is for networks whose load balancers and service meshes take gRPC and nothing else. The method is
// /sabir.Link/Connect, with the content type application/grpc+sabir; its messages are bytes of at most 128 KiB, whose
// borders mean nothing.
//
// Each connection has a socket of its own, since a stream cannot outrun the others of a socket.
package grpc
