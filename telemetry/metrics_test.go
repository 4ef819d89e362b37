package telemetry_test

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"strings"
	"sync"
	"testing"
	"time"

	"go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/bubbletest"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/telemetry"
)

var quiet = slog.New(slog.DiscardHandler)

var errOutOfStock = sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough in stock")

// shop is a service whose actions end in every way.
func shop() *sabir.Service {
	s := sabir.NewService("shop", sabir.Version(2))
	sabir.Handle(s, "hello", hello)
	sabir.Handle(s, "buy", func(context.Context, helloRequest) (helloReply, error) { return helloReply{}, errOutOfStock })
	sabir.Handle(s, "plain", func(context.Context, helloRequest) (helloReply, error) {
		return helloReply{}, errors.New("disk full")
	})
	sabir.Handle(s, "panic", func(context.Context, helloRequest) (helloReply, error) { panic("oh no") })
	sabir.Handle(s, "invalid", func(context.Context, checkedRequest) (helloReply, error) { return helloReply{}, nil })
	return s
}

type checkedRequest struct {
	Name string `json:"name" validate:"required"`
}

func call(node sabir.Caller, ctx context.Context, action string) error {
	_, err := sabir.Call[helloReply](ctx, node, action, helloRequest{Age: 1})
	return err
}

func ofAction(service, action string) labels {
	return labels{"rpc_system_name": "sabir", "rpc_method": service + "." + action, "sabir_service": service}
}

func TestEveryCallIsCountedByServiceAndAction(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	for range 7 {
		_ = call(node, t.Context(), "v2.shop.hello")
	}
	for range 3 {
		_ = call(node, t.Context(), "shop.hello") // the same action by its other name
	}
	p := scrape(t, tel)
	hello := ofAction("v2.shop", "hello")
	p.expect(t, "sabir_server_calls_total", hello, 10)
	p.expect(t, "sabir_server_active", hello, 0)
	p.expect(t, "sabir_server_calls_total", ofAction("v2.shop", "buy"), 0)
	p.expectTimes(t, "rpc_server_call_duration_seconds", hello.and("rpc_response_status_code", "OK"), 10)
}

func TestErrorsAreCountedByCodeAndName(t *testing.T) {
	cases := []struct{ action, code, name string }{
		{"buy", "FailedPrecondition", "OutOfStock"},
		{"plain", "Unknown", "HandlerFailed"},
		{"panic", "Internal", "Panic"},
		{"invalid", "InvalidArgument", "ValidationFailed"},
	}
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	for i, c := range cases {
		for range i + 1 {
			if call(node, t.Context(), "v2.shop."+c.action) == nil {
				t.Fatalf("%s did not fail", c.action)
			}
		}
	}
	p := scrape(t, tel)
	for i, c := range cases {
		of := ofAction("v2.shop", c.action)
		failed := of.and("rpc_response_status_code", c.code).and("error_type", c.code)
		p.expect(t, "sabir_server_errors_total", failed.and("sabir_error_name", c.name), float64(i+1))
		p.expect(t, "sabir_server_calls_total", of, float64(i+1))
		p.expect(t, "sabir_server_active", of, 0)
		p.expectTimes(t, "rpc_server_call_duration_seconds", failed, uint64(i+1))
		p.expectTimes(t, "rpc_server_call_duration_seconds", of.and("rpc_response_status_code", "OK"), 0)
	}
}

func TestAPanicOfAMiddlewareInsideIsCountedToo(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	bad := sabir.Middleware{Name: "bad", Local: func(*sabir.Action, sabir.Handler) sabir.Handler {
		return func(context.Context, *sabir.Request) error { panic("in a middleware") }
	}}
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware(), bad))
	if err := call(node, t.Context(), "v2.shop.hello"); !errors.Is(err, sabir.ErrPanic) {
		t.Fatal(err)
	}
	p := scrape(t, tel)
	of := ofAction("v2.shop", "hello")
	p.expect(t, "sabir_server_errors_total", of.and("rpc_response_status_code", "Internal").and("error_type", "Internal").and("sabir_error_name", "Panic"), 1)
	p.expect(t, "sabir_server_active", of, 0)
}

