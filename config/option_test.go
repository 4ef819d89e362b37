package config_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"net/http"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	sdktrace "go.opentelemetry.io/otel/sdk/trace"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/policy"
	"github.com/sabir-go/sabir/telemetry"
	_ "github.com/sabir-go/sabir/transport/tcp"
	"github.com/sabir-go/sabir/web"
)

func start(t *testing.T, l *config.Loaded, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(sabir.Serve(services...), l.Option())
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return node
}

func get(t *testing.T, url string) (status int, body string) {
	t.Helper()
	client := http.Client{Transport: &http.Transport{DisableKeepAlives: true}}
	answer, err := client.Get(url)
	if err != nil {
		t.Fatal(err)
	}
	defer answer.Body.Close()
	text, err := io.ReadAll(answer.Body)
	if err != nil {
		t.Fatal(err)
	}
	return answer.StatusCode, string(text)
}

func TestOneOptionGivesANodeItsSettings(t *testing.T) {
	slow := sabir.NewService("slow")
	sabir.Handle(slow, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		<-ctx.Done()
		return sabir.Empty{}, ctx.Err()
	})
	file := write(t, "sabir.yaml", `
id: shop-1
join: tcp://127.0.0.1:0
key: 0123456789abcdef0123456789abcdef
zone: eu
labels: {rack: r1}
http: {address: ":0"}
admin: {address: ":0", metrics: true, profiler: true}
log: {level: error}
policies: {slow.*: {timeout: 1ms}}
`)
	node := start(t, load(t, config.Config{File: file}), slow)
	if info := node.Info(); info.ID != "shop-1" || info.Zone != "eu" || info.Labels["rack"] != "r1" || info.Addr == "" {
		t.Errorf("%+v", info)
	}
	if status, _ := get(t, "http://"+node.HTTPAddr()+"/ready"); status != 200 {
		t.Errorf("/ready over HTTP: %d", status)
	}
	if _, err := sabir.Call[sabir.Empty](t.Context(), node, "slow.wait", sabir.Empty{}); !errors.Is(err, context.DeadlineExceeded) {
		t.Errorf("the call ended with %v, want the timeout of the policy", err)
	}
	for path, want := range map[string]string{"/metrics": "sabir_server_calls_total", "/debug/pprof/": "heap", "/ready": "ready"} {
		if status, body := get(t, "http://"+node.AdminAddr()+path); status != 200 || !strings.Contains(body, want) {
			t.Errorf("%s: %d %.200s", path, status, body)
		}
	}
}

// counter is an exporter that counts spans.
type counter struct{ atomic.Int64 }

func (c *counter) ExportSpans(_ context.Context, spans []sdktrace.ReadOnlySpan) error {
	c.Add(int64(len(spans)))
	return nil
}

func (c *counter) Shutdown(context.Context) error { return nil }

func TestTheCodeSaysBesideTheSettingsWhatIsServedTracedAndLogged(t *testing.T) {
	var spans counter
	lines := &bytes.Buffer{}
	l := load(t, config.Config{
		Env:        []string{"SABIR_HTTP_ADDRESS=:0", "SABIR_ADMIN_ADDRESS=:0", "SABIR_ADMIN_METRICS=true", "SABIR_LOG_LEVEL=info"},
		Telemetry:  telemetry.Config{Traces: &spans},
		LogHandler: func(slog.Handler) slog.Handler { return telemetry.Redact(slog.NewJSONHandler(lines, nil), "password") },
	})
	node := sabir.NewNode(l.Option(web.With(web.Config{Mount: map[string]http.Handler{"/rope": http.NotFoundHandler()}})))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	if _, body := get(t, "http://"+node.HTTPAddr()+"/rope"); body != "404 page not found\n" {
		t.Errorf("the options for HTTP are not used: %s", body)
	}
	if status, body := get(t, "http://"+node.AdminAddr()+"/metrics"); status != 200 || !strings.Contains(body, "go_goroutines") {
		t.Errorf("there are no metrics beside the traces: %d", status)
	}
	l.Logger().Info("in", "password", "s3cret")
	if _, err := sabir.Call[sabir.Empty](t.Context(), node, "$node.nodes", sabir.Empty{}); err != nil {
		t.Log(err) // whatever it answers: it is traced
	}
	if err := node.Stop(t.Context()); err != nil {
		t.Error(err)
	}
	if text := lines.String(); !strings.Contains(text, `"password":"(hidden)"`) || strings.Contains(text, "s3cret") {
		t.Errorf("the log is %s", text)
	}
	if spans.Load() == 0 {
		t.Error("nothing was traced")
	}
}

