package config_test

import (
	"context"
	"net/http"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
	_ "github.com/sabir-go/sabir/web"
)

const firstKey, secondKey, thirdKey = "the-first-key-for-http", "the-second-key-for-http", "the-third-key-for-http"

func TestTheKeysForHTTPChangeWhileTheServersRun(t *testing.T) {
	text := func(keys string) string {
		return "log: {level: error}\nhttp: {address: ':0', key: '" + keys + "'}\nadmin: {address: ':0', metrics: true, key: '" + keys + "'}"
	}
	file := write(t, "sabir.yaml", text(firstKey))
	l := load(t, config.Config{File: file})
	node := sabir.NewNode(sabir.Serve(deep()), l.Option())
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	opened := func() (keys []string) {
		for _, key := range []string{firstKey, secondKey, thirdKey} {
			one := asks(t, "POST", "http://"+node.HTTPAddr()+"/deep/down", key)
			if other := asks(t, "GET", "http://"+node.AdminAddr()+"/metrics", key); one != other {
				t.Errorf("one server answers %s with %v, the other with %v", key, one, other)
			}
			if one {
				keys = append(keys, key)
			}
		}
		return keys
	}
	reload := func(text string) (used, later []string, err error) {
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		return l.Reload()
	}
	for _, step := range []struct {
		name        string
		do          func() (used, later []string, err error)
		used, later []string
		problem     string
		opened      []string
	}{
		{name: "at first", do: func() (_, _ []string, _ error) { return }, opened: []string{firstKey}},
		{name: "both", do: func() (_, _ []string, _ error) { return reload(text(secondKey + ", " + firstKey)) },
			used: []string{"admin.key", "http.key"}, opened: []string{firstKey, secondKey}},
		{name: "the new one", do: func() (_, _ []string, _ error) { return reload(text(secondKey)) },
			used: []string{"admin.key", "http.key"}, opened: []string{secondKey}},
		{name: "one that is too short", do: func() (_, _ []string, _ error) { return reload(text("short") + "\nmax_depth: 3") },
			problem: "characters is too short", opened: []string{secondKey}},
		{name: "none", do: func() (_, _ []string, _ error) { return reload(text("")) },
			later: []string{"admin.key", "http.key"}, opened: []string{secondKey}},
		{name: "set by an operator", do: func() (_, _ []string, err error) {
			used, err := l.Set(map[string]string{"http.key": thirdKey, "admin.key": thirdKey})
			return used, nil, err
		}, used: []string{"admin.key", "http.key"}, opened: []string{thirdKey}},
	} {
		used, later, err := step.do()
		if !slices.Equal(used, step.used) || !slices.Equal(later, step.later) || (err == nil) != (step.problem == "") || err != nil && !strings.Contains(err.Error(), step.problem) {
			t.Errorf("%s: used %v, later %v, %v", step.name, used, later, err)
		}
		if got := opened(); !slices.Equal(got, step.opened) {
			t.Errorf("%s: %q are accepted", step.name, got)
		}
	}
}

func TestAServerDoesNotBeginToAskForAKeyWhileItRuns(t *testing.T) {
	l := load(t, config.Config{File: write(t, "sabir.yaml", "log: {level: error}\nhttp: {address: ':0'}")})
	node := sabir.NewNode(sabir.Serve(deep()), l.Option())
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(context.Background())
	if _, err := l.Set(map[string]string{"http.key": firstKey}); err == nil || !strings.Contains(err.Error(), "http.key cannot change while the node runs") {
		t.Error(err)
	}
	if !asks(t, "POST", "http://"+node.HTTPAddr()+"/deep/down", "") {
		t.Error("it asks for a key")
	}
}

// asks reports whether a server lets the holder of a key in.
func asks(t *testing.T, method, url, key string) bool {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), method, url, strings.NewReader("1"))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+key)
	request.Header.Set("Content-Type", "application/json")
	request.Close = true
	answer, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	answer.Body.Close()
	if answer.StatusCode != http.StatusOK && answer.StatusCode != http.StatusUnauthorized {
		t.Errorf("%s answers %d", url, answer.StatusCode)
	}
	return answer.StatusCode == http.StatusOK
}
