package dubbo

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/errname"
	"github.com/sabir-go/sabir/internal/inbound"
)

// ofProtocol are the attachments by which Dubbo itself says something. They are no metadata here, and metadata of these names is not sent.
var ofProtocol = []string{"path", "interface", "version", "group", "timeout", "generic", "dubbo", "input", "output", "async", "sent", "serialization_id", "_TO", "token"}

// metadata is the attachments that are texts, numbers and booleans, as metadata.
func (inv *invocation) metadata() (map[string]string, error) {
	pairs, size := make(map[string]string, len(inv.attachments)), 0
	for name, value := range inv.attachments {
		text, ok := textOf(value)
		if !ok || slices.Contains(ofProtocol, name) || inbound.Reserved(name) {
			continue
		}
		if size += len(name) + len(text); size > inbound.MaxMetadataBytes || len(pairs) == inbound.MaxMetadata {
			return nil, sabir.Errorf(sabir.CodeResourceExhausted, errname.HeadTooLarge, "the call has more attachments than %d, or than %d bytes of them", inbound.MaxMetadata, inbound.MaxMetadataBytes)
		}
		pairs[name] = text
	}
	return pairs, nil
}

func textOf(value any) (string, bool) {
	switch v := value.(type) {
	case string:
		return v, true
	case bool:
		return strconv.FormatBool(v), true
	case int32, int64, float64:
		return fmt.Sprint(v), true
	}
	return "", false
}

// attachmentsFor are those of a call that is made with the context.
func (b *bridge) attachmentsFor(ctx context.Context, to calledMethod, generic bool) map[string]string {
	m := to.of
	sent := sabir.InfoFromContext(ctx).Metadata
	pairs := make(map[string]string, len(sent)+7)
	for name, value := range sent {
		if !inbound.Reserved(name) && !slices.Contains(ofProtocol, name) {
			pairs[name] = value
		}
	}
	pairs["path"], pairs["interface"], pairs["remote.application"] = m.name, m.name, b.applicationName()
	if b.Tag != "" {
		pairs[paramTag] = b.Tag
	}
	if to.token != "" {
		pairs[paramToken] = to.token
	}
	if m.version != "" {
		pairs["version"] = m.version
	}
	if m.group != "" {
		pairs["group"] = m.group
	}
	if generic {
		pairs["generic"] = "true"
	}
	if deadline, ok := ctx.Deadline(); ok {
		pairs["timeout"] = strconv.FormatInt(max(time.Until(deadline).Milliseconds(), 1), 10)
	}
	return pairs
}

// collected are the attachments of answers.
type collected struct {
	mu    sync.Mutex
	pairs map[string]string
}

type attachmentsKey struct{}

// CollectAttachments returns a context whose calls of Dubbo providers collect what comes back beside the answers. The function, which several goroutines
// may call, returns a copy of what has come: texts, numbers and booleans, up to 64; a later answer changes what an earlier one has set.
func CollectAttachments(ctx context.Context) (collecting context.Context, attachments func() map[string]string) {
	a := new(collected)
	return context.WithValue(ctx, attachmentsKey{}, a), func() map[string]string {
		a.mu.Lock()
		defer a.mu.Unlock()
		return maps.Clone(a.pairs)
	}
}

// collect adds the attachments of an answer to those of the context, if it has any.
func collect(ctx context.Context, attachments map[string]any) {
	to, ok := ctx.Value(attachmentsKey{}).(*collected)
	if !ok {
		return
	}
	to.mu.Lock()
	defer to.mu.Unlock()
	for name, value := range attachments {
		text, ok := textOf(value)
		if _, known := to.pairs[name]; !ok || slices.Contains(ofProtocol, name) || !known && len(to.pairs) == inbound.MaxMetadata {
			continue
		}
		if to.pairs == nil {
			to.pairs = make(map[string]string)
		}
		to.pairs[name] = text
	}
}

// attachments takes what a handler says beside its output, for the answer.
type attachments struct {
	mu    sync.Mutex
	pairs map[string]string
}

// SetStatus implements gateway.Answer: Dubbo has no such status.
func (a *attachments) SetStatus(int) error { return nil }

// SetHeader implements gateway.Answer.
func (a *attachments) SetHeader(name, value string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pairs == nil {
		a.pairs = make(map[string]string)
	}
	a.pairs[name] = value
	return nil
}

// SetTrailer implements gateway.Answer.
func (a *attachments) SetTrailer(name, value string) error { return a.SetHeader(name, value) }

// taken returns what was set.
func (a *attachments) taken() map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return maps.Clone(a.pairs)
}

// with returns all, and the version of the protocol.
func (a *attachments) with(version string) map[string]string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.pairs == nil {
		return map[string]string{"dubbo": version}
	}
	pairs := maps.Clone(a.pairs)
	pairs["dubbo"] = version
	return pairs
}
