package sabir_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/secret"
)

const (
	oldClusterKey = "the-old-key-of-the-cluster"
	newClusterKey = "the-new-key-of-the-cluster"
)

func TestAClusterKeyComesFromAFileOrTheEnvironment(t *testing.T) {
	file := filepath.Join(t.TempDir(), "cluster-key")
	if err := os.WriteFile(file, []byte("\n  "+newClusterKey+"\r\n"+oldClusterKey+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	t.Setenv("TEST_CLUSTER_KEY", newClusterKey+", "+oldClusterKey)
	for name, option := range map[string]cluster.Option{"file": cluster.Config{KeyFile: file}, "environment": cluster.Config{KeyFromEnv: "TEST_CLUSTER_KEY"}} {
		address := "mem://" + t.Name() + "-" + name
		startNode(t, sabir.NodeID("a"), sabir.Join(address, option))
		for id, key := range map[string]string{"has-the-old-key": oldClusterKey, "has-the-new-key": newClusterKey} {
			node := startNode(t, sabir.NodeID(id), sabir.Join(address, cluster.Config{Key: secret.New(key), Seeds: []string{address}}))
			if len(node.Nodes()) < 2 {
				t.Errorf("%s: the node that %s does not see the other", name, id)
			}
			node.Stop(context.Background())
		}
	}
}

func TestANodeWhoseClusterKeyIsMissingDoesNotStart(t *testing.T) {
	empty := filepath.Join(t.TempDir(), "empty")
	if err := os.WriteFile(empty, []byte(" \n,\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for want, option := range map[string]cluster.Option{
		"no-such-file":                      cluster.Config{KeyFile: filepath.Join(t.TempDir(), "no-such-file")},
		"empty holds no key":                cluster.Config{KeyFile: empty},
		"TEST_NO_CLUSTER_KEY holds no key":  cluster.Config{KeyFromEnv: "TEST_NO_CLUSTER_KEY"},
		"OldKeys needs a Key":               cluster.Config{OldKeys: []secret.Secret{secret.New(oldClusterKey)}},
		"at least 16 are needed":            cluster.Config{Key: secret.New("short")},
		"cluster keys 1 and 2 are the same": cluster.Config{Key: secret.New(newClusterKey), OldKeys: []secret.Secret{secret.New(newClusterKey)}},
	} {
		node := sabir.NewNode(sabir.Join("mem://"+t.Name(), option), sabir.Logger(quiet))
		err := node.Start(t.Context())
		if err == nil {
			node.Stop(context.Background())
		}
		if err == nil || !strings.Contains(err.Error(), want) || strings.Contains(err.Error(), newClusterKey) {
			t.Errorf("it starts with %v, want an error with %q and without the key", err, want)
		}
	}
}

func TestAClusterKeyShowsNowhere(t *testing.T) {
	var log struct {
		sync.Mutex // the library for membership may still log when its node has stopped
		text       bytes.Buffer
	}
	written := writerFunc(func(p []byte) (int, error) {
		log.Lock()
		defer log.Unlock()
		return log.text.Write(p)
	})
	address := "mem://" + t.Name()
	option := cluster.Config{Key: secret.New(newClusterKey), OldKeys: []secret.Secret{secret.New(oldClusterKey)}}
	join := sabir.Join(address, option)
	node := sabir.NewNode(sabir.NodeID("a"), join, sabir.Logger(slog.New(slog.NewTextHandler(written, &slog.HandlerOptions{Level: slog.LevelDebug}))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	other := startNode(t, sabir.NodeID("b"), sabir.Join(address, option, cluster.Config{Seeds: []string{address}}))
	listed, err := json.Marshal(other.Nodes())
	if err != nil {
		t.Fatal(err)
	}
	dump, err := json.Marshal(node.Info())
	if err != nil {
		t.Fatal(err)
	}
	other.Stop(context.Background())
	node.Stop(context.Background()) // so that nothing changes while it is printed
	log.Lock()
	logged := log.text.String()
	log.Unlock()
	for what, text := range map[string]string{
		"a node, printed": fmt.Sprintf("%v %+v %#v", node, node, node), "the options": fmt.Sprintf("%v %+v %#v", option, join, join),
		"the log": logged, "$node": string(listed) + string(dump),
	} {
		for _, secret := range []string{newClusterKey, oldClusterKey, fmt.Sprint([]byte(newClusterKey))[1:40], fmt.Sprintf("%x", newClusterKey)} {
			if strings.Contains(text, secret) {
				t.Errorf("%s shows the key", what)
			}
		}
	}
}

func TestAnAddressWithPlainIsWarnedOf(t *testing.T) {
	var log bytes.Buffer
	plain := sabir.NewNode(sabir.Join("mem://"+t.Name()+"?plain=1", cluster.Config{Key: secret.New(newClusterKey)}), sabir.Logger(slog.New(slog.NewTextHandler(&log, nil))))
	if err := plain.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	plain.Stop(context.Background())
	if !strings.Contains(log.String(), "level=WARN") || !strings.Contains(log.String(), "links are not encrypted") {
		t.Errorf("the log is\n%s", &log)
	}
	node := sabir.NewNode(sabir.Join("mem://" + t.Name() + "?plain=yes"))
	if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), `plain="yes"`) {
		t.Errorf("plain=yes gives %v", err)
	}
}
