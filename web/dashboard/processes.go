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

// processTrees has the process trees of all nodes, or of one.
type processTrees struct {
	Nodes []nodeTree `json:"nodes"`
}

// nodeTree is the answer of $processes.tree on one node.
type nodeTree struct {
	Node string          `json:"node"`
	Tree json.RawMessage `json:"tree,omitempty"`
	Why  string          `json:"why,omitempty"` // there is none
}

// maxBranches bounds the processes of one node in the answer.
const maxBranches = 500

// processes sends the process trees.
func (b *dashboard) processes(w http.ResponseWriter, r *http.Request) {
	wanted := r.URL.Query().Get("node")
	if wanted != "" && !slices.ContainsFunc(b.node.Nodes(), func(n introspect.Node) bool { return n.ID == wanted }) {
		b.fail(w, sabir.Errorf(sabir.CodeNotFound, ErrNotFound.Name, "there is no node %.100q", wanted))
		return
	}
	v, err := b.answerCache.get(r.Context(), "processes "+wanted, func(ctx context.Context) (any, error) {
		f := processTrees{Nodes: []nodeTree{}}
		var mu sync.Mutex
		eachNode(b.nodesNamed(wanted), func(n introspect.Node) {
			g := nodeTree{Node: n.ID}
			tree, err := askJSON(ctx, b.node, n.ID, "$processes.tree", map[string]int{"limit": maxBranches})
			switch {
			case err == nil:
				g.Tree = tree
			case sabir.AsError(err).Code == sabir.CodeNotFound:
				g.Why = mute
			default:
				g.Why = sabir.AsError(err).Message
			}
			mu.Lock()
			defer mu.Unlock()
			f.Nodes = append(f.Nodes, g)
		})
		slices.SortFunc(f.Nodes, func(a, b nodeTree) int { return strings.Compare(a.Node, b.Node) })
		return f, nil
	})
	b.respond(w, v, err)
}

// nodesNamed returns the nodes that can be asked, or the one of that name.
func (b *dashboard) nodesNamed(id string) []introspect.Node {
	nodes := slices.DeleteFunc(b.node.Nodes(), func(n introspect.Node) bool { return n.ClientOnly || id != "" && n.ID != id })
	return nodes[:min(len(nodes), maxNodes)]
}
