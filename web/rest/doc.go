// Package rest has what callers of REST forms expect beside an output: versions of what was read, so that two writers do not
// overwrite each other (RFC 9110, section 13), pages with links to the next one (RFC 8288), and downloads that go on where they broke
// off (RFC 9110, section 14).
//
// Its functions are for handlers. They work on whichever node of the cluster the handler runs, also behind a gateway, because what they
// need of the request comes as metadata of the call. In a call that did not come from outside they do nothing, or their plain form.
package rest

import (
	"context"

	"github.com/sabir-go/sabir"
)

// The keys of the metadata in which a gateway hands on the headers of these names.
const (
	ifMatch     = "if-match"
	ifNoneMatch = "if-none-match"
)

// outside returns the metadata of the call of ctx, if it came from outside. Calls that a handler makes inherit the metadata of the
// outer one, whose preconditions are for what that one reads or changes.
func outside(ctx context.Context) map[string]string {
	info := sabir.InfoFromContext(ctx)
	if info.Action == "" || info.Depth > 2 || info.Depth == 2 && info.CalledBy != info.Action { // with middlewares a gateway's call counts for one
		return nil
	}
	return info.Metadata
}