func TestANodeWithTracesOfItsCodeTellsWhatItsActionsDo(t *testing.T) {
	var spans counter
	l := load(t, config.Config{Telemetry: telemetry.Config{Traces: &spans}})
	node := start(t, l)
	if stats, err := sabir.Call[telemetry.Stats](t.Context(), node, "$telemetry.stats", sabir.Empty{}); err != nil || stats.Node != node.ID() {
		t.Errorf("%+v, %v", stats, err)
	}
}

func TestTheLevelOfTheLogChangesOnSIGHUPAndTheRestIsNamed(t *testing.T) {
	file := write(t, "sabir.yaml", "log: {level: error}")
	l := load(t, config.Config{File: file})
	start(t, l)
	if l.Logger().Enabled(t.Context(), -4) {
		t.Fatal("the log has debug lines before")
	}
	if err := os.WriteFile(file, []byte("log: {level: debug}\nzone: eu"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp(t)
	for !l.Logger().Enabled(t.Context(), -4) {
		if t.Context().Err() != nil {
			t.Fatal("the level stayed")
		}
		time.Sleep(time.Millisecond)
	}
}

func TestReloadSaysWhatItUsesAndWhatTakesARestart(t *testing.T) {
	file := write(t, "sabir.yaml", "log: {level: info}\nzone: a\npolicies: {a.*: {timeout: 1s}}")
	l := load(t, config.Config{File: file})
	for _, c := range []struct{ text, used, later string }{
		{"log: {level: warn}\nzone: a\npolicies: {a.*: {timeout: 1s}}", "log.level", ""},
		{"log: {level: warn}\nzone: b\nkey: abcdefghijklmnopq\njoin: tcp://:1", "policies.a.*.timeout", "join key zone"},
		{"log: {level: warn}\nzone: b\npolicies: {a.b: {rate: 3}}", "policies.a.b.rate", "zone"},
	} {
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		used, later, err := l.Reload()
		if err != nil || strings.Join(used, " ") != c.used || strings.Join(later, " ") != c.later {
			t.Errorf("%s: %q %q %v, want %q %q", c.text, used, later, err, c.used, c.later)
		}
	}
	if err := os.WriteFile(file, []byte("log: {level: loud}"), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, _, err := l.Reload(); err == nil || l.Settings.Log.Level != "warn" {
		t.Errorf("%v, and the level is %s", err, l.Settings.Log.Level)
	}
}

// slowly is a service whose action takes as long as its caller lets it.
func slowly() *sabir.Service {
	s := sabir.NewService("slow")
	sabir.Handle(s, "wait", func(ctx context.Context, _ sabir.Empty) (sabir.Empty, error) {
		<-ctx.Done()
		return sabir.Empty{}, ctx.Err()
	})
	sabir.Handle(s, "fail", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.NewError(sabir.CodeUnavailable, "Down", "it is down")
	})
	return s
}

func call(t *testing.T, node *sabir.Node, action string) error {
	_, err := sabir.Call[sabir.Empty](t.Context(), node, action, sabir.Empty{}, sabir.WithTimeout(5*time.Second))
	return err
}

func TestPoliciesChangeWhileTheNodeRuns(t *testing.T) {
	address := "tcp://127.0.0.1:0"
	other := start(t, load(t, config.Config{Defaults: config.Settings{ID: "other", Join: address, Log: config.Log{Level: "error"}}}), slowly())
	file := write(t, "sabir.yaml", "log: {level: error}")
	l := load(t, config.Config{File: file, Defaults: config.Settings{ID: "caller", Join: address, Seeds: []string{other.Info().Addr}}})
	caller := start(t, l)
	if err := caller.WaitFor(t.Context(), "slow"); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		text string
		want error
	}{
		{"policies: {slow.fail: {rate: 0.001}}", sabir.NewError(sabir.CodeUnavailable, "Down", "")}, // the one call that the rate allows
		{"policies: {slow.fail: {rate: 0.001}, slow.wait: {timeout: 1ms}}", sabir.ErrRateLimited},   // which the change of another pattern leaves as it was
		{"policies: {slow.wait: {timeout: 1ms}}", sabir.NewError(sabir.CodeUnavailable, "Down", "")},
	} {
		if err := os.WriteFile(file, []byte("log: {level: error}\n"+c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, _, err := l.Reload(); err != nil {
			t.Fatal(err)
		}
		if err := call(t, caller, "slow.fail"); !errors.Is(err, c.want) {
			t.Errorf("%s: %v, want %v", c.text, err, c.want)
		}
	}
	if err := call(t, caller, "slow.wait"); !errors.Is(err, sabir.ErrDeadlineExceeded) {
		t.Errorf("%v", err)
	}
}

func TestPoliciesOfSeveralPatternsHaveTheOrderThatWorks(t *testing.T) {
	text := "log: {level: error}\npolicies: {slow.*: {timeout: 1ms, max_calls: 10}, slow.wait: {breaker: true, timeout: 1h}}"
	node := start(t, load(t, config.Config{File: write(t, "sabir.yaml", text)}), slowly())
	for range 20 { // after as many calls the breaker decides
		if err := call(t, node, "slow.wait"); !errors.Is(err, sabir.ErrDeadlineExceeded) {
			t.Fatal(err)
		}
	}
	if err := call(t, node, "slow.wait"); !errors.Is(err, sabir.ErrBreakerOpen) {
		t.Errorf("%v, want the breaker of one pattern to count the calls that the timeout of the other ended", err)
	}
}

func TestAPolicyThatAnActionCannotHaveChangesNothing(t *testing.T) {
	s := sabir.NewService("shop")
	sabir.Handle(s, "pay", func(context.Context, sabir.Empty) (sabir.Empty, error) { return sabir.Empty{}, nil }, sabir.Use(policy.Breaker{}))
	l := load(t, config.Config{Defaults: config.Settings{Log: config.Log{Level: "error"}}})
	start(t, l, s)
	used, err := l.Set(map[string]string{"policies.shop.pay.timeout": "1s", "log.level": "debug"})
	if err == nil || !strings.Contains(err.Error(), "outside policy.Breaker") || used != nil || l.Settings.Log.Level != "error" || l.Settings.Policies != nil {
		t.Errorf("%v %v %+v", used, err, l.Settings)
	}
}

func TestSetGivesLiveSettingsAnotherValueUntilItIsEnded(t *testing.T) {
	file := write(t, "sabir.yaml", "log: {level: error}\npolicies: {slow.*: {timeout: 1h}}")
	l := load(t, config.Config{File: file, Env: []string{"SABIR_LOG_LEVEL=warn"}})
	node := start(t, l, slowly())
	set := func(values map[string]string) []string {
		t.Helper()
		used, err := sabir.Call[[]string](t.Context(), node, "$config.set", values)
		if err != nil {
			t.Fatal(err)
		}
		return used
	}
	if got := set(map[string]string{"log.level": "debug", "policies.slow.*.timeout": "1ms"}); fmt.Sprint(got) != "[log.level policies.slow.*.timeout]" {
		t.Errorf("changed %v", got)
	}
	if !l.Logger().Enabled(t.Context(), slog.LevelDebug) || !errors.Is(call(t, node, "slow.wait"), sabir.ErrDeadlineExceeded) {
		t.Error("it was not used")
	}
	if _, _, err := l.Reload(); err != nil || l.Settings.Log.Level != "debug" {
		t.Errorf("after reading again: %s, %v", l.Settings.Log.Level, err)
	}
	list, err := sabir.Call[[]config.Value](t.Context(), node, "$config.list", sabir.Empty{})
	if want := "[{log.level debug set true} {policies.slow.*.timeout 1ms set true}"; err != nil || !strings.HasPrefix(fmt.Sprint(list), want) {
		t.Errorf("%v, %v", list, err)
	}
	if got := set(map[string]string{"log.level": ""}); fmt.Sprint(got) != "[log.level]" || l.Settings.Log.Level != "warn" {
		t.Errorf("changed %v, and the level is %s", got, l.Settings.Log.Level)
	}
}

func TestSetRefusesWhatItDoesNotKnowOrCannotChange(t *testing.T) {
	l := load(t, config.Config{Defaults: config.Settings{Log: config.Log{Level: "error"}}})
	for name, want := range map[string]string{
		"log.levle": "did you mean log.level?", "lgo.level": "did you mean log?", "policies.a.*.timout": "did you mean policies.a.*.timeout?",
		"id": "id cannot change while the node runs", "log.level": "debug", "max_depth": "whole number",
	} {
		if _, err := l.Set(map[string]string{name: "loud"}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q in it", name, err, want)
		}
	}
	if _, err := l.Set(map[string]string{"policies.a..timeout": "1s"}); err == nil || !strings.Contains(err.Error(), `the pattern "a."`) {
		t.Error(err)
	}
	if _, err := l.Set(map[string]string{"log.level": ""}); err == nil || !strings.Contains(err.Error(), "nothing to end") {
		t.Error(err)
	}
}

func TestWhatSetRefusesLeavesNothingBehindForTheNextSet(t *testing.T) {
	l := load(t, config.Config{Defaults: config.Settings{Log: config.Log{Level: "error"}}})
	for _, change := range []struct {
		values map[string]string
		ok     bool
	}{{map[string]string{"max_depth": "7"}, true}, {map[string]string{"max_depth": "9", "log.level": "loud"}, false}, {map[string]string{"log.level": "warn"}, true}} {
		if _, err := l.Set(change.values); (err == nil) != change.ok {
			t.Fatalf("%v: %v", change.values, err)
		}
	}
	if l.Settings.MaxDepth != 7 || l.Settings.Log.Level != "warn" {
		t.Errorf("max_depth is %d and log.level %s, want 7 and warn", l.Settings.MaxDepth, l.Settings.Log.Level)
	}
}

// A negative time to stop was taken, and the next stop cut all calls in flight off at once.
func TestANegativeTimeIsAMistakeWhereverItIsGiven(t *testing.T) {
	for _, name := range []string{"stop_timeout", "start_timeout", "policies.users.*.timeout"} {
		l := load(t, config.Config{})
		if used, err := l.Set(map[string]string{name: "-1s"}); err == nil || !strings.Contains(err.Error(), name+": ") || !strings.Contains(err.Error(), "must be 0 or greater") {
			t.Errorf("%s was set: %v, %v", name, used, err)
		}
	}
}

func TestASettingForARateIsARateThatLetsCallsThrough(t *testing.T) {
	l := load(t, config.Config{Defaults: config.Settings{Log: config.Log{Level: "error"}, Policies: map[string]config.Policy{"slow.*": {Rate: 2}}}})
	node := start(t, l, slowly())
	var errs []string
	for range 3 {
		errs = append(errs, sabir.AsError(call(t, node, "slow.fail")).Name)
	}
	if fmt.Sprint(errs) != "[Down Down RateLimited]" {
		t.Error(errs)
	}
}
