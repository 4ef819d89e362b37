package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/internal/identity"
	"github.com/sabir-go/sabir/secret"
)

const cliKey = "the private key of command lines, cli-*"

func TestThePublicKeyOfAFileIsPrinted(t *testing.T) {
	file := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(file, []byte(cliKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	key, err := identity.NewKey(cliKey)
	if err != nil {
		t.Fatal(err)
	}
	if got := sabirRun(t, "pubkey", file); got.code != exitOK || got.out != key.Public()+"\n" {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "pubkey", file, "--json"); got.code != exitOK || !strings.Contains(got.out, key.Public()) {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "pubkey", "/no/such/file"); got.code != exitUsage || !strings.Contains(got.errOut, "/no/such/file") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "pubkey"); got.code != exitUsage || !strings.Contains(got.errOut, "at least 32") {
		t.Errorf("of nothing: %+v", got)
	}
}

func TestAClusterThatAsksForNodeKeysIsJoinedWithOne(t *testing.T) {
	dir := t.TempDir()
	file := filepath.Join(dir, "key")
	if err := os.WriteFile(file, []byte(cliKey), 0o600); err != nil {
		t.Fatal(err)
	}
	const own = "the private key of nodes called shop-*"
	public := map[string]string{}
	for pattern, text := range map[string]string{"cli-*": cliKey, "shop-*": own} {
		key, err := identity.NewKey(text)
		if err != nil {
			t.Fatal(err)
		}
		public[pattern] = key.Public()
	}
	address := freePort(t)
	node := sabir.NewNode(sabir.NodeID("shop-1"), sabir.Join(address, cluster.Config{Key: secret.New(clusterKey), NodeKey: secret.New(own), NodeKeys: public}))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	defer node.Stop(t.Context())
	t.Setenv("SABIR_KEY", clusterKey)
	if got := sabirRun(t, "nodes", "--join", address, "--node-key-file", file); got.code != exitOK || !strings.Contains(got.out, "shop-1") {
		t.Errorf("%+v", got)
	}
	if got := sabirRun(t, "nodes", "--join", address); got.code != exitFailed || !strings.Contains(got.errOut, "proof of this side's id") || !strings.Contains(got.errOut, "SABIR_NODE_KEY_FILE") {
		t.Errorf("%+v", got)
	}
}
