package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/propagation"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
)

// w3c writes and reads traceparent and tracestate (https://www.w3.org/TR/trace-context/).
var w3c = propagation.TraceContext{}

// Inject returns a context whose metadata names the trace that ctx is in, as traceparent and tracestate, so that it goes
// with calls, streams and events to other nodes. The middleware of a node does it; custom transports that carry metadata
// need nothing more. Without a span in ctx it is ctx.
func Inject(ctx context.Context) context.Context {
	if !trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	pairs := propagation.MapCarrier{}
	w3c.Inject(ctx, pairs)
	if _, has := pairs["tracestate"]; !has && sabir.InfoFromContext(ctx).Metadata["tracestate"] != "" {
		pairs["tracestate"] = "" // of a trace that this one is not
	}
	for key, value := range pairs {
		ctx = sabir.WithMetadata(ctx, key, value)
	}
	return ctx
}

// Extract returns a context that continues the trace that the metadata of ctx names, as Inject wrote it. A context that is
// in a trace already, and one whose metadata names none that is valid, come back as they were.
func Extract(ctx context.Context) context.Context {
	pairs := sabir.InfoFromContext(ctx).Metadata
	if pairs["traceparent"] == "" || trace.SpanContextFromContext(ctx).IsValid() {
		return ctx
	}
	return w3c.Extract(ctx, propagation.MapCarrier(pairs))
}
