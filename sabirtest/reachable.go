package sabirtest

import (
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// Reachable fails a test where a running node answers anything else over HTTP than what is listed, or to other callers, so that what is open to the
// internet is in the diff of a commit. Each line is an address of an action with its callers, as `sabir actions --http` has them:
//
//	sabirtest.Reachable(t, node,
//		"POST /orders/place: who is signed in",
//		"GET /orders/{id}: everyone",
//	)
//
// What is no action has no line: the node's own pages, batches and events, and handlers that are mounted.
func Reachable(t testing.TB, node *sabir.Node, want ...string) {
	t.Helper()
	list, err := sabir.Call[[]introspect.Reachable](t.Context(), node, "$node.http", sabir.Empty{})
	if err != nil {
		t.Fatalf("%v", err)
	}
	var got []string
	for _, r := range list {
		if r.Action != "" && !strings.HasPrefix(r.Action, "$") {
			got = append(got, r.String())
		}
	}
	for _, line := range got {
		if !slices.Contains(want, line) {
			t.Errorf("reachable over HTTP, and not listed: %q", line)
		}
	}
	for _, line := range want {
		if !slices.Contains(got, line) {
			t.Errorf("listed, and not reachable over HTTP: %q", line)
		}
	}
}
