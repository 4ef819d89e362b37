package dashboard

import (
	"context"
	"encoding/json"
	"net/http"
	"time"

	"github.com/sabir-go/sabir"
)

// The bounds of dead letters on the page.
const (
	shownDeadLetters = 100
	maxSettleBody    = 64 << 10 // of a request that replays or deletes some
	settleLimit      = 10 * time.Second
)

// deadLettersRequest is the input of the actions of $channels about dead letters.
type deadLettersRequest struct {
	Channel string   `json:"channel"`
	Keys    []string `json:"keys,omitempty"`
	All     bool     `json:"all,omitempty"`
	Limit   int      `json:"limit,omitempty"`
}

// deadLetters sends the oldest dead letters of a channel, as a node that uses it lists them.
func (b *dashboard) deadLetters(w http.ResponseWriter, r *http.Request) {
	node, name := r.URL.Query().Get("node"), r.URL.Query().Get("channel")
	if err := b.knows(node); err != nil || node == "" {
		b.fail(w, sabir.Errorf(sabir.CodeNotFound, errNotFound.Name, "there is no node %.100q", node))
		return
	}
	v, err := b.answerCache.get(r.Context(), "dead letters "+node+" "+name, func(ctx context.Context) (any, error) {
		letters, err := ask[[]map[string]json.RawMessage](ctx, b.node, node, "$channels.dead", deadLettersRequest{Channel: name, Limit: shownDeadLetters})
		for _, l := range letters { // as text: a page that parsed it would lose the digits of large numbers
			if l["data"], err = json.Marshal(string(l["data"])); err != nil {
				break
			}
		}
		return letters, err
	})
	b.respond(w, v, err)
}

// settleRequest asks to replay or to delete dead letters.
type settleRequest struct {
	deadLettersRequest
	Node string `json:"node"`
	Do   string `json:"do"` // "replay" or "delete"
}

// settle replays or deletes dead letters.
func (b *dashboard) settle(w http.ResponseWriter, r *http.Request) {
	if b.config.readOnly {
		b.fail(w, errReadOnly)
		return
	}
	var in settleRequest
	if err := json.NewDecoder(http.MaxBytesReader(w, r.Body, maxSettleBody)).Decode(&in); err != nil {
		b.fail(w, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the request cannot be read: %v", err))
		return
	}
	if in.Do != "replay" && in.Do != "delete" || in.Node == "" {
		b.fail(w, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "dead letters are replayed or deleted by a node, not %.40q by %.100q", in.Do, in.Node))
		return
	}
	ctx, cancel := context.WithTimeout(r.Context(), settleLimit)
	defer cancel()
	input, err := json.Marshal(in.deadLettersRequest)
	if err != nil {
		b.fail(w, sabir.AsError(err))
		return
	}
	count, err := sabir.CallJSON(ctx, b.node, "$channels."+in.Do, input, sabir.ToNode(in.Node))
	b.respond(w, map[string]json.RawMessage{"count": count}, err)
}
