// Package rpc serves the actions of a node over gRPC, Connect and gRPC-Web, at the same address as the rest of HTTP, and calls servers of
// these:
//
//	node := sabir.NewNode(sabir.Serve(users), sabir.HTTP(":3000", rpc.Serve()))
//
// No code is generated for it: the messages are the Go types of the actions, as package codec/protobuf writes them. Actions whose
// types are generated messages are served with these.
//
// # Names
//
// The action "users.get" is the method Get of the service users.Users: POST /users.Users/Get. The package is the service's name, the
// service its last word, and "v2.users.get" is users.v2.Users. [Package] sets another package.
//
// # What holds
//
// A call passes the filters, the authentication and the middlewares of its group, and the action's rules, as it does over HTTP. Errors
// have the code of [sabir.Error], which is gRPC's, with details: google.rpc.ErrorInfo with the error's name as its reason,
// BadRequest with the fields that broke rules, and the error's data as a Struct. Data that is a generated message, or a slice of the type
// []proto.Message, is sent as these details themselves. See docs/doors.md for the whole table.
//
// Deadlines (grpc-timeout, Connect-Timeout-Ms) and cancels end the context of the handler. Metadata of callers becomes metadata of
// the call, in lower case; [sabir.Answer] answers with some.
//
// The package serves grpc.health.v1.Health, without asking for credentials, and grpc.reflection.v1 and v1alpha, behind the
// authentication of the server.
//
// # Other servers
//
// [Dial] makes the methods of other servers of gRPC, Connect and gRPC-Web callable by name.
package rpc
