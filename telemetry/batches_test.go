package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"
	"go.uber.org/goleak"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
)

// exportFunc is an exporter made of a function.
type exportFunc func(ctx context.Context, spans []sdktrace.ReadOnlySpan) error

func (f exportFunc) ExportSpans(ctx context.Context, spans []sdktrace.ReadOnlySpan) error {
	return f(ctx, spans)
}
func (f exportFunc) Shutdown(context.Context) error { return nil }

// buffer is a log that tests read.
type buffer struct {
	mu   sync.Mutex
	text strings.Builder
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func TestSpansThatDoNotFitInTheQueueAreCountedAndLogged(t *testing.T) {
	release := make(chan bool)
	var lines buffer
	tel := newTelemetry(t, telemetry.Config{Prometheus: true, CallLog: slog.New(slog.NewTextHandler(&lines, nil)), Traces: exportFunc(func(context.Context, []sdktrace.ReadOnlySpan) error { <-release; return nil }), SpanQueue: 1024})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	const calls = 3000
	for range calls {
		_ = call(node, context.Background(), "v2.shop.hello")
	}
	if c := tel.Spans(); c.QueueFull != calls-1024 || c.Ended != calls {
		t.Errorf("%+v, want %d lost", c, calls-1024)
	}
	close(release)
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	p := scrape(t, tel)
	p.expect(t, "otel_sdk_processor_span_processed_total", labels{"error_type": "queue_full"}, calls-1024)
	p.expect(t, "otel_sdk_exporter_span_exported_total", labels{}, 1024)
	if !strings.Contains(lines.String(), "spans lost") {
		t.Errorf("the log says %q", lines.String())
	}
}

func TestSpansThatTheExporterRefusesAreCounted(t *testing.T) {
	for name, export := range map[string]exportFunc{
		"error": func(context.Context, []sdktrace.ReadOnlySpan) error { return errExport },
		"panic": func(context.Context, []sdktrace.ReadOnlySpan) error { panic(errExport) },
	} {
		t.Run(name, func(t *testing.T) {
			tel := newTelemetry(t, telemetry.Config{CallLog: quiet, Traces: export})
			node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
			_ = call(node, context.Background(), "v2.shop.hello")
			if err := tel.Flush(t.Context()); err == nil || !strings.Contains(err.Error(), "collector is down") {
				t.Errorf("the error is %v", err)
			}
			if c := tel.Spans(); c.Failed != 1 || c.Dropped() != 1 || c.Exported != 0 {
				t.Errorf("%+v", c)
			}
		})
	}
}

func TestALossThatIsLoggedLaterIsLoggedWithItsReason(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var lines buffer
		failing := []error{errors.New("first"), errors.New("second"), nil}
		tel := newTelemetry(t, telemetry.Config{CallLog: slog.New(slog.NewTextHandler(&lines, nil)), Traces: exportFunc(func(context.Context, []sdktrace.ReadOnlySpan) (err error) {
			err, failing = failing[0], failing[1:]
			return err
		})})
		node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
		for range 3 {
			_ = call(node, t.Context(), "v2.shop.hello")
			_ = tel.Flush(t.Context())
		}
		time.Sleep(time.Minute)
		_ = call(node, t.Context(), "v2.shop.hello")
		failing = []error{nil}
		_ = tel.Flush(t.Context())
		if text := lines.String(); strings.Count(text, "msg=") != 2 || !strings.Contains(text, "lost: second") {
			t.Errorf("the log says\n%s", text)
		}
	})
}

// PartialSuccess has the name and the fields of the error that otlptracehttp and otlptracegrpc return.
type PartialSuccess struct {
	ErrorMessage  string
	RejectedItems int64
	RejectedKind  string
}

func (p PartialSuccess) Error() string { return "OTLP partial success: " + p.ErrorMessage }

func TestSpansThatACollectorTookBesideThoseItRefusedAreNotLost(t *testing.T) {
	for rejected, want := range map[int64]telemetry.SpanCounts{
		0:   {Ended: 3, Exported: 3}, // a warning
		1:   {Ended: 3, Exported: 2, Failed: 1},
		100: {Ended: 3, Failed: 3}, // more than there are
	} {
		partial := fmt.Errorf("traces export: %w", errors.Join(nil, PartialSuccess{"too old", rejected, "spans"}))
		tel := newTelemetry(t, telemetry.Config{CallLog: quiet, Traces: exportFunc(func(context.Context, []sdktrace.ReadOnlySpan) error { return partial })})
		node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
		for range 3 {
			_ = call(node, context.Background(), "v2.shop.hello")
		}
		if err := tel.Flush(t.Context()); !errors.Is(err, partial) {
			t.Errorf("flushing: %v, want what the collector said", err)
		}
		if c := tel.Spans(); c != want {
			t.Errorf("of 3 spans the collector refused %d: got %+v, want %+v", rejected, c, want)
		}
	}
}