func TestCallsInFlightAreCounted(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	s := sabir.NewService("slow")
	begun, release := make(chan bool), make(chan bool)
	sabir.Handle(s, "wait", func(context.Context, helloRequest) (helloReply, error) {
		begun <- true
		<-release
		return helloReply{}, nil
	})
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	done := make(chan error)
	for range 3 {
		go func() { done <- call(node, context.Background(), "slow.wait") }()
		<-begun
	}
	p := scrape(t, tel)
	p.expect(t, "sabir_server_active", ofAction("slow", "wait"), 3)
	p.expect(t, "sabir_server_calls_total", ofAction("slow", "wait"), 0)
	close(release)
	for range 3 {
		<-done
	}
	p = scrape(t, tel)
	p.expect(t, "sabir_server_active", ofAction("slow", "wait"), 0)
	p.expect(t, "sabir_server_calls_total", ofAction("slow", "wait"), 3)
}

func TestACallWhoseCallerReturnedAtTheDeadlineIsAnError(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		tel, err := telemetry.New(telemetry.Config{Prometheus: true})
		if err != nil {
			t.Fatal(err)
		}
		s := sabir.NewService("slow")
		sabir.Handle(s, "deaf", func(context.Context, helloRequest) (helloReply, error) {
			time.Sleep(3 * time.Second) // in the bubble's time
			return helloReply{}, nil
		})
		node := sabir.NewNode(sabir.Serve(s), sabir.Use(tel.Middleware()))
		if err := node.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		_, err = sabir.Call[helloReply](context.Background(), node, "slow.deaf", helloRequest{}, sabir.WithTimeout(time.Second))
		if !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
		time.Sleep(3 * time.Second)
		p := scrape(t, tel)
		failed := ofAction("slow", "deaf").and("rpc_response_status_code", "DeadlineExceeded").and("error_type", "DeadlineExceeded")
		p.expect(t, "sabir_server_errors_total", failed.and("sabir_error_name", "DeadlineExceeded"), 1)
		if durations := p.find("rpc_server_call_duration_seconds", failed).GetHistogram().GetSampleSum(); durations != 3 {
			t.Errorf("it took %v s, want 3", durations)
		}
		if err := node.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestADurationIsInTheBucketWhoseBoundItDoesNotExceed(t *testing.T) {
	bubbletest.Run(t, func(t *testing.T) {
		tel, err := telemetry.New(telemetry.Config{Prometheus: true, Buckets: []float64{0.5, 1, 2}})
		if err != nil {
			t.Fatal(err)
		}
		s := sabir.NewService("sleep")
		sabir.Handle(s, "ms", func(_ context.Context, ms int) (int, error) {
			time.Sleep(time.Duration(ms) * time.Millisecond) // in the bubble's time
			return 0, nil
		})
		node := sabir.NewNode(sabir.Serve(s), sabir.Use(tel.Middleware()))
		if err := node.Start(context.Background()); err != nil {
			t.Fatal(err)
		}
		for _, ms := range []int{0, 500, 501, 1000, 1001, 2000, 2001, 60_000} {
			if _, err := sabir.Call[int](context.Background(), node, "sleep.ms", ms); err != nil {
				t.Fatal(err)
			}
		}
		h := scrape(t, tel).find("rpc_server_call_duration_seconds", ofAction("sleep", "ms").and("rpc_response_status_code", "OK")).GetHistogram()
		want := map[float64]uint64{0.5: 2, 1: 4, 2: 6, math.Inf(1): 8}
		for _, b := range h.GetBucket() {
			if b.GetCumulativeCount() != want[b.GetUpperBound()] {
				t.Errorf("up to %v s: %d, want %d", b.GetUpperBound(), b.GetCumulativeCount(), want[b.GetUpperBound()])
			}
		}
		if math.Abs(h.GetSampleSum()-67.003) > 1e-9 { // the order of addition is not always the same
			t.Errorf("the sum is %v s, want 67.003", h.GetSampleSum())
		}
		if err := node.Stop(context.Background()); err != nil {
			t.Fatal(err)
		}
	})
}

func TestEventsAreCountedByPatternAndService(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	mail, audit := sabir.NewService("mail"), sabir.NewService("audit")
	sabir.On(mail, "user.created", func(context.Context, string) error { return nil })
	sabir.On(audit, "user.*", func(_ context.Context, name string) error {
		switch name {
		case "bad":
			return errOutOfStock
		case "worse":
			panic(name)
		}
		return nil
	})
	node := start(t, sabir.Serve(mail, audit), sabir.Use(tel.Middleware()))
	for _, payload := range []string{"good", "good", "bad", "worse"} {
		if err := sabir.Emit(t.Context(), node, "user.created", payload); err != nil {
			t.Fatal(err)
		}
	}
	if err := sabir.Emit(t.Context(), node, "user.removed", "good"); err != nil {
		t.Fatal(err)
	}
	p := scrape(t, tel)
	of := func(service, pattern string) labels {
		return labels{"messaging_system": "sabir", "messaging_operation_name": "handle", "messaging_destination_template": pattern,
			"messaging_consumer_group_name": service, "sabir_service": service}
	}
	p.expect(t, "sabir_event_handled_total", of("mail", "user.created"), 4)
	p.expect(t, "sabir_event_handled_total", of("audit", "user.*"), 5)
	p.expect(t, "sabir_event_active", of("audit", "user.*"), 0)
	p.expectTimes(t, "messaging_process_duration_seconds", of("audit", "user.*"), 3)
	failed := of("audit", "user.*").and("error_type", "FailedPrecondition")
	p.expect(t, "sabir_event_errors_total", failed.and("sabir_error_name", "OutOfStock"), 1)
	p.expectTimes(t, "messaging_process_duration_seconds", failed, 1)
	p.expect(t, "sabir_event_errors_total", of("audit", "user.*").and("error_type", "Internal").and("sabir_error_name", "Panic"), 1)
}

func TestStreamsAreCountedFromTheirOpening(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	s := sabir.NewService("echo")
	begun := make(chan bool)
	sabir.HandleStream(s, "all", func(_ context.Context, st *sabir.Stream[string, string]) error {
		begun <- true
		if _, err := st.Recv(); err != nil {
			return fmt.Errorf("no value came: %w", err)
		}
		return nil
	})
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	var open []*sabir.Stream[string, string]
	for range 2 {
		st, err := sabir.OpenStream[string, string](context.Background(), node, "echo.all")
		if err != nil {
			t.Fatal(err)
		}
		<-begun
		open = append(open, st)
	}
	of := ofAction("echo", "all")
	p := scrape(t, tel)
	p.expect(t, "sabir_stream_opened_total", of, 2)
	p.expect(t, "sabir_stream_active", of, 2)
	if err := open[0].Send("x"); err != nil {
		t.Fatal(err)
	}
	_, _ = open[0].Recv() // its end
	p = scrape(t, tel)
	p.expect(t, "sabir_stream_opened_total", of, 2)
	p.expect(t, "sabir_stream_active", of, 1)
	open[1].CloseSend() // which this handler takes for an error
	_, _ = open[1].Recv()
	p = scrape(t, tel)
	p.expect(t, "sabir_stream_active", of, 0)
	failed := of.and("rpc_response_status_code", "Unknown").and("error_type", "Unknown")
	p.expect(t, "sabir_stream_errors_total", failed.and("sabir_error_name", "HandlerFailed"), 1)
	p.expectTimes(t, "sabir_stream_duration_seconds", of.and("rpc_response_status_code", "OK"), 1)
	p.expectTimes(t, "sabir_stream_duration_seconds", failed, 1)
	for _, st := range open {
		st.Close()
	}
}

func TestSignalsAreCountedByAction(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	kinds := []string{signal.CacheHit, signal.CacheMiss, signal.Retried, signal.RateLimited, signal.BulkheadRejected,
		signal.TimedOut, signal.FellBack, "own.kind"}
	noisy := sabir.Middleware{Name: "noisy", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			for i, kind := range kinds {
				for range i + 1 {
					a.Signal(kind)
				}
			}
			return next(ctx, r)
		}
	}}
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware(), noisy))
	_ = call(node, t.Context(), "v2.shop.hello")
	_ = call(node, t.Context(), "v2.shop.hello")
	_ = call(node, t.Context(), "v2.shop.buy")
	p := scrape(t, tel)
	hello, buy := labels{"rpc_method": "v2.shop.hello", "sabir_service": "v2.shop"}, labels{"rpc_method": "v2.shop.buy", "sabir_service": "v2.shop"}
	for i, family := range []string{"sabir_cache_hits_total", "sabir_cache_misses_total", "sabir_retries_total", "sabir_rate_limited_total",
		"sabir_bulkhead_rejected_total", "sabir_timeouts_total", "sabir_fallbacks_total"} {
		p.expect(t, family, hello, float64(2*(i+1)))
		p.expect(t, family, buy, float64(i+1))
	}
	p.expect(t, "sabir_signals_total", hello.and("sabir_signal", "own.kind"), 16)
}

