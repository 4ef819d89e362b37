package telemetry_test

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"strings"
	"testing"
	"time"

	"go.opentelemetry.io/otel/attribute"
	"go.opentelemetry.io/otel/codes"
	sdkmetric "go.opentelemetry.io/otel/sdk/metric"
	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.opentelemetry.io/otel/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/telemetry"
)

// spansOf flushes and returns what the exporter has, by name.
func spansOf(t *testing.T, tel *telemetry.Telemetry, exporter *tracetest.InMemoryExporter) map[string]tracetest.SpanStub {
	t.Helper()
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	byName := make(map[string]tracetest.SpanStub)
	for _, s := range exporter.GetSpans() {
		byName[s.Name] = s
	}
	return byName
}

// attr is an attribute as text, "" when the span has it not.
func attr(s tracetest.SpanStub, key string) string {
	for _, a := range s.Attributes {
		if string(a.Key) == key {
			return a.Value.String()
		}
	}
	return ""
}

// family is a service whose actions call each other.
func family() *sabir.Service {
	s := sabir.NewService("family")
	sabir.Handle(s, "grandmother", func(ctx context.Context, in helloRequest) (helloReply, error) {
		return sabir.Call[helloReply](ctx, s, "family.mother", in)
	})
	sabir.Handle(s, "mother", func(ctx context.Context, in helloRequest) (helloReply, error) {
		_ = sabir.Emit(ctx, s, "child.born", in)
		return sabir.Call[helloReply](ctx, s, "family.child", in)
	})
	sabir.Handle(s, "child", hello)
	sabir.On(s, "child.*", func(context.Context, helloRequest) error { return nil })
	return s
}

// bothWays runs a test with the exporter behind Traces and behind an SDK provider of the program's own.
func bothWays(t *testing.T, test func(t *testing.T, tel *telemetry.Telemetry, spans func() map[string]tracetest.SpanStub)) {
	t.Run("Traces", func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		tel := newTelemetry(t, telemetry.Config{Traces: exporter})
		test(t, tel, func() map[string]tracetest.SpanStub { return spansOf(t, tel, exporter) })
	})
	t.Run("TracerProvider", func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		provider := sdktrace.NewTracerProvider(sdktrace.WithSyncer(exporter))
		t.Cleanup(func() { _ = provider.Shutdown(context.Background()) })
		tel := newTelemetry(t, telemetry.Config{TracerProvider: provider})
		test(t, tel, func() map[string]tracetest.SpanStub { return spansOf(t, tel, exporter) })
	})
}

func TestNestedCallsAndEventsAreChildSpans(t *testing.T) {
	bothWays(t, func(t *testing.T, tel *telemetry.Telemetry, spans func() map[string]tracetest.SpanStub) {
		node := start(t, sabir.Serve(family()), sabir.Use(tel.Middleware()))
		if err := call(node, context.Background(), "family.grandmother"); err != nil {
			t.Fatal(err)
		}
		all := spans()
		if len(all) != 4 {
			t.Fatalf("%d spans, want 4: %v", len(all), all)
		}
		if all["family.grandmother"].Parent.IsValid() {
			t.Error("the root has a parent")
		}
		for child, parent := range map[string]string{"family.mother": "family.grandmother", "family.child": "family.mother", "handle child.*": "family.mother"} {
			c, p := all[child], all[parent]
			if c.Parent.SpanID() != p.SpanContext.SpanID() || c.SpanContext.TraceID() != p.SpanContext.TraceID() {
				t.Errorf("%s is no child of %s", child, parent)
			}
			if c.StartTime.Before(p.StartTime) || c.EndTime.After(p.EndTime) || c.EndTime.Before(c.StartTime) {
				t.Errorf("%s does not lie within %s", child, parent)
			}
		}
	})
}

