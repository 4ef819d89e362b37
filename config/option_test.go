package config_test

import (
	"context"
	"errors"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
	_ "github.com/sabir-go/sabir/transport/tcp"
	_ "github.com/sabir-go/sabir/web"
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
		{"log: {level: warn}\nzone: b\nkey: abc\njoin: tcp://:1", "", "join key policies.a.*.attempts policies.a.*.breaker policies.a.*.max_calls policies.a.*.rate policies.a.*.timeout zone"},
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