func TestABreakerIsOpenUntilItCloses(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	signals := make(chan string, 1)
	breaker := sabir.Middleware{Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
		return func(ctx context.Context, r *sabir.Request) error {
			a.Signal(<-signals)
			return next(ctx, r)
		}
	}}
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware(), breaker))
	of := labels{"rpc_method": "v2.shop.hello", "sabir_service": "v2.shop"}
	for i, step := range []struct {
		kind string
		open float64
	}{{signal.BreakerOpened, 1}, {signal.BreakerHalfOpen, 1}, {signal.BreakerOpened, 1}, {signal.BreakerHalfOpen, 1}, {signal.BreakerClosed, 0}} {
		signals <- step.kind
		_ = call(node, t.Context(), "v2.shop.hello")
		t.Logf("step %d: %s", i, step.kind)
		scrape(t, tel).expect(t, "sabir_breaker_open", of, step.open)
	}
	p := scrape(t, tel)
	p.expect(t, "sabir_breaker_openings_total", of, 2)
	p.expect(t, "sabir_breaker_probes_total", of, 2)
	p.expect(t, "sabir_breaker_closings_total", of, 1)
}

func TestMetricsShowWhatWaitsInEachNodeOfTheTelemetry(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	release := make(chan struct{})
	s := sabir.NewService("slow")
	sabir.On(s, "job", func(context.Context, string) error { <-release; return nil }, sabir.Delivery{Buffer: 10})
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()), sabir.Limits{NodeBuffers: 8 << 20})
	other := sabir.NewNode(sabir.NodeID("other")) // of another telemetry, or none
	if err := other.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer other.Stop(context.Background())
	if err := sabir.Emit(t.Context(), node, "job", strings.Repeat("x", 100<<10)); err != nil {
		t.Fatal(err)
	}
	p, of := scrape(t, tel), labels{"sabir_node": node.ID()}
	if waiting := p.value("sabir_memory_waiting_bytes", of); waiting < 100<<10 || waiting > 101<<10 {
		t.Errorf("%v bytes wait; the page has %v", waiting, p["sabir_memory_waiting_bytes"])
	}
	p.expect(t, "sabir_memory_limit_bytes", of, 8<<20)
	p.expect(t, "sabir_memory_refused_total", of, 0)
	if nodes := len(p["sabir_memory_limit_bytes"].Metric); nodes != 1 {
		t.Errorf("%d nodes are shown", nodes)
	}
	close(release)
}