func TestStoppingTheNodeFlushes(t *testing.T) {
	var c counter
	tel := newTelemetry(t, telemetry.Config{Traces: &c})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	for range 10 {
		_ = call(node, context.Background(), "v2.shop.hello")
	}
	stop(t, node)
	if c.spans.Load() != 10 {
		t.Errorf("%d spans arrived, want 10", c.spans.Load())
	}
}

func TestTheLastNodeToStopShutsDown(t *testing.T) {
	var c counter
	tel := newTelemetry(t, telemetry.Config{CallLog: quiet, Traces: &c})
	first := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	second := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	stop(t, first)
	_ = call(second, context.Background(), "v2.shop.hello")
	stop(t, second)
	if c.spans.Load() != 1 || tel.Spans().Late != 0 {
		t.Errorf("%+v", tel.Spans())
	}
	_ = call(second, context.Background(), "v2.shop.hello") // its services are gone: no span
	if tel.Spans().Ended != 1 {
		t.Errorf("%+v", tel.Spans())
	}
}

func TestANodeThatFailsToStartShutsDownToo(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Traces: &counter{}})
	bad := sabir.NewService("bad", sabir.OnStart(func(context.Context) error { return errExport }))
	node := sabir.NewNode(sabir.Serve(bad), sabir.Use(tel.Middleware()), sabir.Logger(quiet))
	if err := node.Start(t.Context()); !errors.Is(err, errExport) {
		t.Fatal(err)
	}
	_, late := tel.TracerProvider().Tracer("x").Start(t.Context(), "late")
	late.End()
	if late.IsRecording() {
		t.Error("the tracer provider was not shut down")
	}
}

func TestTracesOfANodeThatNeverStartsHaveNoGoroutine(t *testing.T) {
	none := goleak.IgnoreCurrent()
	if _, err := telemetry.New(telemetry.Config{Traces: &counter{}}); err != nil {
		t.Fatal(err)
	}
	goleak.VerifyNone(t, none)
}

func TestAShutdownThatTakesTooLongSaysWhatIsLost(t *testing.T) {
	exporting := make(chan bool)
	tel := newTelemetry(t, telemetry.Config{CallLog: quiet, Traces: exportFunc(func(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
		close(exporting)
		<-ctx.Done()
		return ctx.Err()
	})})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	_ = call(node, context.Background(), "v2.shop.hello")
	ctx, cancel := context.WithCancel(context.Background())
	go func() { <-exporting; cancel() }()
	err := tel.Shutdown(ctx)
	if err == nil || !strings.Contains(err.Error(), "the last 1 spans") {
		t.Errorf("the error is %v", err)
	}
	if again := tel.Shutdown(context.Background()); again != err {
		t.Errorf("the second shutdown says %v", again)
	}
	_ = node.Stop(context.Background())
}

func TestAStopWithoutADeadlineLeavesACollectorThatDoesNotAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		tel := newTelemetry(t, telemetry.Config{CallLog: quiet, Traces: exportFunc(func(ctx context.Context, _ []sdktrace.ReadOnlySpan) error {
			<-ctx.Done()
			return ctx.Err()
		})})
		node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
		const calls = 2000 // in several batches
		for range calls {
			_ = call(node, t.Context(), "v2.shop.hello")
		}
		began := time.Now()
		err := node.Stop(context.Background())
		if err == nil || !strings.Contains(err.Error(), fmt.Sprintf("the last %d spans", calls)) || time.Since(began) > 10*time.Second {
			t.Errorf("after %v the stop says %v", time.Since(began), err)
		}
	})
}

func TestSpansAfterShutdownAreCountedAsLate(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{CallLog: quiet, Traces: exporter})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	if err := tel.Shutdown(context.Background()); err != nil {
		t.Fatal(err)
	}
	if err := call(node, context.Background(), "v2.shop.hello"); err != nil {
		t.Fatal(err)
	}
	if c := tel.Spans(); c.Late != 1 || c.Ended != 1 {
		t.Errorf("%+v", c)
	}
}
