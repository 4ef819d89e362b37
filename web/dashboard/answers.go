package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/introspect"
)

// nodeAnswer is the answer of one node to a question that all are asked.
type nodeAnswer struct {
	Node   string          `json:"node"`
	Answer json.RawMessage `json:"answer,omitempty"`
	Why    string          `json:"why,omitempty"` // there is none
}

// nodeAnswers is sorted by node.
type nodeAnswers struct {
	Nodes []nodeAnswer `json:"nodes"`
}

// askEach asks the nodes, or the one that is wanted. A node that does not offer the action is mute.
func (b *dashboard) askEach(ctx context.Context, wanted, action string, input any) nodeAnswers {
	all := nodeAnswers{Nodes: []nodeAnswer{}}
	var mu sync.Mutex
	eachNode(b.nodesNamed(wanted), func(n introspect.Node) {
		one := nodeAnswer{Node: n.ID}
		answer, err := askJSON(ctx, b.node, n.ID, action, input)
		switch {
		case err == nil:
			one.Answer = answer
		case sabir.AsError(err).Code == sabir.CodeNotFound:
			one.Why = mute
		default:
			one.Why = sabir.AsError(err).Message
		}
		mu.Lock()
		defer mu.Unlock()
		all.Nodes = append(all.Nodes, one)
	})
	slices.SortFunc(all.Nodes, func(a, b nodeAnswer) int { return strings.Compare(a.Node, b.Node) })
	return all
}

// answersTo serves the answers of all nodes to an action.
func (b *dashboard) answersTo(action string) http.HandlerFunc {
	return func(w http.ResponseWriter, r *http.Request) {
		v, err := b.answerCache.get(r.Context(), action, func(ctx context.Context) (any, error) {
			return b.askEach(ctx, "", action, sabir.Empty{}), nil
		})
		b.respond(w, v, err)
	}
}

// nodesNamed returns the nodes that can be asked, or the one of that name.
func (b *dashboard) nodesNamed(id string) []introspect.Node {
	nodes := slices.DeleteFunc(b.node.Nodes(), func(n introspect.Node) bool { return n.ClientOnly || id != "" && n.ID != id })
	return nodes[:min(len(nodes), maxNodes)]
}

// knows reports whether there is a node of a name; "" stands for all.
func (b *dashboard) knows(node string) *sabir.Error {
	if node == "" || slices.ContainsFunc(b.node.Nodes(), func(n introspect.Node) bool { return n.ID == node }) {
		return nil
	}
	return sabir.Errorf(sabir.CodeNotFound, errNotFound.Name, "there is no node %.100q", node)
}
