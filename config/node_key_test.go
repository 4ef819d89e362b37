package config_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/secret"
	_ "github.com/sabir-go/sabir/transport/mem"
)

func TestANodeProvesItsIDByTheKeyOfItsSettings(t *testing.T) {
	key, err := identity.NewKey("the private key of nodes called orders-*")
	if err != nil {
		t.Fatal(err)
	}
	file := write(t, "sabir.yaml", "join: mem://node-keys\nkey: the key that all nodes share\nnode_key_file: "+write(t, "key", "the private key of nodes called orders-*\n")+"\nnode_keys: {orders-*: "+key.Public()+"}")
	for id, refused := range map[string]string{"orders-1": "", "billing-1": `this node is called "billing-1"`} {
		l := load(t, config.Config{File: file, Env: []string{"SABIR_ID=" + id}})
		n := sabir.NewNode(l.Option())
		err := n.Start(t.Context())
		if err == nil {
			n.Stop(t.Context())
		}
		if (err == nil) != (refused == "") || err != nil && !strings.Contains(err.Error(), refused) {
			t.Errorf("%s: %v", id, err)
		}
	}
}

func TestWhileTheClusterChangesItsKeyTheOldOneStandsBehindTheNewOne(t *testing.T) {
	const old, next = "0123456789abcdef0123456789abcdef", "fedcba9876543210fedcba9876543210"
	settings := config.Settings{ID: "first", Join: "tcp://127.0.0.1:0", Key: secret.New(old), Log: config.Log{Level: "error"}}
	first := start(t, load(t, config.Config{Defaults: settings}), slowly())
	settings.ID, settings.Key, settings.Seeds = "second", secret.New(next+", "+old), []string{first.Info().Addr}
	second := start(t, load(t, config.Config{Defaults: settings}))
	if err := second.WaitFor(t.Context(), "slow"); err != nil {
		t.Error(err)
	}
}
