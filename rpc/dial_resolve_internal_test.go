package rpc

import (
	"context"
	"errors"
	"log/slog"
	"net"
	"runtime"
	"sync/atomic"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	_ "github.com/sabir-go/sabir/web"
)

// serveID starts a node whose one action answers with the node's id.
func serveID(t *testing.T, id, at string) (address string) {
	t.Helper()
	s := sabir.NewService("who")
	sabir.Handle(s, "are", func(context.Context, sabir.Empty) (string, error) { return id, nil })
	return startFor(t, sabir.NodeID(id), sabir.Serve(s), sabir.HTTP(at, Serve())).HTTPAddr()
}

func startFor(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(append(options, sabir.Logger(slog.New(slog.DiscardHandler)))...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { node.Stop(context.Background()) })
	return node
}

func TestANameIsCalledAtAllOfItsAddressesAndAtThoseThatItHasLater(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("elsewhere 127.0.0.2 is no address until it is made one")
	}
	_, port, err := net.SplitHostPort(serveID(t, "one", "127.0.0.1:0"))
	if err != nil {
		t.Fatal(err)
	}
	serveID(t, "two", net.JoinHostPort("127.0.0.2", port))
	var addresses atomic.Pointer[[]string]
	addresses.Store(&[]string{"127.0.0.2", "127.0.0.1", "127.0.0.1"})
	target := newDNSTarget(Foreign{}, "///localhost:"+port)
	target.lookup = func(_ context.Context, host string) ([]string, error) {
		if found := addresses.Load(); host == "localhost" && found != nil {
			return *found, nil
		}
		return nil, errors.New("there is no such name")
	}
	node := startFor(t, sabir.WithExtension(target))
	answers := func() map[string]bool {
		seen := make(map[string]bool)
		for range 40 {
			got, err := sabir.Call[string](t.Context(), node, "who.are", sabir.Empty{})
			if err != nil {
				t.Fatal(err)
			}
			seen[got] = true
		}
		return seen
	}
	until := func(about string, holds func() bool) {
		for end := time.Now().Add(time.Minute); !holds(); time.Sleep(time.Millisecond) {
			if time.Now().After(end) {
				t.Fatal(about)
			}
		}
	}
	if seen := answers(); !seen["one"] || !seen["two"] {
		t.Errorf("both addresses: %v", seen)
	}
	addresses.Store(&[]string{"127.0.0.2"})
	target.askForLook()
	until("an address that the name has no more is still a node", func() bool { return len(node.Nodes()) == 2 })
	if seen := answers(); seen["one"] || !seen["two"] {
		t.Errorf("one address: %v", seen)
	}
	addresses.Store(nil) // the server of names has gone
	target.askForLook()
	until("the addresses were not asked for", func() bool { return len(target.looks) == 0 })
	if seen := answers(); !seen["two"] {
		t.Errorf("without a server of names: %v", seen)
	}
}

func TestANameWithoutAddressesIsAskedForAgain(t *testing.T) {
	asked := make(chan struct{}, 10)
	target := newDNSTarget(Foreign{}, "///localhost:1")
	target.lookup = func(context.Context, string) ([]string, error) {
		asked <- struct{}{}
		return nil, errors.New("there is no such name")
	}
	startFor(t, sabir.WithExtension(target))
	<-asked
	<-asked
}
