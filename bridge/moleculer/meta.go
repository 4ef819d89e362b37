package moleculer

import (
	"context"
	"maps"
	"slices"
	"strings"
	"sync"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/inbound"
)

// Moleculer's meta has values of any kind, metadata has texts. A text stays as it is; another value is its JSON, and the key documentsKey
// has the names of those, so that they go on to Moleculer nodes as what they were.
const documentsKey = "moleculer-json"

// reserved are the keys of metadata that only nodes of the cluster may set.
func reserved(key string) bool {
	return inbound.Reserved(key) || key == documentsKey
}

// ofStreams reports whether a member of meta belongs to a stream of protocol 4.
func ofStreams(key string) bool {
	return key == objectMode || key == streamError || key == metaParams
}

// metadataOf reads meta as metadata.
func metadataOf(meta raw) (map[string]string, error) {
	members, err := membersOf(meta)
	if members == nil {
		return nil, err
	}
	pairs := make(map[string]string, len(members)+1)
	var documents []string
	for key, value := range members {
		if reserved(key) {
			continue
		}
		text, isText := textOf(value)
		pairs[key] = text
		if !isText && !strings.Contains(key, ",") {
			documents = append(documents, key)
		}
	}
	if documents != nil {
		slices.Sort(documents)
		pairs[documentsKey] = strings.Join(documents, ",")
	}
	return pairs, nil
}

// textOf is a value of meta in metadata, and whether it is a text there too.
func textOf(value raw) (text string, isText bool) {
	if len(value) > 0 && value[0] == '"' && json.Codec.Decode(value, &text) == nil {
		return text, true
	}
	return string(value), false
}

// membersOf reads meta. The error is of one that is no object, or too large.
func membersOf(meta raw) (map[string]raw, error) {
	if len(meta) == 0 || string(meta) == "{}" || string(meta) == "null" {
		return nil, nil
	}
	if len(meta) > inbound.MaxMetadataBytes {
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, errname.HeadTooLarge, "meta has %d bytes: %d is the limit", len(meta), inbound.MaxMetadataBytes)
	}
	var members map[string]raw
	if err := decode(meta, &members); err != nil {
		return nil, sabir.Errorf(sabir.CodeInvalidArgument, sabir.ErrBadInput.Name, "meta cannot be read: %w", err)
	}
	if len(members) > inbound.MaxMetadata {
		return nil, sabir.Errorf(sabir.CodeResourceExhausted, errname.HeadTooLarge, "meta has %d members: %d is the limit", len(members), inbound.MaxMetadata)
	}
	return members, nil
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
	return json.Codec.Decode([]byte(text), &any) == nil
}

// collectedMeta is meta that comes with answers.
type collectedMeta struct {
	mu      sync.Mutex
	members map[string]raw
}

// all returns the members that have come, with values as JSON has them.
func (m *collectedMeta) all() map[string]any {
	m.mu.Lock()
	defer m.mu.Unlock()
	all := make(map[string]any, len(m.members))
	for key, text := range m.members {
		var value any
		if json.Codec.Decode(text, &value) == nil {
			all[key] = value
		}
	}
	return all
}

func (m *collectedMeta) set(name string, value raw) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.members == nil {
		m.members = make(map[string]raw)
	}
	if _, known := m.members[name]; known || len(m.members) < inbound.MaxMetadata {
		m.members[name] = value
	}
}

// append appends the members, as an object.
func (m *collectedMeta) append(dst []byte) []byte {
	m.mu.Lock()
	defer m.mu.Unlock()
	if len(m.members) == 0 {
		return append(dst, "{}"...)
	}
	dst = append(dst, '{')
	for i, key := range slices.Sorted(maps.Keys(m.members)) {
		if i > 0 {
			dst = append(dst, ',')
		}
		dst = append(append(appendText(dst, key), ':'), m.members[key]...)
	}
	return append(dst, '}')
}