func TestSpansHaveKindAndAttributesOfTheConventions(t *testing.T) {
	bothWays(t, func(t *testing.T, tel *telemetry.Telemetry, spans func() map[string]tracetest.SpanStub) {
		node := start(t, sabir.Serve(family()), sabir.Use(tel.Middleware()))
		if err := call(node, sabir.WithRequestID(t.Context(), "r1"), "family.mother"); err != nil {
			t.Fatal(err)
		}
		all := spans()
		rpc, event := all["family.child"], all["handle child.*"]
		if rpc.SpanKind != trace.SpanKindServer || event.SpanKind != trace.SpanKindConsumer {
			t.Errorf("the kinds are %v and %v", rpc.SpanKind, event.SpanKind)
		}
		for key, want := range map[string]string{"rpc.system.name": "sabir", "rpc.method": "family.child", "sabir.service": "family",
			"sabir.request_id": "r1", "error.type": ""} {
			if got := attr(rpc, key); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
		for key, want := range map[string]string{"messaging.system": "sabir", "messaging.destination.template": "child.*",
			"messaging.destination.name": "child.born", "sabir.service": "family"} {
			if got := attr(event, key); got != want {
				t.Errorf("%s is %q, want %q", key, got, want)
			}
		}
		if rpc.InstrumentationScope.Name != "github.com/sabir-go/sabir/telemetry" || rpc.Resource == nil {
			t.Errorf("scope %v, resource %v", rpc.InstrumentationScope, rpc.Resource)
		}
	})
}

func TestSpansOfEventsSayHowTheyWereEmitted(t *testing.T) {
	bothWays(t, func(t *testing.T, tel *telemetry.Telemetry, spans func() map[string]tracetest.SpanStub) {
		s := sabir.NewService("mail")
		for _, pattern := range []string{"chosen.*", "broadcast.*", "plain.*"} {
			sabir.On(s, pattern, func(context.Context, int) error { return nil })
		}
		node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
		err := errors.Join(sabir.Emit(t.Context(), node, "chosen.one", 1, sabir.Groups("mail", "stock")), sabir.Broadcast(t.Context(), node, "broadcast.one", 1),
			sabir.Emit(t.Context(), node, "plain.one", 1))
		if err != nil {
			t.Fatal(err)
		}
		for pattern, want := range map[string][2]string{"chosen.*": {"", `["mail","stock"]`}, "broadcast.*": {"true", ""}, "plain.*": {"", ""}} {
			span := spans()["handle "+pattern]
			if got := [2]string{attr(span, "sabir.event.broadcast"), attr(span, "sabir.event.groups")}; got != want {
				t.Errorf("%s: broadcast and groups are %q, want %q", pattern, got, want)
			}
		}
	})
}

func TestErrorsMarkTheSpan(t *testing.T) {
	cases := []struct {
		action, code, name string
		status             codes.Code
		exception          bool
	}{
		{"hello", "", "", codes.Unset, false},
		{"buy", "FailedPrecondition", "OutOfStock", codes.Unset, false}, // an answer, not a fault
		{"plain", "Unknown", "HandlerFailed", codes.Error, false},
		{"panic", "Internal", "Panic", codes.Error, true},
	}
	bothWays(t, func(t *testing.T, tel *telemetry.Telemetry, spans func() map[string]tracetest.SpanStub) {
		node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
		for _, c := range cases {
			_ = call(node, t.Context(), "v2.shop."+c.action)
		}
		all := spans()
		for _, c := range cases {
			s := all["v2.shop."+c.action]
			if got := attr(s, "rpc.response.status_code"); got != c.code {
				t.Errorf("%s: code %q, want %q", c.action, got, c.code)
			}
			if got := attr(s, "sabir.error.name"); got != c.name {
				t.Errorf("%s: name %q, want %q", c.action, got, c.name)
			}
			if s.Status.Code != c.status {
				t.Errorf("%s: status %v, want %v", c.action, s.Status.Code, c.status)
			}
			if (len(s.Events) == 1) != c.exception {
				t.Errorf("%s: events %v", c.action, s.Events)
			}
		}
		if events := all["v2.shop.panic"].Events; len(events) == 1 {
			has := func(key, part string) bool {
				return slices.ContainsFunc(events[0].Attributes, func(a attribute.KeyValue) bool {
					return string(a.Key) == key && strings.Contains(a.Value.AsString(), part)
				})
			}
			if events[0].Name != "exception" || !has("exception.message", "oh no") || !has("exception.stacktrace", "metrics_test.go") {
				t.Errorf("the exception event is %v", events[0])
			}
		}
	})
}

func TestTheTraceGoesOnWithACallToAnotherNode(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	far := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	// The link carries metadata and nothing else, as one over a wire does.
	near := start(t, sabir.Use(tel.Middleware()), sabir.WithUpstream(peer(func(ctx context.Context, r *sabir.Request) error {
		arrived := context.Background()
		for key, value := range sabir.InfoFromContext(ctx).Metadata {
			arrived = sabir.WithMetadata(arrived, key, value)
		}
		return call(far, arrived, "v2."+r.Action().Name)
	})))
	if err := call(near, t.Context(), "shop.hello"); err != nil {
		t.Fatal(err)
	}
	all := spansOf(t, tel, exporter)
	client, server := all["shop.hello"], all["v2.shop.hello"]
	if client.SpanKind != trace.SpanKindClient {
		t.Errorf("the sender's span is %v", client.SpanKind)
	}
	if server.Parent.SpanID() != client.SpanContext.SpanID() || server.SpanContext.TraceID() != client.SpanContext.TraceID() {
		t.Error("the span over there is no child of the sender's")
	}
	if !server.Parent.IsRemote() {
		t.Error("the parent is not marked as remote")
	}
}

func TestASpanInTheContextGoesBeforeMetadata(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	node := start(t, sabir.Serve(family()), sabir.Use(tel.Middleware()))
	ctx := sabir.WithMetadata(t.Context(), "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if err := call(node, ctx, "family.grandmother"); err != nil {
		t.Fatal(err)
	}
	all := spansOf(t, tel, exporter)
	if got := all["family.grandmother"].Parent.SpanID().String(); got != "b7ad6b7169203331" {
		t.Errorf("the root's parent is %s", got)
	}
	if all["family.mother"].Parent.SpanID() != all["family.grandmother"].SpanContext.SpanID() {
		t.Error("the nested call took its parent from the metadata")
	}
}

func TestACallWhoseCallerDecidedAgainstTracingIsNotTraced(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	node := start(t, sabir.Serve(family()), sabir.Use(tel.Middleware()))
	ctx := sabir.WithMetadata(t.Context(), "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-00")
	if err := call(node, ctx, "family.grandmother"); err != nil {
		t.Fatal(err)
	}
	if all := spansOf(t, tel, exporter); len(all) != 0 {
		t.Errorf("%d spans, want none", len(all))
	}
}

func TestTheSpanOfACallShowsThatItsCallerDidNotWait(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		tel, err := telemetry.New(telemetry.Config{Traces: exporter})
		if err != nil {
			t.Fatal(err)
		}
		s := sabir.NewService("slow")
		sabir.Handle(s, "deaf", func(context.Context, helloRequest) (helloReply, error) {
			time.Sleep(3 * time.Second) // in the bubble's time
			return helloReply{}, nil
		})
		node := sabir.NewNode(sabir.Serve(s), sabir.Use(tel.Middleware()), sabir.Logger(quiet))
		if err := node.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		_, err = sabir.Call[helloReply](context.Background(), node, "slow.deaf", helloRequest{}, sabir.WithTimeout(time.Second))
		if !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		span := spansOf(t, tel, exporter)["slow.deaf"]
		if attr(span, "rpc.response.status_code") != "DeadlineExceeded" || span.Status.Code != codes.Error {
			t.Errorf("the span is %v with status %v", span.Attributes, span.Status)
		}
		if durations := span.EndTime.Sub(span.StartTime); durations != 3*time.Second {
			t.Errorf("it took %v, want 3s", durations)
		}
		if err := node.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestSampleRatioTracesWholeTracesOrNone(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter, SampleRatio: 0.5})
	node := start(t, sabir.Serve(family()), sabir.Use(tel.Middleware()))
	const calls = 400
	for range calls {
		_ = call(node, context.Background(), "family.grandmother")
	}
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	sizes := map[trace.TraceID]int{}
	for _, s := range exporter.GetSpans() {
		sizes[s.SpanContext.TraceID()]++
	}
	if n := len(sizes); n < calls/4 || n > calls*3/4 { // 10 standard deviations
		t.Errorf("%d of %d calls are traced", n, calls)
	}
	for id, n := range sizes {
		if n != 4 {
			t.Errorf("trace %v has %d spans, want 4", id, n)
		}
	}
}

