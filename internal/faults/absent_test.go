//go:build unix

package faults_test

import (
	"context"
	"errors"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/signal"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web"
)

// entrance starts a node in the test's process that joins others and serves HTTP. started has the end of its start.
func entrance(t *testing.T, seed string, options ...sabir.NodeOption) (n *sabir.Node, started chan error) {
	t.Helper()
	n = sabir.NewNode(append(options, sabir.NodeID("entrance"), sabir.HTTP("127.0.0.1:0", web.With(web.Config{Forward: []string{"**"}})),
		sabir.Join(seed, cluster.Config{Name: "faults"}))...)
	started = make(chan error, 1)
	ctx, cancel := context.WithTimeout(context.Background(), 2*waitLimit)
	go func() { started <- n.Start(ctx) }()
	t.Cleanup(func() {
		defer cancel()
		if n.State() == "running" {
			if err := n.Stop(ctx); err != nil {
				t.Error(err)
			}
		}
	})
	return n, started
}

func isOffered(n *sabir.Node) bool { return n.Action("work.echo") != nil }

// answered is an answer over HTTP.
type answered struct {
	status     int
	body       string
	retryAfter string
}

func askOver(t *testing.T, method, url, body string) answered {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	r.Header.Set("Content-Type", "application/json")
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	a, err := client.Do(r)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Body.Close()
	text, err := io.ReadAll(a.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answered{a.StatusCode, string(text), a.Header.Get("Retry-After")}
}

func firstOf[T any](seq iter.Seq2[T, error]) error {
	for _, err := range seq {
		return err
	}
	return nil
}

// waysToCall lists the ways to call an action in a program, for the action echo of the service work and a name that nobody knows.
func waysToCall(n *sabir.Node) map[string]func(ctx context.Context, service string) error {
	return map[string]func(context.Context, string) error{
		"Call": func(ctx context.Context, service string) error {
			_, err := sabir.Call[echoed](ctx, n, service+".echo", echo{})
			return err
		},
		"Call with options": func(ctx context.Context, service string) error {
			_, err := sabir.Call[echoed](ctx, n, service+".echo", echo{}, sabir.WithTimeout(time.Second), sabir.ByKey("k"))
			return err
		},
		"CallJSON": func(ctx context.Context, service string) error {
			_, err := sabir.CallJSON(ctx, n, service+".echo", nil)
			return err
		},
		"All": func(ctx context.Context, service string) error {
			var out echoed
			return sabir.All(ctx, n, sabir.Into(&out, service+".echo", echo{}))
		},
		"OpenStream": func(ctx context.Context, service string) error {
			_, err := sabir.OpenStream[[]byte, sum](ctx, n, service+".sum")
			return err
		},
		"CallStream": func(ctx context.Context, service string) error {
			return firstOf(sabir.CallStream[sum](ctx, n, service+".sum", []byte("x")))
		},
		"a contract of a stream": func(ctx context.Context, service string) error {
			_, err := sabir.NewStream[[]byte, sum](service+".sum").Open(ctx, n)
			return err
		},
	}
}

func TestTheNamesOfTheOnlyNodeThatWasKilledAreUnavailableAtEachDoor(t *testing.T) {
	server := start(t, setup{ID: "server", Works: true})
	n, started := entrance(t, "tcp://127.0.0.1:0?seeds="+strings.TrimPrefix(server.addr, "tcp://"))
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	until(t, waitLimit, "the work is offered", func() bool { return isOffered(n) })
	until(t, waitLimit, "the node is ready", func() bool { return n.Ready(t.Context()) == nil })
	before := sabir.Bind[echo, echoed](n, "work.echo")
	contract := sabir.NewAction[echo, echoed]("work.echo")
	if _, err := before(t.Context(), echo{}); err != nil {
		t.Fatal(err)
	}
	if _, err := contract.Call(t.Context(), n, echo{}); err != nil {
		t.Fatal(err)
	}
	if got := askOver(t, "POST", "http://"+n.HTTPAddr()+"/work/echo", "{}"); got.status != 200 {
		t.Fatal(got)
	}
	server.kill()
	until(t, waitLimit, "the work is not offered", func() bool { return !isOffered(n) })

	ways := waysToCall(n)
	ways["Bind, before"] = func(ctx context.Context, _ string) error { _, err := before(ctx, echo{}); return err }
	ways["Bind, after"] = func(ctx context.Context, _ string) error {
		_, err := sabir.Bind[echo, echoed](n, "work.echo")(ctx, echo{})
		return err
	}
	ways["a contract"] = func(ctx context.Context, _ string) error { _, err := contract.Call(ctx, n, echo{}); return err }
	ways["to the node"] = func(ctx context.Context, service string) error {
		_, err := sabir.Call[echoed](ctx, n, service+".echo", echo{}, sabir.ToNode("server"))
		return err
	}
	for name, call := range ways {
		err := call(t.Context(), "work")
		if e := sabir.AsError(err); !errors.Is(err, sabir.ErrServiceUnavailable) || !e.Retryable || e.HTTPStatus() != 503 || !strings.Contains(e.Message, "server") {
			t.Errorf("%s: %v", name, err)
		}
	}
	for name, call := range waysToCall(n) {
		if err := call(t.Context(), "worg"); name != "a contract of a stream" && (!errors.Is(err, sabir.ErrActionNotFound) || sabir.AsError(err).Retryable) {
			t.Errorf("%s of what nobody knows: %v", name, err)
		}
	}
	for _, test := range []struct {
		method, path, body string
		status             int
		want               string
	}{
		{"POST", "/work/echo", "{}", 503, `"ServiceUnavailable"`},
		{"POST", "/work/echo?x=1", "{}", 503, `"retryable":true`},
		{"POST", "/work/sum", "{}", 503, `"ServiceUnavailable"`},
		{"POST", "/work/nothing", "{}", 404, `"ActionNotFound"`},
		{"POST", "/worg/echo", "{}", 404, `"ActionNotFound"`},
		{"GET", "/ready", "", 200, "ready"}, // as before: it depends on nothing
	} {
		got := askOver(t, test.method, "http://"+n.HTTPAddr()+test.path, test.body)
		if got.status != test.status || !strings.Contains(got.body, test.want) || (got.status == 503) != (got.retryAfter != "") {
			t.Errorf("%s %s: %+v", test.method, test.path, got)
		}
	}
	client, err := web.Dial("http://"+n.HTTPAddr(), web.ClientConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := client.Call(t.Context(), "work.echo", nil); !errors.Is(err, sabir.ErrServiceUnavailable) || !sabir.AsError(err).Retryable {
		t.Errorf("another program over HTTP: %v", err)
	}
}

func TestRetriesAndMetricsSeeTheCallsOfAKilledNodeAndBreakersDoNot(t *testing.T) {
	server := start(t, setup{ID: "server", Works: true})
	states := &policy.BreakerStates{}
	signals := make(chan string, 1000)
	listen := sabir.Middleware{Name: "listen", Signal: func(kind, _, _ string) { signals <- kind }}
	metrics, err := telemetry.New(telemetry.Config{Prometheus: true})
	if err != nil {
		t.Fatal(err)
	}
	n, started := entrance(t, "tcp://127.0.0.1:0?seeds="+strings.TrimPrefix(server.addr, "tcp://"),
		sabir.Use(listen, metrics, policy.Retry{Attempts: 3, FirstPause: time.Millisecond}, policy.Breaker{MinCalls: 4, Window: 8, States: states}))
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	until(t, waitLimit, "the work is offered", func() bool { return isOffered(n) })
	server.kill()
	until(t, waitLimit, "the work is not offered", func() bool { return !isOffered(n) })
	for range 4 {
		_, _ = sabir.Call[echoed](t.Context(), n, "work.echo", echo{})
	}
	if state, _ := states.Of("work.echo"); state != "closed" { // an open one would hide that no node offers the action
		t.Errorf("the breaker is %v", state)
	}
	retried := 0
	for len(signals) > 0 {
		if <-signals == signal.Retried {
			retried++
		}
	}
	if retried < 2 {
		t.Errorf("%d attempts were made again", retried)
	}
	scraped := httptest.NewRecorder()
	metrics.Handler().ServeHTTP(scraped, httptest.NewRequest("GET", "/", nil))
	if !slices.ContainsFunc(strings.Split(scraped.Body.String(), "\n"), func(line string) bool {
		return strings.Contains(line, "work") && strings.Contains(line, "echo") && strings.Contains(line, "ServiceUnavailable")
	}) {
		t.Errorf("the metrics have no failed calls of work.echo:\n%s", scraped.Body)
	}
}

func TestACallOutlivesTheRestartOfTheOnlyNode(t *testing.T) {
	for name, test := range map[string]struct {
		node    []sabir.NodeOption
		options []sabir.CallOption
	}{
		"with retries":         {[]sabir.NodeOption{sabir.Use(policy.Retry{Attempts: 20, FirstPause: 50 * time.Millisecond, MaxPause: 5 * time.Second, MaxElapsed: waitLimit})}, nil},
		"with WaitForNode":     {nil, []sabir.CallOption{sabir.WaitForNode(waitLimit)}},
		"on a node that waits": {[]sabir.NodeOption{sabir.Limits{WaitForNode: waitLimit}}, nil},
	} {
		t.Run(name, func(t *testing.T) {
			server := start(t, setup{ID: "server", Works: true})
			n, started := entrance(t, "tcp://127.0.0.1:0?seeds="+strings.TrimPrefix(server.addr, "tcp://"), test.node...)
			if err := <-started; err != nil {
				t.Fatal(err)
			}
			until(t, waitLimit, "the work is offered", func() bool { return isOffered(n) })
			server.kill()
			until(t, waitLimit, "the work is not offered", func() bool { return !isOffered(n) })
			type answer struct {
				out  echoed
				err  error
				when time.Time
			}
			got := make(chan answer, 1)
			go func() {
				out, err := sabir.Call[echoed](context.Background(), n, "work.echo", echo{}, test.options...)
				got <- answer{out, err, time.Now()}
			}()
			start(t, setup{ID: "server", Works: true, Seeds: []string{n.Info().Addr}})
			until(t, waitLimit, "the work is offered again", func() bool { return isOffered(n) })
			offered := time.Now()
			if a := <-got; a.err != nil || a.out.Node != "server" {
				t.Errorf("%+v", a)
			} else {
				t.Logf("answered %v after this test saw it offered", a.when.Sub(offered))
			}
		})
	}
}

func TestANodeThatWaitsForAnotherListensAndSaysWhatIsMissing(t *testing.T) {
	gate := sabir.NewService("gate", sabir.DependsOn(sabir.ServiceName("work")))
	sabir.Handle(gate, "echo", func(context.Context, sabir.Empty) (string, error) { return "through", nil })
	free := sabir.NewService("free")
	sabir.Handle(free, "echo", func(context.Context, sabir.Empty) (string, error) { return "free", nil })
	n, started := entrance(t, freeAddress(t), sabir.Serve(gate, free))
	until(t, waitLimit, "it listens", func() bool { return n.HTTPAddr() != "" })
	url := "http://" + n.HTTPAddr()
	for _, test := range []struct {
		method, path string
		status       int
		want         string
	}{
		{"GET", "/health", 200, "ok"},
		{"GET", "/ready", 503, `"missing":["work"]`},
		{"POST", "/free/echo", 200, "free"},
		{"POST", "/gate/echo", 503, "starting"},
		{"POST", "/work/echo", 503, "starting"},
	} {
		if got := askOver(t, test.method, url+test.path, "{}"); got.status != test.status || !strings.Contains(got.body, test.want) {
			t.Errorf("while it waits, %s %s: %+v", test.method, test.path, got)
		}
	}
	server := start(t, setup{ID: "server", Works: true, Seeds: []string{n.Info().Addr}})
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	for range 2 {
		until(t, waitLimit, "it is ready with its need", func() bool { return askOver(t, "GET", url+"/ready", "").status == 200 })
		server.kill()
		until(t, waitLimit, "it is not ready", func() bool { return n.Ready(t.Context()) != nil })
		if got := askOver(t, "GET", url+"/ready", ""); got.status != 503 || !strings.Contains(got.body, "work") || got.retryAfter == "" {
			t.Errorf("without its need: %+v", got)
		}
		server = start(t, setup{ID: "server", Works: true, Seeds: []string{n.Info().Addr}})
		until(t, waitLimit, "it is ready again", func() bool { return n.Ready(t.Context()) == nil })
	}
}
