package moleculer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/admission"
	"github.com/sabir-go/sabir/internal/identity"
)

// Moleculer's meta has values of any kind, metadata has texts. A text stays as it is; another value is its JSON, and the key documentsKey
// has the names of those, so that they go on to Moleculer nodes as what they were.
const documentsKey = "moleculer-json"

const (
	maxMeta      = 64       // members of meta
	maxMetaBytes = 32 << 10 // of its JSON
)

// reserved are the keys of metadata that only nodes of the cluster may set.
func reserved(key string) bool {
	return key == identity.PrincipalKey || key == admission.MetadataKey || key == documentsKey || strings.HasPrefix(key, "$")
}

// metadataOf reads meta. The error is of one that is no object, or too large.
func metadataOf(meta raw) (map[string]string, error) {
	if len(meta) == 0 || string(meta) == "{}" || string(meta) == "null" {
		return nil, nil
	}
	if len(meta) > maxMetaBytes {
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrHeadTooLarge.Name, "meta has %d bytes: %d is the limit", len(meta), maxMetaBytes)
	}
	var members map[string]raw
	if err := json.Decode(meta, &members); err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "meta cannot be read: %w", err)
	}
	if len(members) > maxMeta {
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, sabir.ErrHeadTooLarge.Name, "meta has %d members: %d is the limit", len(members), maxMeta)
	}
	pairs := make(map[string]string, len(members)+1)
	var documents []string
	for key, value := range members {
		if reserved(key) {
			continue
		}
		var text string
		if len(value) > 0 && value[0] == '"' && json.Decode(value, &text) == nil {
			pairs[key] = text
			continue
		}
		pairs[key] = string(value)
		if !strings.Contains(key, ",") {
			documents = append(documents, key)
		}
	}
	if documents != nil {
		slices.Sort(documents)
		pairs[documentsKey] = strings.Join(documents, ",")
	}
	return pairs, nil
}

// appendMeta appends metadata as meta. What is only for the nodes of the cluster stays here.
func appendMeta(dst []byte, pairs map[string]string) []byte {
	if len(pairs) == 0 {
		return append(dst, "{}"...)
	}
	documents := strings.Split(pairs[documentsKey], ",")
	dst = append(dst, '{')
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		if reserved(key) {
			continue
		}
		if dst[len(dst)-1] != '{' {
			dst = append(dst, ',')
		}
		dst = append(appendText(dst, key), ':')
		if value := pairs[key]; slices.Contains(documents, key) && isDocument(value) {
			dst = append(dst, value...)
		} else {
			dst = appendText(dst, value)
		}
	}
	return append(dst, '}')
}

func isDocument(text string) bool {
	var any raw
	return json.Decode([]byte(text), &any) == nil
}

// answer collects the meta that a handler sets for its caller: see [SetMeta], and sabir.SetHeader and SetTrailer.
type answer struct {
	mu   sync.Mutex
	meta map[string]raw
}

func (a *answer) SetHeader(name, value string)  { a.set(name, appendText(nil, value)) }
func (a *answer) SetTrailer(name, value string) { a.set(name, appendText(nil, value)) }

func (a *answer) set(name string, value raw) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.meta == nil {
		a.meta = make(map[string]raw)
	}
	if _, known := a.meta[name]; known || len(a.meta) < maxMeta {
		a.meta[name] = value
	}
}

// append appends what was set, as an object.
func (a *answer) append(dst []byte) []byte {
	a.mu.Lock()
	defer a.mu.Unlock()
	if len(a.meta) == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(a.meta)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(appendText(dst, key), ':'), a.meta[key]...)
	}
	return append(dst, '}')
}

// SetMeta sets a member of meta in the answer to a Moleculer node, which merges it into the meta of its caller. The value is anything that
// has a JSON. sabir.SetHeader and SetTrailer set texts. Where the call is not from a Moleculer node it does nothing.
func SetMeta(ctx context.Context, key string, value any) error {
	text, err := json.Append(nil, value)
	if err != nil {
		return sabir.Errorf(sabir.CodeInternal, sabir.ErrBadOutput.Name, "the member %s of meta cannot be written: %w", key, err)
	}
	if a, ok := gateway.AnswerFromContext(ctx).(*answer); ok {
		a.set(key, text)
	}
	return nil
}

// mergeBack gives the caller of a call to a Moleculer node the meta that came back with its answer, and was not sent: where the caller is
// a Moleculer node itself it is in its answer, and others get it by gateway.WithAnswer.
func mergeBack(ctx context.Context, sent map[string]string, meta raw) {
	to := gateway.AnswerFromContext(ctx)
	if to == nil {
		return
	}
	pairs, err := metadataOf(meta)
	if err != nil {
		return
	}
	documents := strings.Split(pairs[documentsKey], ",")
	for _, key := range slices.Sorted(maps.Keys(pairs)) {
		value := pairs[key]
		if old, known := sent[key]; key == documentsKey || known && old == value {
			continue
		}
		if a, ok := to.(*answer); ok && slices.Contains(documents, key) {
			a.set(key, raw(value))
		} else {
			to.SetTrailer(key, value)
		}
	}
}

type headersKey struct{}

// Headers are the headers of the request or event from a Moleculer node that ctx belongs to, by name, with values as JSON has them. Headers go
// one hop: they are not passed on to nested calls. nil for none.
func Headers(ctx context.Context) map[string]any {
	text, _ := ctx.Value(headersKey{}).(raw)
	var headers map[string]any
	if len(text) == 0 || json.Decode(text, &headers) != nil || len(headers) == 0 {
		return nil
	}
	return headers
}

type sendHeadersKey struct{}

// outgoing are headers for the calls that are made at a depth.
type outgoing struct {
	headers map[string]any
	depth   int
}

// WithHeaders returns a context whose next calls to actions of Moleculer nodes, and events to them, have the headers. They go one hop:
// calls nested in those do not have them. Moleculer 0.14 knows no headers.
func WithHeaders(ctx context.Context, headers map[string]any) context.Context {
	return context.WithValue(ctx, sendHeadersKey{}, outgoing{headers, sabir.InfoFromContext(ctx).Depth})
}

// appendHeaders appends the headers for a call with the context.
func appendHeaders(dst []byte, ctx context.Context) []byte {
	if o, ok := ctx.Value(sendHeadersKey{}).(outgoing); ok && sabir.InfoFromContext(ctx).Depth == o.depth+1 {
		if out, err := json.Append(dst, o.headers); err == nil {
			return out
		}
	}
	return append(dst, "{}"...)
}
