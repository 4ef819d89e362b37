package telemetry

import (
	"context"

	"go.opentelemetry.io/otel/codes"
	semconv "go.opentelemetry.io/otel/semconv/v1.43.0"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
)

// tracer starts spans: own ones, or those of the program's provider.
type tracer struct {
	own     *ownTracer
	foreign trace.Tracer
	values  *values // nil for none
}

// begin starts the span of a call. A call that comes from another node continues the trace in its metadata.
func (t *tracer) begin(ctx context.Context, of *spanKind) (context.Context, trace.Span) {
	from := trace.SpanContextFromContext(ctx)
	if !from.IsValid() && sabir.InfoFromContext(ctx).Metadata != nil {
		ctx = Extract(ctx)
		from = trace.SpanContextFromContext(ctx)
	}
	var s trace.Span
	if t.own != nil {
		ctx, s = t.own.start(ctx, of, from)
	} else {
		ctx, s = t.foreign.Start(ctx, of.name, of.options...)
	}
	if id := sabir.InfoFromContext(ctx).RequestID; id != "" && s.IsRecording() {
		s.SetAttributes(requestIDKey.String(id))
	}
	return ctx, s
}

// isFault reports whether an error of this code is the handling side's fault, by the rule that the semantic conventions
// have for gRPC, whose codes Sabir's are. The other codes are answers.
func isFault(code sabir.Code) bool {
	switch code {
	case sabir.CodeUnknown, sabir.CodeDeadlineExceeded, sabir.CodeUnimplemented, sabir.CodeInternal, sabir.CodeUnavailable, sabir.CodeDataLoss:
		return true
	}
	return false
}

// finish ends the span of work that returned err.
func (of *spanKind) finish(s trace.Span, err error) {
	if err != nil && s.IsRecording() {
		e := sabir.AsError(err)
		s.SetAttributes(statusKey.String(e.Code.String()), errorTypeKey.String(e.Code.String()), errorNameKey.String(e.Name))
		if of.kind != trace.SpanKindServer || isFault(e.Code) {
			s.SetStatus(codes.Error, e.Error())
		}
		if stack := e.Stack(); stack != nil {
			s.AddEvent(semconv.ExceptionEventName, trace.WithAttributes(semconv.ExceptionType(e.Name),
				semconv.ExceptionMessage(panicText(e)), semconv.ExceptionStacktrace(string(stack))))
		}
	}
	s.End()
}

// panicText is the cause of a panic's error; its message only names the action.
func panicText(e *sabir.Error) string {
	if cause := e.Unwrap(); cause != nil {
		return cause.Error()
	}
	return e.Message
}

// call traces the calls, or the streams, of one action.
func (t *tracer) call(kind trace.SpanKind, a *sabir.Action, next sabir.Handler) sabir.Handler {
	of := newSpanKind(a.Name, kind, systemKey.String(system), methodKey.String(a.Name), serviceKey.String(serviceOf(a)))
	values := t.values.of(a.Name)
	released := kind == trace.SpanKindServer && !a.Inline && !a.Stream
	return func(ctx context.Context, r *sabir.Request) error {
		ctx, s := t.begin(ctx, of)
		err := error(sabir.ErrPanic) // unless next returns
		defer func() { of.finish(s, err) }()
		if values != nil && !a.Stream {
			values.set(s, inputKey, r.Input())
		}
		returned := next(ctx, r)
		err = outcome(ctx, released, returned)
		if values != nil && !a.Stream && err == nil {
			values.set(s, outputKey, r.Output())
		}
		return returned
	}
}

// event traces what one handler of events handles. The span is named after the pattern, since patterns are few.
func (t *tracer) event(sub *sabir.Subscription, next sabir.EventHandler) sabir.EventHandler {
	of := newSpanKind("handle "+sub.Pattern, trace.SpanKindConsumer,
		messagingKey.String(system), operationKey.String("handle"), operationTypeKey.String("process"),
		templateKey.String(sub.Pattern), groupKey.String(sub.Group), serviceKey.String(sub.Service))
	return func(ctx context.Context, e *sabir.Event) error {
		ctx, s := t.begin(ctx, of)
		t.values.of(e.Name).set(s, inputKey, e.Payload())
		if s.IsRecording() {
			describeEvent(ctx, s, e)
		}
		err := error(sabir.ErrPanic) // unless next returns
		defer func() { of.finish(s, err) }()
		err = next(ctx, e)
		return err
	}
}

// describeEvent sets what is not the same for all events that a handler gets.
func describeEvent(ctx context.Context, s trace.Span, e *sabir.Event) {
	if e.Name != e.Subscription.Pattern {
		s.SetAttributes(destinationKey.String(e.Name))
	}
	info := sabir.InfoFromContext(ctx)
	if info.Broadcast {
		s.SetAttributes(broadcastKey.Bool(true))
	}
	if info.Groups != nil {
		s.SetAttributes(groupsKey.StringSlice(info.Groups))
	}
}
