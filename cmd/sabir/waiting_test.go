package main

import (
	"context"
	"log/slog"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web"
)

func TestNodesSaysWhatServicesWaitFor(t *testing.T) {
	address := freePort(t)
	startMember(t, "a", address)
	orders := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("users"), sabir.ServiceName("stock")))
	serves := make(lineWithHTTP, 1)
	b := sabir.NewNode(sabir.NodeID("b"), sabir.Logger(slog.New(slog.NewTextHandler(serves, nil))), sabir.Join(address), sabir.Serve(orders), sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}})))
	ctx, end := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- b.Start(ctx) }()
	t.Cleanup(func() {
		end()
		<-ended
	})
	<-serves
	for _, to := range [][]string{{"--join", address}, {"--url", "http://" + b.HTTPAddr()}} {
		got := sabirRun(t, append([]string{"nodes"}, to...)...)
		for _, want := range []string{"b     starting: no users, no stock  ", "\nnode b: orders depends on stock: no node offers the service stock, so that orders has not started\n", "\nnode b: orders depends on users: "} {
			if !strings.Contains(got.out, want) {
				t.Errorf("%v: %q is not in\n%s%s", to, want, got.out, got.errOut)
			}
		}
		for _, n := range oneJSON[[]surveyed](t, sabirRun(t, append([]string{"nodes", "--json"}, to...)...).out) {
			if n.ID == "b" && (len(n.Unmet) != 2 || n.Unmet[0].On != "users" || !strings.Contains(n.NotReady, "no node offers stock, users, which orders depends on")) {
				t.Errorf("%v: the JSON is %+v", to, n)
			}
		}
	}
}

// lineWithHTTP gets a value when a log says that HTTP serves.
type lineWithHTTP chan struct{}

func (l lineWithHTTP) Write(line []byte) (int, error) {
	if strings.Contains(string(line), "http serves") {
		select {
		case l <- struct{}{}:
		default:
		}
	}
	return len(line), nil
}

func TestNodesOverHTTPSaysWhichCheckFails(t *testing.T) {
	fails := sabir.Ready("db", func(context.Context) error { return context.Canceled })
	startNode(t, sabir.NewNode(sabir.NodeID("n"), quiet(), fails, sabir.HTTP(":0", web.With(web.Config{Operators: []string{web.ThisMachine}}))))
	if got := sabirRun(t, "nodes"); !strings.Contains(got.out, "not ready: db") {
		t.Errorf("%+v", got)
	}
}
