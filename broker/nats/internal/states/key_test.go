package states_test

import (
	"context"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/actor/grain/store"
	_ "github.com/sabir-go/sabir/broker/nats"
	"github.com/sabir-go/sabir/channel"
	"github.com/sabir-go/sabir/cluster"
	"github.com/sabir-go/sabir/config"
	"github.com/sabir-go/sabir/secret"
	_ "github.com/sabir-go/sabir/transport/mem"
)

var notes = channel.New[string]("notes")

// startWithChannels starts a node that consumes a channel at the address and publishes to it, with the option of a key.
func startWithChannels(t *testing.T, address string, key cluster.Option) error {
	t.Helper()
	return startNodeWithChannels(t, address, sabir.Join("mem://key-of-a-store", key), sabir.Logger(slog.New(slog.DiscardHandler)))
}

func startNodeWithChannels(t *testing.T, address string, options ...sabir.NodeOption) error {
	t.Helper()
	got := make(chan string, 1)
	service := sabir.NewService("notes")
	notes.Consume(service, func(_ context.Context, text string) error {
		got <- text
		return nil
	})
	node := sabir.NewNode(append(options, channel.Broker(address), sabir.Serve(service))...)
	if err := node.Start(t.Context()); err != nil {
		return err
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	if _, err := notes.Publish(t.Context(), node, "hello"); err != nil {
		return err
	}
	if text := <-got; text != "hello" {
		t.Errorf("the channel gave %q", text)
	}
	return nil
}

// Port 0 is any free one, and a folder has one owner: two servers could not be.
func TestGrainsAndChannelsOfANodeWithAClusterKeyShareTheEmbeddedServer(t *testing.T) {
	for _, order := range []string{"grains first", "channels first"} {
		t.Run(order, func(t *testing.T) {
			ctx := t.Context()
			address := "nats://embedded:0?store=" + url.QueryEscape(t.TempDir())
			t.Setenv("SHOP_KEY", strings.Repeat("k", 32))
			channels := func() {
				if err := startWithChannels(t, address, cluster.Config{KeyFromEnv: "SHOP_KEY"}); err != nil {
					t.Fatal(err)
				}
			}
			if order == "channels first" {
				channels()
			}
			// doc: key
			st, err := store.Open(ctx, address, store.Config{Key: cluster.Config{KeyFromEnv: "SHOP_KEY"}})
			// end
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			if order == "grains first" {
				channels()
			}
			save(t, st, "ada", []byte("x"), 0)
		})
	}
}

// The embedded server asks for the key that the node's settings have, wherever an operator put it.
func TestAStoreTakesTheClusterKeyOfTheNodesSettings(t *testing.T) {
	key := filepath.Join(t.TempDir(), "key")
	if err := os.WriteFile(key, []byte(strings.Repeat("k", 32)+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "sabir.yaml")
	if err := os.WriteFile(file, []byte("key_file: "+key+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	join := config.Settings{Join: "mem://key-of-settings"}
	for where, from := range map[string]config.Config{
		"environment":      {Defaults: join, Env: []string{"SABIR_KEY=" + strings.Repeat("k", 32)}},
		"file of a secret": {Defaults: join, Env: []string{"SABIR_KEY_FILE=" + key}},
		"flag":             {Defaults: join, Env: []string{}, Args: []string{"--key_file", key}},
		"settings file":    {Defaults: join, Env: []string{}, File: file},
		"none":             {Defaults: join, Env: []string{}},
	} {
		t.Run(where, func(t *testing.T) {
			ctx, address := t.Context(), "nats://embedded:0?store="+url.QueryEscape(t.TempDir())
			c, err := config.Load(from)
			if err != nil {
				t.Fatal(err)
			}
			// doc: settings
			st, err := store.Open(ctx, address, store.Config{Key: c.ClusterKey(), Log: c.Logger()})
			// end
			if err != nil {
				t.Fatal(err)
			}
			t.Cleanup(func() { st.Close() })
			if err := startNodeWithChannels(t, address, c.Option()); err != nil {
				t.Fatal(err)
			}
			save(t, st, "ada", []byte("x"), 0)
		})
	}
}

func TestAStoreWithoutTheKeyOfItsNodeIsSaidSo(t *testing.T) {
	key := cluster.Config{Key: secret.New(strings.Repeat("k", 32))}
	t.Run("grains first", func(t *testing.T) {
		address := "nats://embedded:0?store=" + url.QueryEscape(t.TempDir())
		open(t, address)
		err := startWithChannels(t, address, key)
		if err == nil || !strings.Contains(err.Error(), "was started without the cluster key") || !strings.Contains(err.Error(), "store.Config") {
			t.Errorf("the node's error is %v", err)
		}
	})
	t.Run("channels first", func(t *testing.T) {
		address := "nats://embedded:0?store=" + url.QueryEscape(t.TempDir())
		if err := startWithChannels(t, address, key); err != nil {
			t.Fatal(err)
		}
		_, err := store.Open(t.Context(), address)
		if err == nil || !strings.Contains(err.Error(), "wants a cluster key") || !strings.Contains(err.Error(), "store.Config") {
			t.Errorf("the store's error is %v", err)
		}
	})
}

func TestAStoresKeyThatIsNoneIsRefused(t *testing.T) {
	for text, key := range map[string]cluster.Option{
		"SABIR_KEY_THAT_IS_NOT_SET": cluster.Config{KeyFromEnv: "SABIR_KEY_THAT_IS_NOT_SET"},
		"cluster key 1 has 5 bytes": cluster.Config{Key: secret.New("short")},
	} {
		_, err := store.Open(t.Context(), "nats://embedded:0?store="+url.QueryEscape(t.TempDir()), store.Config{Key: key})
		if err == nil || !strings.Contains(err.Error(), text) || !strings.Contains(err.Error(), "store.Config.Key") {
			t.Errorf("the error is %v, want %q", err, text)
		}
	}
}
