package wire_test

import (
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/seal"
	"github.com/sabir-go/sabir/internal/wire"
)

func TestConfigWithANodeIsEnough(t *testing.T) {
	if err := (wire.Config{Node: "a"}).Validate(); err != nil {
		t.Error(err)
	}
}

func TestConfigRefuses(t *testing.T) {
	for _, tc := range []struct {
		name   string
		change func(*wire.Config)
		want   string
	}{
		{"no node", func(c *wire.Config) { c.Node = "" }, "Config.Node is empty"},
		{"a long node", func(c *wire.Config) { c.Node = strings.Repeat("n", 256) }, "Config.Node has 256 bytes, at most 255"},
		{"a node with a line break", func(c *wire.Config) { c.Node = "a\nb" }, "Config.Node holds a control character"},
		{"a cluster that is not UTF-8", func(c *wire.Config) { c.Cluster = "\xff" }, "Config.Cluster is not UTF-8"},
		{"a short key", func(c *wire.Config) { c.Keys = seal.NewKeys("0123456789abcde") }, "Config.Keys: cluster key 1 has 15 bytes, at least 16 are needed"},
		{"more keys than three", func(c *wire.Config) {
			c.Keys = seal.NewKeys("0123456789abcdef", "1123456789abcdef", "2123456789abcdef", "3123456789abcdef")
		}, "there are 4 cluster keys, at most 3 are allowed"},
		{"a key twice", func(c *wire.Config) { c.Keys = seal.NewKeys("0123456789abcdef", "0123456789abcdef") }, "cluster keys 1 and 2 are the same"},
		{"about that is not JSON", func(c *wire.Config) { c.NodeInfo = []byte("{") }, "Config.NodeInfo is not one JSON value"},
		{"empty about", func(c *wire.Config) { c.NodeInfo = []byte{} }, "Config.NodeInfo is not one JSON value"},
		{"long about", func(c *wire.Config) { c.NodeInfo = make([]byte, 16385) }, "Config.NodeInfo has 16385 bytes, at most 16384"},
		{"a compression that is not known", func(c *wire.Config) { c.Compression = "gzip" }, `Config.Compression is "gzip"`},
		{"compression above less than nothing", func(c *wire.Config) { c.CompressAbove = -1 }, "Config.CompressAbove is -1"},
		{"a negative timeout", func(c *wire.Config) { c.WriteTimeout = -1 }, "Config.WriteTimeout is -1ns"},
		{"silence shorter than the pings", func(c *wire.Config) { c.PingInterval = 5 * time.Second }, "Config.SilenceLimit is 5s and PingInterval 5s"},
		{"a negative limit", func(c *wire.Config) { c.Limits.Calls = -1 }, "Config.Limits.Calls is -1: it must be 1 to 1048576"},
		{"a limit above all", func(c *wire.Config) { c.Limits.Message = 1<<30 + 1 }, "Config.Limits.Message is 1073741825: it must be 1 to 1073741824"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			c := wire.Config{Node: "a"}
			tc.change(&c)
			if err := c.Validate(); err == nil || !strings.Contains(err.Error(), tc.want) {
				t.Errorf("error %v, want one with %q", err, tc.want)
			}
		})
	}
}

func TestConfigNamesAllFaultsAtOnceAndNotTheKey(t *testing.T) {
	err := wire.Config{Keys: seal.NewKeys("hunter2"), Compression: "gzip"}.Validate()
	for _, want := range []string{"Config.Node", "Config.Keys", "Config.Compression"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s is missing in: %v", want, err)
		}
	}
	if strings.Contains(err.Error(), "hunter2") {
		t.Error("the key is in the error")
	}
}

func TestBudgetGivesAsManyPlacesAsItHas(t *testing.T) {
	b := wire.NewBudget(2)
	for place, want := range []bool{true, true, false} {
		if got := b.Take(); got != want {
			t.Fatalf("place %d of two: %t", place+1, got)
		}
	}
	if b.InUse() != 2 {
		t.Fatalf("%d in use", b.InUse())
	}
	b.Give()
	if !b.Take() {
		t.Error("a place that was given back cannot be taken")
	}
}

func TestBudgetIsKeptUnderConcurrency(t *testing.T) {
	b := wire.NewBudget(3)
	inside := make(chan struct{}, 3) // a fourth would block, and the test with it
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 1000 {
				if !b.Take() {
					continue
				}
				select {
				case inside <- struct{}{}:
				default:
					t.Error("more than three at once")
				}
				<-inside
				b.Give()
			}
		})
	}
	wg.Wait()
	if b.InUse() != 0 {
		t.Errorf("%d in use at the end", b.InUse())
	}
}

func TestNoBudgetHasNoBound(t *testing.T) {
	var b *wire.Budget
	if !b.Take() || b.InUse() != 0 {
		t.Error("nil has a bound")
	}
	b.Give()
}

// A node that accepts connections bounds how many strangers it deals with at once.
func ExampleBudget() {
	unfinished := wire.NewBudget(256)
	accepted := func(conn net.Conn) {
		if !unfinished.Take() {
			conn.Close() // the caller tries again later
			return
		}
		go func() {
			defer unfinished.Give()
			// secured, peer, err := wire.Handshake(ctx, conn, config, false, "")
		}()
	}
	_ = accepted
	fmt.Println(unfinished.InUse())
	// Output: 0
}
