package sabir

import (
	"context"

	"github.com/sabir-go/sabir/internal/admission"
)

// Priority decides which calls a node refuses first when it is asked for more than it can do. See [WithPriority].
type Priority uint8

// The priorities there are.
const (
	// PriorityNormal is the default. Among these, a call nested in another one goes before one that begins: what was
	// done for it already would be lost.
	PriorityNormal Priority = iota
	// PriorityCritical is for what users wait for, or money depends on: it goes before all others.
	PriorityCritical
	// PrioritySheddable is for what can be left out or come later, such as prefetching, backfills and statistics: it goes last.
	PrioritySheddable
)

// WithPriority returns a context whose calls have a priority, at other nodes and over HTTP too, and in all calls nested in them: it
// travels as metadata, under the key "sabir-priority". Calls within a process do not wait, and have no use for it. A client over
// HTTP may say with the header X-Meta-Sabir-Priority that its request is sheddable, and not that it is critical.
func WithPriority(ctx context.Context, p Priority) context.Context {
	switch p {
	case PriorityCritical:
		return WithMetadata(ctx, admission.MetadataKey, admission.CriticalValue)
	case PrioritySheddable:
		return WithMetadata(ctx, admission.MetadataKey, admission.SheddableValue)
	}
	if metadataOf(ctx)[admission.MetadataKey] == "" {
		return ctx
	}
	return WithMetadata(ctx, admission.MetadataKey, "")
}
