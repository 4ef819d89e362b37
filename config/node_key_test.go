package config_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/internal/identity"
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
