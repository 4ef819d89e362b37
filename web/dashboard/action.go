package dashboard

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"slices"
	"strings"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/requestid"
)

// schemaSource returns the schemas of an action that the node offers: {"in": …, "out": …, "$defs": …}.
type schemaSource func(ctx context.Context, n *sabir.Node, node, action string) (json.RawMessage, error)

func askSchema(ctx context.Context, n *sabir.Node, node, action string) (json.RawMessage, error) {
	return askJSON(ctx, n, node, "$node.api", map[string]string{"action": action})
}

// actionPage is the data of an action's page besides the catalog.
type actionPage struct {
	Name    string          `json:"name"`
	Schemas json.RawMessage `json:"schemas,omitempty"`
	Why     string          `json:"why,omitempty"` // there are none
}

// offering is the nodes that offer an action, this one first.
func (b *dashboard) offering(action string) (nodes []string) {
	for _, s := range b.node.Services() {
		if slices.Contains(s.Actions, action) && !slices.Contains(nodes, s.Node) {
			nodes = append(nodes, s.Node)
		}
	}
	slices.SortStableFunc(nodes, func(x, y string) int {
		switch b.node.ID() {
		case x:
			return -1
		case y:
			return 1
		}
		return 0
	})
	return nodes
}

// action returns the schemas of an action.
func (b *dashboard) action(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("name")
	nodes := b.offering(name)
	if len(nodes) == 0 {
		b.fail(w, sabir.Errorf(sabir.CodeNotFound, sabir.ErrActionNotFound.Name, "no node offers an action %.100q now", name))
		return
	}
	page, err := b.answerCache.get(r.Context(), "schema "+name, func(ctx context.Context) (any, error) {
		page := actionPage{Name: name}
		var failed error
		for _, node := range nodes[:min(len(nodes), 3)] {
			if page.Schemas, failed = b.config.schemas(ctx, b.node, node, name); failed == nil {
				return page, nil
			}
		}
		page.Why = sabir.AsError(failed).Message
		return page, nil
	})
	b.respond(w, page, err)
}

func (b *dashboard) respond(w http.ResponseWriter, v any, err error) {
	if err != nil {
		b.fail(w, sabir.AsError(err))
		return
	}
	b.send(w, v)
}

// latency reports how long the calls of an action took.
func (b *dashboard) latency(w http.ResponseWriter, r *http.Request) {
	name := r.URL.Query().Get("action")
	l, ok := b.hub.latency(name)
	if !ok {
		l = latencies{Action: name, Bounds: []float64{}, Recent: []uint64{}, All: []uint64{}, PerNode: map[string]float64{}}
	}
	b.send(w, l)
}

// The bounds of a call from the page.
const (
	maxCallBody   = 1 << 20
	maxCallAnswer = 1 << 20
	callLimit     = 30 * time.Second
)

// callRequest is a call that the page asks for.
type callRequest struct {
	Action string          `json:"action"`
	Input  json.RawMessage `json:"input"`
	Node   string          `json:"node"` // "" for whichever
}

// callAnswer is the result of the call.
type callAnswer struct {
	Status    int      `json:"status"` // as over HTTP
	Took      float64  `json:"took"`   // microseconds, as seen from this node
	Request   string   `json:"request"`
	Output    string   `json:"output,omitempty"` // JSON, as text: a page that parsed it would lose the digits of large numbers
	Size      int      `json:"size"`
	Truncated string   `json:"truncated,omitempty"` // the beginning of an output that is too long, instead of it
	Problem   *failure `json:"problem,omitempty"`
}

// call calls an action. It calls public ones only, as the HTTP server does.
func (b *dashboard) call(w http.ResponseWriter, r *http.Request) {
	if b.config.readOnly {
		b.fail(w, errReadOnly)
		return
	}
	in, err := readCall(w, r)
	if err != nil {
		b.fail(w, err)
		return
	}
	a := b.node.Action(in.Action)
	for _, absent := range b.node.Absent() { // whose answer is that it is not available now
		if a == nil && absent.Name == in.Action {
			a = absent
		}
	}
	switch {
	case a == nil || !a.Public():
		b.fail(w, sabir.Errorf(sabir.CodeNotFound, sabir.ErrActionNotFound.Name, "there is no public action %.100q to call now", in.Action))
		return
	case a.Stream:
		b.fail(w, sabir.Errorf(sabir.CodeInvalidArgument, errname.StreamWanted, "%s is a stream: open it with the command line (sabir stream %[1]s)", a.Name))
		return
	}
	id := requestid.New()
	ctx, cancel := context.WithTimeout(sabir.WithRequestID(r.Context(), id), callLimit)
	defer cancel()
	start := time.Now()
	var out []byte
	var failed error
	if in.Node == "" {
		out, failed = a.AppendJSON(ctx, nil, in.Input)
	} else {
		out, failed = sabir.CallJSON(ctx, b.node, in.Action, in.Input, sabir.ToNode(in.Node))
	}
	answer := callAnswer{Status: http.StatusOK, Took: float64(time.Since(start).Nanoseconds()) / 1e3, Request: id, Size: len(out)}
	switch {
	case failed != nil:
		problem := newFailure(sabir.AsError(failed))
		if _, err := json.Marshal(problem.Data); err != nil {
			problem.Data = nil
		}
		answer.Status, answer.Problem = problem.Status, &problem
	case len(out) > maxCallAnswer:
		answer.Truncated = strings.ToValidUTF8(string(out[:4096]), "")
	default:
		answer.Output = string(out)
	}
	b.send(w, answer)
}

func readCall(w http.ResponseWriter, r *http.Request) (in callRequest, bad *sabir.Error) {
	if kind, _, _ := strings.Cut(r.Header.Get("Content-Type"), ";"); kind != "application/json" {
		return in, sabir.NewError(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the body has to be application/json")
	}
	body, err := io.ReadAll(http.MaxBytesReader(w, r.Body, maxCallBody))
	if err != nil {
		return in, sabir.Errorf(sabir.CodeInvalidArgument, errname.InputTooLarge, "the body cannot be read, or is larger than %d bytes", maxCallBody)
	}
	if err := json.Unmarshal(body, &in); err != nil {
		return in, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "the body is no call: %v", err)
	}
	return in, nil
}