// peer is another node, as this one's calls see it.
type peer func(ctx context.Context, r *sabir.Request) error

func (p peer) Name() string                                     { return "peer" }
func (p peer) Send(ctx context.Context, r *sabir.Request) error { return p(ctx, r) }

func TestCallsSentToOtherNodesAreCountedAsClientCalls(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Use(tel.Middleware()), sabir.WithUpstream(peer(func(_ context.Context, r *sabir.Request) error {
		if r.Action().Name == "stock.take" {
			return errOutOfStock
		}
		return nil
	})))
	for range 2 {
		_ = call(node, t.Context(), "stock.get")
	}
	_ = call(node, t.Context(), "stock.take")
	p := scrape(t, tel)
	p.expect(t, "sabir_client_calls_total", ofAction("stock", "get"), 2)
	p.expectTimes(t, "rpc_client_call_duration_seconds", ofAction("stock", "get").and("rpc_response_status_code", "OK"), 2)
	failed := ofAction("stock", "take").and("rpc_response_status_code", "FailedPrecondition").and("error_type", "FailedPrecondition")
	p.expect(t, "sabir_client_errors_total", failed.and("sabir_error_name", "OutOfStock"), 1)
	if p["sabir_server_calls_total"].GetMetric() != nil {
		for _, m := range p["sabir_server_calls_total"].GetMetric() {
			if m.GetCounter().GetValue() != 0 {
				t.Errorf("counted on the server's side: %v", m)
			}
		}
	}
}

