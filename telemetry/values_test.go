package telemetry_test

import (
	"context"
	"strings"
	"sync/atomic"
	"testing"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"
	"go.opentelemetry.io/otel/sdk/trace/tracetest"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/telemetry"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func TestSpansTellInputsAndOutputsOfWhatIsAskedFor(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		exporter := tracetest.NewInMemoryExporter()
		tel := newTelemetry(t, telemetry.Config{Traces: exporter, Values: []string{"family.*", "child.*"}, Hidden: []string{"text"}})
		s := family()
		sabir.Handle(s, "fails", func(context.Context, helloRequest) (helloReply, error) { return helloReply{}, sabir.ErrBadInput })
		other := sabir.NewService("other")
		sabir.Handle(other, "hello", hello)
		node := start(t, sabir.Serve(s, other), sabir.Use(tel.Middleware()))
		for _, name := range []string{"family.grandmother", "other.hello", "family.fails"} {
			_, _ = sabir.Call[helloReply](t.Context(), node, name, helloRequest{"Ada", 36})
		}
		bubbletest.Wait()
		spans := spansOf(t, tel, exporter)
		const in, out = `{"name":"Ada","age":36}`, `{"text":"(hidden)","age":37}`
		for name, want := range map[string][2]string{
			"family.grandmother": {in, out}, "family.child": {in, out}, "family.fails": {in, ""}, "other.hello": {}, "handle child.*": {in, ""},
		} {
			span, ok := spans[name]
			if got := [2]string{attr(span, "sabir.input"), attr(span, "sabir.output")}; !ok || got != want {
				t.Errorf("%s (found: %v): %q, want %q", name, ok, got, want)
			}
		}
	})
}

func TestTheSpanOfACallToAnotherNodeTellsItsInputAndOutput(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter, Values: []string{"**"}})
	address := "mem://" + t.Name()
	startNamed(t, "server", sabir.Serve(family()), sabir.Join(address))
	caller := start(t, sabir.Use(tel.Middleware()), sabir.Join(address))
	if _, err := sabir.Call[helloReply](t.Context(), caller, "family.child", helloRequest{"Ada", 36}); err != nil {
		t.Fatal(err)
	}
	span := spansOf(t, tel, exporter)["family.child"]
	if in, out := attr(span, "sabir.input"), attr(span, "sabir.output"); in != `{"name":"Ada","age":36}` || out != `{"text":"Ada","age":37}` {
		t.Errorf("%v: input %s, output %s", span.SpanKind, in, out)
	}
}

type counted struct{ read *atomic.Int64 }

func (c counted) MarshalText() ([]byte, error) {
	c.read.Add(1)
	return []byte("read"), nil
}

func TestValuesOfCallsThatAreNotTracedAreNotRead(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Traces: tracetest.NewInMemoryExporter(), Sampler: sdktrace.NeverSample(), Values: []string{"**"}})
	var read atomic.Int64
	s := sabir.NewService("counts")
	sabir.Handle(s, "echo", func(_ context.Context, in counted) (counted, error) { return in, nil })
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	if _, err := sabir.Call[counted](t.Context(), node, "counts.echo", counted{&read}); err != nil || read.Load() > 0 {
		t.Errorf("read %d times, %v", read.Load(), err)
	}
}

func TestWrongSettingsOfValuesAreNamed(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	for want, config := range map[string]telemetry.Config{
		"both Traces and TracerProvider are nil": {Values: []string{"**"}},
		"Hidden is of Values":                    {Traces: exporter, Hidden: []string{"a"}},
		"Values: ":                               {Traces: exporter, Values: []string{"a..b"}},
	} {
		if _, err := telemetry.New(config); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
	}
}

type opening struct {
	Box string `json:"box"`
	Pin string `json:"pin" sabir:"secret"`
}

// Only the node that handles the call knows the tags of its types.
func TestAGatewayShowsNothingOfWhatItForwards(t *testing.T) {
	exporter := tracetest.NewInMemoryExporter()
	tel := newTelemetry(t, telemetry.Config{Traces: exporter, Values: []string{"**"}})
	vault := sabir.NewService("vault")
	sabir.Handle(vault, "open", func(_ context.Context, in opening) (opening, error) { return in, nil })
	address := "mem://" + t.Name()
	startNamed(t, "server", sabir.Serve(vault), sabir.Use(tel.Middleware()), sabir.Join(address))
	caller := start(t, sabir.Use(tel.Middleware()), sabir.Join(address))
	if _, err := sabir.CallJSON(t.Context(), caller, "vault.open", []byte(`{"box":"b","pin":"1234"}`)); err != nil {
		t.Fatal(err)
	}
	if err := tel.Flush(t.Context()); err != nil {
		t.Fatal(err)
	}
	shown := 0
	for _, span := range exporter.GetSpans() {
		for _, a := range span.Attributes {
			if strings.Contains(a.Value.String(), "1234") {
				t.Errorf("the %v span has %s = %s", span.SpanKind, a.Key, a.Value.String())
			}
		}
		if attr(span, "sabir.input") == `{"box":"b","pin":"(hidden)"}` {
			shown++
		}
	}
	if shown != 1 {
		t.Errorf("%d spans have the input, want that of the node that handled it", shown)
	}
}
