// Package web is the HTTP face of a node: the public actions at POST /service/action, JSON in and out, errors as problem
// documents (RFC 9457), health and readiness. Importing it makes [sabir.HTTP] work:
//
//	import (
//		"github.com/sabir-go/sabir"
//		_ "github.com/sabir-go/sabir/web"
//	)
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
//
// [Dial] is the other side: a [Client] calls the actions of such a node, and with [sabir.Via] lets a whole node call them
// as if they were its own. docs/http.md has the routes, headers and statuses.
package web