func TestNamesBeyondTheLimitAreCountedAsOther(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Use(tel.Middleware()), sabir.WithUpstream(peer(func(context.Context, *sabir.Request) error { return nil })))
	for i := range 1_005 {
		_ = call(node, t.Context(), fmt.Sprintf("svc.a%d", i))
	}
	p := scrape(t, tel)
	if n := len(p["sabir_client_calls_total"].GetMetric()); n != 1_001 {
		t.Errorf("%d names are distinguished, want 1000 and other", n)
	}
	p.expect(t, "sabir_client_calls_total", labels{"rpc_system_name": "sabir", "rpc_method": "other", "sabir_service": "other"}, 5)
}

func TestErrorNamesBeyondTheLimitAreCountedAsOther(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	s := sabir.NewService("bad")
	sabir.Handle(s, "names", func(_ context.Context, n int) (int, error) {
		return 0, sabir.NewError(sabir.CodeAborted, fmt.Sprintf("E%d", n), "no")
	})
	node := start(t, sabir.Serve(s), sabir.Use(tel.Middleware()))
	for i := range 40 {
		_, _ = sabir.Call[int](t.Context(), node, "bad.names", i)
	}
	p := scrape(t, tel)
	of := ofAction("bad", "names").and("rpc_response_status_code", "Aborted").and("error_type", "Aborted")
	p.expect(t, "sabir_server_errors_total", of.and("sabir_error_name", "E31"), 1)
	p.expect(t, "sabir_server_errors_total", of.and("sabir_error_name", "other"), 8)
}

func TestAServiceThatIsRemovedAndAddedAgainCountsOn(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Use(tel.Middleware()))
	for range 2 {
		s := shop()
		if err := node.Add(t.Context(), s); err != nil {
			t.Fatal(err)
		}
		_ = call(node, t.Context(), "v2.shop.hello")
		if err := node.Remove(t.Context(), s); err != nil {
			t.Fatal(err)
		}
	}
	scrape(t, tel).expect(t, "sabir_server_calls_total", ofAction("v2.shop", "hello"), 2)
}

func TestConcurrentCallsAreAllCounted(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Prometheus: true})
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	const goroutines, calls = 8, 500
	var wg sync.WaitGroup
	for range goroutines {
		wg.Go(func() {
			for i := range calls {
				_ = call(node, context.Background(), []string{"v2.shop.hello", "v2.shop.buy"}[i%2])
			}
		})
	}
	for range 5 {
		scrape(t, tel) // reading while others count
	}
	wg.Wait()
	p := scrape(t, tel)
	p.expect(t, "sabir_server_calls_total", ofAction("v2.shop", "hello"), goroutines*calls/2)
	p.expect(t, "sabir_server_calls_total", ofAction("v2.shop", "buy"), goroutines*calls/2)
}

func TestAReaderOfTheProgramsOwnGetsTheCountsFromTheProducer(t *testing.T) {
	tel := newTelemetry(t, telemetry.Config{Metrics: true})
	reader := metric.NewManualReader(metric.WithProducer(tel.Producer()))
	provider := metric.NewMeterProvider(metric.WithReader(reader))
	defer provider.Shutdown(context.Background())
	node := start(t, sabir.Serve(shop()), sabir.Use(tel.Middleware()))
	_ = call(node, t.Context(), "v2.shop.hello")
	if got := sumOf(t, reader, "sabir.server.calls"); got != 1 {
		t.Errorf("%d calls, want 1", got)
	}
}

// sumOf adds up all points of a sum.
func sumOf(t *testing.T, reader metric.Reader, name string) (total int64) {
	t.Helper()
	var all metricdata.ResourceMetrics
	if err := reader.Collect(t.Context(), &all); err != nil {
		t.Fatal(err)
	}
	for _, s := range all.ScopeMetrics {
		for _, m := range s.Metrics {
			if m.Name == name {
				for _, p := range m.Data.(metricdata.Sum[int64]).DataPoints {
					total += p.Value
				}
			}
		}
	}
	return total
}

func TestBadBucketsAreRefused(t *testing.T) {
	for _, bad := range [][]float64{{}, {0}, {-1}, {1, 1}, {2, 1}, {math.NaN()}, {math.Inf(1)}, make([]float64, 32)} {
		if _, err := telemetry.New(telemetry.Config{Buckets: bad}); err == nil {
			t.Errorf("%v was taken", bad)
		}
	}
}