func TestSpansThatHandlersStartAreInTheSameTrace(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter})
	s := sabir.NewService("db")
	sabir.Handle(s, "get", func(ctx context.Context, _ helloRequest) (helloReply, error) {
		trace.SpanFromContext(ctx).SetAttributes(attribute.Int("rows", 3), attribute.String("sabir.service", "mine"))
		ctx, query := tel.TracerProvider().Tracer("sql").Start(ctx, "SELECT")
		defer query.End()
		return sabir.Call[helloReply](ctx, s, "db.below", helloRequest{})
	})
	sabir.Handle(s, "below", hello)
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	if err := call(node, t.Context(), "db.get"); err != nil {
		t.Fatal(err)
	}
	all := spansOf(t, tel, exporter)
	get, query, below := all["db.get"], all["SELECT"], all["db.below"]
	if query.Parent.SpanID() != get.SpanContext.SpanID() || below.Parent.SpanID() != query.SpanContext.SpanID() {
		t.Errorf("the spans do not hang together: %v", all)
	}
	if attr(get, "rows") != "3" || attr(get, "sabir.service") != "mine" || attr(below, "sabir.service") != "db" {
		t.Errorf("the attributes are %v and %v", get.Attributes, below.Attributes)
	}
}

func TestInjectAndExtractAreInverse(t *testing.T) {
	state, err := trace.ParseTraceState("vendor=1")
	if err != nil {
		t.Fatal(err)
	}
	there := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}, TraceFlags: trace.FlagsSampled, TraceState: state})
	sent := telemetry.Inject(trace.ContextWithSpanContext(t.Context(), there))
	arrived := t.Context()
	for key, value := range sabir.InfoFromContext(sent).Metadata {
		arrived = sabir.WithMetadata(arrived, key, value)
	}
	if got := trace.SpanContextFromContext(telemetry.Extract(arrived)); !got.Equal(there.WithRemote(true)) {
		t.Errorf("got %v, want %v", got, there)
	}
}