// headers takes what a handler sets by SetHeader and SetTrailer of sabir.Answer, as members of meta.
type headers struct{ meta *collectedMeta }

func (h headers) SetStatus(int) error { return nil }

func (h headers) SetHeader(name, value string) error {
	h.meta.set(name, appendText(nil, value))
	return nil
}

func (h headers) SetTrailer(name, value string) error { return h.SetHeader(name, value) }

type metaKey struct{}

// CollectMeta returns a context whose calls to Moleculer nodes collect what the handlers there add to meta, or change in it. The function, which several
// goroutines may call, returns the members that have come, with values as JSON has them.
func CollectMeta(ctx context.Context) (collecting context.Context, meta func() map[string]any) {
	m := new(collectedMeta)
	return context.WithValue(ctx, metaKey{}, m), m.all
}

// SetMeta sets a member of meta in the answer to a Moleculer node, which merges it into the meta of its caller. The value is anything that
// has a JSON. In a handler that no other handler called, SetHeader and SetTrailer of sabir.Answer set texts. Where no Moleculer node waits for the
// answer it does nothing.
func SetMeta(ctx context.Context, key string, value any) error {
	text, err := json.Codec.Append(nil, value)
	if err != nil {
		return sabir.Errorf(sabir.CodeInternal, errname.BadOutput, "the member %s of meta cannot be written: %w", key, err)
	}
	if m, ok := ctx.Value(metaKey{}).(*collectedMeta); ok {
		m.set(key, text)
	}
	return nil
}

// mergeBack hands on what came back in meta with an answer, and was not sent: to a Moleculer node that waits further up, or see [CollectMeta].
func mergeBack(ctx context.Context, sent map[string]string, meta raw) {
	to, ok := ctx.Value(metaKey{}).(*collectedMeta)
	if !ok {
		return
	}
	members, err := membersOf(meta)
	if err != nil {
		return
	}
	for _, key := range slices.Sorted(maps.Keys(members)) {
		if ofStreams(key) || reserved(key) && key[0] != '$' { // $statusCode is for the gateway further up
			continue
		}
		text, _ := textOf(members[key])
		if old, known := sent[key]; !known || old != text {
			to.set(key, members[key])
		}
	}
}

type headersKey struct{}

// Headers are the headers of the request or event from a Moleculer node that ctx belongs to, by name, with values as JSON has them. Headers go
// one hop: they are not passed on to nested calls. nil for none.
func Headers(ctx context.Context) map[string]any {
	text, _ := ctx.Value(headersKey{}).(raw)
	var headers map[string]any
	if len(text) == 0 || json.Codec.Decode(text, &headers) != nil || len(headers) == 0 {
		return nil
	}
	return headers
}

type sendHeadersKey struct{}

// outgoing is a value for the calls that are made at a depth.
type outgoing struct {
	value any
	depth int
}

// valueAt is the value under the key, if it is for a call with the context.
func valueAt(ctx context.Context, key any) (any, bool) {
	if o, ok := ctx.Value(key).(outgoing); ok && sabir.InfoFromContext(ctx).Depth == o.depth+1 {
		return o.value, true
	}
	return nil, false
}

// WithHeaders returns a context whose next calls to actions of Moleculer nodes, and events to them, have the headers. They go one hop:
// calls nested in those do not have them. Moleculer 0.14 knows no headers.
func WithHeaders(ctx context.Context, headers map[string]any) context.Context {
	return context.WithValue(ctx, sendHeadersKey{}, outgoing{headers, sabir.InfoFromContext(ctx).Depth})
}

// appendHeaders appends the headers for a call with the context.
func appendHeaders(dst []byte, ctx context.Context) []byte {
	if headers, ok := valueAt(ctx, sendHeadersKey{}); ok {
		if out, err := json.Codec.Append(dst, headers); err == nil {
			return out
		}
	}
	return append(dst, "{}"...)
}
