// Package web is the HTTP face of a node: the public actions at POST /service/action and in REST forms ([sabir.Route]),
// streams, events, batches, JSON in and out, errors as problem documents (RFC 9457), health and readiness. Importing it makes
// [sabir.HTTP] work:
//
//	import (
//		"github.com/sabir-go/sabir"
//		_ "github.com/sabir-go/sabir/web"
//	)
//
//	node := sabir.NewNode(sabir.Serve(greeter), sabir.HTTP(":3000"))
//
// The functions here that return a [sabir.HTTPOption] are options of it: who may call ([Auth], [Anonymous], [Open]), hooks
// ([Use], [Around]), groups of services under a prefix ([Group]), files and other handlers ([Static], [Mount]), [Events],
// limits. [Handler] is the face as a handler of a server that is there already.
//
// [Dial] is the other side: a [Client] calls the actions of such a node, and with [sabir.Via] lets a whole node call them
// as if they were its own. docs/http.md is the guide, with the routes, headers and statuses.
package web