func TestExtractLeavesAContextThatIsInATraceAsItIs(t *testing.T) {
	here := trace.NewSpanContext(trace.SpanContextConfig{TraceID: trace.TraceID{1}, SpanID: trace.SpanID{2}})
	ctx := sabir.WithMetadata(trace.ContextWithSpanContext(t.Context(), here), "traceparent", "00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01")
	if telemetry.Extract(ctx) != ctx {
		t.Error("the context was changed")
	}
}

func FuzzExtract(f *testing.F) {
	f.Add("00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01", "vendor=1")
	f.Add("00-00000000000000000000000000000000-0000000000000000-00", "")
	f.Add("ff-zz", ",,=")
	f.Fuzz(func(t *testing.T, parent, state string) {
		ctx := sabir.WithMetadata(sabir.WithMetadata(context.Background(), "traceparent", parent), "tracestate", state)
		got := telemetry.Extract(ctx)
		sc := trace.SpanContextFromContext(got)
		if !sc.IsValid() && got != ctx {
			t.Errorf("%q gave %v", parent, sc)
		}
		if sc.IsValid() && !strings.Contains(parent, sc.SpanID().String()) {
			t.Errorf("%q gave the span %s", parent, sc.SpanID())
		}
	})
}

func TestTracesAndTracerProviderExcludeEachOther(t *testing.T) {
	_, err := telemetry.New(telemetry.Config{Traces: tracetest.NewInMemoryExporter(), TracerProvider: sdktrace.NewTracerProvider()})
	if err == nil || !strings.Contains(err.Error(), "exclude") {
		t.Error(err)
	}
}

func TestSettingsThatMakeNoSenseAreRefused(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	for name, config := range map[string]telemetry.Config{
		"a nil metric exporter":      {MetricExporters: []sdkmetric.Exporter{nil}},
		"a share above 1":            {Traces: exporter, SampleRatio: 1.5},
		"a share and a sampler":      {Traces: exporter, SampleRatio: 0.5, Sampler: sdktrace.NeverSample()},
		"a queue below a batch":      {Traces: exporter, SpanQueue: 1},
		"a share of nothing":         {SampleRatio: 0.5},
		"a sampler of nothing":       {Sampler: sdktrace.NeverSample()},
		"a queue for nothing":        {SpanQueue: 1024},
		"a level without a call log": {EachCall: slog.LevelInfo},
	} {
		if _, err := telemetry.New(config); err == nil {
			t.Errorf("%s: taken", name)
		}
	}
}

var errExport = errors.New("collector is down")
