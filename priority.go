package sabir

import (
	"context"

	"github.com/sabir-go/sabir/internal/admission"
)

// Critical returns a context whose calls go before all others where more come to a node than it can answer: for what users wait for, or
// money depends on. See [Sheddable] for how a priority travels.
func Critical(ctx context.Context) context.Context {
	return WithMetadata(ctx, admission.MetadataKey, admission.CriticalValue)
}

// Sheddable returns a context whose calls are the first that a node refuses when more calls come than it can answer: for what can be left
// out or come later, such as prefetching, backfills and statistics. Calls are normal without it and [Critical]; among these, one nested in
// another one goes before one that begins, as what was done for it already would be lost.
//
// The priority counts at other nodes and over HTTP too, and in all calls nested in one: it travels as metadata, under the key
// "sabir-priority", whose empty value makes calls normal again. Calls within a process do not wait, and have no use for it. A client over
// HTTP may say with the header X-Meta-Sabir-Priority that its request is sheddable, and not that it is critical.
func Sheddable(ctx context.Context) context.Context {
	return WithMetadata(ctx, admission.MetadataKey, admission.SheddableValue)
}
