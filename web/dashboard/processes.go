package dashboard

import (
	"context"
	"net/http"
)

// maxBranches bounds the processes of one node in the answer.
const maxBranches = 500

// processes sends the process trees of all nodes, or of one.
func (b *dashboard) processes(w http.ResponseWriter, r *http.Request) {
	wanted := r.URL.Query().Get("node")
	if err := b.knows(wanted); err != nil {
		b.fail(w, err)
		return
	}
	v, err := b.answerCache.get(r.Context(), "processes "+wanted, func(ctx context.Context) (any, error) {
		return b.askEach(ctx, wanted, "$processes.tree", map[string]int{"limit": maxBranches}), nil
	})
	b.respond(w, v, err)
}
