package main

import (
	"context"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
)

func TestANodeWithoutConfigLoadIsSaidToHaveNoSettings(t *testing.T) {
	node := sabir.NewNode(quiet(), sabir.NodeID("a"), sabir.Join(freePort(t)))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = node.Stop(context.Background()) })
	const why = "no settings to list or to change: it was not made with the option of config.Load"
	if got := sabirRun(t, "config", "list", "a", "--join", node.Info().Addr); got.code != exitFailed || !strings.Contains(got.errOut, "node a has "+why) {
		t.Errorf("%+v", got)
	}
	got := sabirRun(t, "config", "set", "*", "log.level=warn", "--json", "--join", node.Info().Addr)
	if list := oneJSON[[]configSetResult](t, got.out); got.code != exitFailed || len(list) != 1 || list[0].Changed == nil || list[0].Error != "it has "+why {
		t.Errorf("%+v", got)
	}
}

func TestSettingsOfNodesThatRunAreSetAndListed(t *testing.T) {
	address := freePort(t)
	loaded := make(map[string]*config.Loaded)
	for _, id := range []string{"a", "b"} {
		l, err := config.Load(config.Config{Env: []string{}, Defaults: config.Settings{ID: id, Join: address, Log: config.Log{Level: "error"}}})
		if err != nil {
			t.Fatal(err)
		}
		node := sabir.NewNode(l.Option())
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		t.Cleanup(func() { _ = node.Stop(context.Background()) })
		loaded[id] = l
		address = node.Info().Addr
	}
	got := sabirRun(t, "config", "set", "a", "policies.users.*.timeout=2s", "--join", address)
	if got.code != exitOK || !strings.Contains(got.out, "a     policies.users.*.timeout") {
		t.Errorf("%+v", got)
	}
	got = sabirRun(t, "config", "set", "*", "log.level=warn", "--join", address)
	if got.code != exitOK || !strings.Contains(got.out, "a     log.level\nb     log.level\n") {
		t.Errorf("%+v", got)
	}
	got = sabirRun(t, "config", "list", "a", "--join", address)
	if text := strings.Join(strings.Fields(got.out), " "); got.code != exitOK || !strings.Contains(text, "log.level warn set while it runs policies.users.*.timeout 2s set while it runs") {
		t.Errorf("%+v", got)
	}
	got = sabirRun(t, "config", "set", "*", "id=c", "--join", address)
	if got.code == exitOK || !strings.Contains(got.out, "id cannot change while the node runs") || !strings.Contains(got.errOut, "2 of 2 nodes took nothing") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "config", "set", "a", "log.level", "--join", address); got.code != exitUsage || !strings.Contains(got.errOut, "NAME=VALUE") {
		t.Errorf("%+v", got)
	}
	if loaded["a"].Settings.Log.Level != "warn" || loaded["b"].Settings.Policies != nil {
		t.Errorf("%+v", loaded)
	}
}
