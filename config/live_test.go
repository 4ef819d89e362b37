package config_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
)

// deep is a service whose action calls itself until it is refused, and answers how deep it came.
func deep() *sabir.Service {
	s := sabir.NewService("deep")
	sabir.Handle(s, "down", func(ctx context.Context, n int) (int, error) {
		below, err := sabir.Call[int](ctx, s, "deep.down", n+1)
		if err != nil {
			return n, nil
		}
		return below, nil
	})
	return s
}

func TestTheLimitsChangeWhileTheNodeRunsAndEndAsTheCodeHasThem(t *testing.T) {
	file := write(t, "sabir.yaml", "log: {level: error}\nmax_depth: 7")
	l := load(t, config.Config{File: file})
	node := sabir.NewNode(sabir.Serve(deep()), l.Option(), sabir.Limits{MaxDepth: 4})
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	reload := func(text string) {
		t.Helper()
		if err := os.WriteFile(file, []byte("log: {level: error}\n"+text), 0o600); err != nil {
			t.Fatal(err)
		}
		if _, later, err := l.Reload(); err != nil || later != nil {
			t.Fatal(later, err)
		}
	}
	set := func(value string) {
		t.Helper()
		if used, err := l.Set(map[string]string{"max_depth": value}); err != nil || strings.Join(used, " ") != "max_depth" {
			t.Fatal(used, err)
		}
	}
	for _, c := range []struct {
		change func()
		want   int
	}{
		{func() {}, 7},
		{func() { reload("max_depth: 9\nstop_timeout: 3s\nstart_timeout: 1s") }, 9},
		{func() { set("3") }, 3},
		{func() { set("") }, 9},
		{func() { reload("") }, 4},
	} {
		c.change()
		if got, err := sabir.Call[int](t.Context(), node, "deep.down", 1); err != nil || got != c.want {
			t.Errorf("it came to level %d, want %d: %v", got, c.want, err)
		}
	}
}

func TestStartTimeoutEndsTheWaitForNeedsOfANode(t *testing.T) {
	for name, c := range map[string]struct {
		text   string
		change func(*testing.T, *config.Loaded)
	}{
		"from the file": {text: "start_timeout: 1ms"},
		"set while it waits": {change: func(t *testing.T, l *config.Loaded) {
			if _, err := l.Set(map[string]string{"start_timeout": "1ms"}); err != nil {
				t.Error(err)
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			l := load(t, config.Config{File: write(t, "sabir.yaml", "log: {level: error}\n"+c.text)})
			orders := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("users")))
			node := sabir.NewNode(sabir.Serve(orders), l.Option())
			started := make(chan error)
			go func() { started <- node.Start(t.Context()) }()
			if c.change != nil {
				for !strings.Contains(fmt.Sprint(node.Ready(t.Context())), "no node offers users") {
					runtime.Gosched()
				}
				c.change(t, l)
			}
			err := <-started
			if !errors.Is(err, sabir.ErrServiceUnavailable) || !strings.Contains(err.Error(), "orders depends on users: StartTimeout, 1ms, is over") {
				t.Errorf("the start ended with %v", err)
			}
		})
	}
}

func TestTheFormatOfTheLogChangesWhileTheNodeRuns(t *testing.T) {
	file, err := os.Create(filepath.Join(t.TempDir(), "log"))
	if err != nil {
		t.Fatal(err)
	}
	defer file.Close()
	before := os.Stderr
	os.Stderr = file
	l := load(t, config.Config{})
	log := l.Logger().With("shop", 7).WithGroup("order")
	os.Stderr = before
	log.Info("one", "id", 1)
	if _, err := l.Set(map[string]string{"log.format": "json"}); err != nil {
		t.Fatal(err)
	}
	log.Info("two", "id", 2)
	text, err := os.ReadFile(file.Name())
	lines := strings.Split(string(text), "\n")
	if err != nil || len(lines) != 3 || !strings.HasSuffix(lines[0], `msg=one shop=7 order.id=1`) || !strings.HasSuffix(lines[1], `"msg":"two","shop":7,"order":{"id":2}}`) {
		t.Errorf("%q, %v", lines, err)
	}
}

func TestAChangeOfSettingsIsInTheLogWhateverItsLevel(t *testing.T) {
	path := filepath.Join(t.TempDir(), "log")
	log, err := os.Create(path)
	if err != nil {
		t.Fatal(err)
	}
	defer log.Close()
	before := os.Stderr
	os.Stderr = log
	file := write(t, "sabir.yaml", "log: {level: info}")
	l := load(t, config.Config{File: file})
	node := sabir.NewNode(l.Option(), sabir.Join("mem://"+t.Name()))
	os.Stderr = before
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	wantLine := func(text string) {
		t.Helper()
		for until := time.Now().Add(10 * time.Second); ; {
			if got, err := os.ReadFile(path); err != nil || time.Now().After(until) {
				t.Fatalf("no line has %q: %v\n%s", text, err, got)
			} else if strings.Contains(string(got), text) {
				return
			}
			runtime.Gosched()
		}
	}
	set := func(values map[string]string) {
		t.Helper()
		if _, err := sabir.Call[[]string](t.Context(), node, "$config.set", values); err != nil {
			t.Fatal(err)
		}
	}
	set(map[string]string{"log.level": "warn"})
	wantLine(`until the node stops" node=` + node.ID() + " changed=log.level")
	set(map[string]string{"max_depth": "9"})
	wantLine(`until the node stops" node=` + node.ID() + " changed=max_depth")
	set(map[string]string{"log.level": "", "max_depth": ""})
	if err := os.WriteFile(file, []byte("log: {level: error}"), 0o600); err != nil {
		t.Fatal(err)
	}
	hangUp(t)
	wantLine(`"configuration was read again" node=` + node.ID() + " changed=log.level")
}
