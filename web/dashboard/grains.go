package dashboard

import (
	"context"
	"net/http"
	"strings"

	"github.com/sabir-go/sabir"
)

// The bounds of a search for grains.
const (
	maxGrains     = 300 // of one node in the answer
	maxGrainQuery = 200 // bytes of the kind and of the part of a key
)

// grains sends the active grains of all nodes, of a kind and with a part of the key where these are asked for.
func (b *dashboard) grains(w http.ResponseWriter, r *http.Request) {
	kind, match := r.URL.Query().Get("kind"), strings.TrimSpace(r.URL.Query().Get("match"))
	if len(kind) > maxGrainQuery || len(match) > maxGrainQuery {
		b.fail(w, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the kind and the part of a key have at most %d bytes", maxGrainQuery))
		return
	}
	v, err := b.answerCache.get(r.Context(), "grains "+kind+" "+match, func(ctx context.Context) (any, error) {
		return b.askEach(ctx, "", "$grains.list", map[string]any{"kind": kind, "match": match, "limit": maxGrains}), nil
	})
	b.respond(w, v, err)
}
