package web

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/web/exchange"
)

// servedLines gets the lines that tell what HTTP serves.
type servedLines chan string

func (l servedLines) Write(line []byte) (int, error) {
	if strings.Contains(string(line), `msg="http serves"`) {
		l <- string(line)
	}
	return len(line), nil
}

func (l servedLines) next(t *testing.T, words ...string) {
	t.Helper()
	select {
	case line := <-l:
		for _, word := range words {
			if !strings.Contains(line, word) {
				t.Errorf("%s is not in %s", word, line)
			}
		}
	case <-time.After(waitLimit):
		t.Fatalf("nothing is logged with %v", words)
	}
}

func TestTheLogSaysWhatWaitsAndWhenItIsServed(t *testing.T) {
	other := startAs(t, "other", sabir.Join("mem://"+t.Name()))
	orders := sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("users"), sabir.ServiceName("stock")))
	sabir.Handle(orders, "get", func(context.Context, nothing) (nothing, error) { return nothing{}, nil })
	lines := make(servedLines, 10)
	node := sabir.NewNode(sabir.NodeID("n"), logTo(lines), sabir.Join("mem://"+t.Name()), sabir.Serve(orders), sabir.HTTP(":0"))
	started := make(chan error, 1)
	go func() { started <- node.Start(t.Context()) }()
	lines.next(t, "actions=none", `waiting="orders depends on users; orders depends on stock"`)
	for _, need := range []string{"users", "stock"} {
		if err := other.Add(t.Context(), sabir.NewService(need)); err != nil {
			t.Fatal(err)
		}
	}
	lines.next(t, `actions="1 for `)
	if err := <-started; err != nil {
		t.Fatal(err)
	}
	if err := node.Stop(context.Background()); err != nil {
		t.Fatal(err)
	}
	if len(lines) > 0 {
		t.Errorf("logged too: %s", <-lines)
	}
}

func TestAStartThatEndsWhileServicesWaitLeavesNothing(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	lines := make(servedLines, 10)
	node := sabir.NewNode(sabir.NodeID("n"), logTo(lines), sabir.Serve(sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("users")))), sabir.HTTP(":0"))
	started := make(chan error, 1)
	go func() { started <- node.Start(ctx) }()
	lines.next(t, `waiting="orders depends on users"`)
	end()
	if err := <-started; err == nil || len(lines) > 0 {
		t.Errorf("it ended with %v and logged %d lines more", err, len(lines))
	}
}

// Whoever waited for the node to run kept a start that was broken off from ending.
func TestAStartThatIsBrokenOffWaitsForNobodyWhoWantsToListen(t *testing.T) {
	ctx, end := context.WithCancel(t.Context())
	lines, came := make(servedLines, 10), make(chan bool, 1)
	note := With(Config{Filters: Filters{exchange.Filter{Name: "note", Before: func(*exchange.Exchange) error { came <- true; return nil }}}})
	node := sabir.NewNode(sabir.NodeID("n"), logTo(lines), sabir.Serve(sabir.NewService("orders", sabir.DependsOn(sabir.ServiceName("users")))), sabir.HTTP(":0", With(Config{Events: []string{"**"}}), note), sabir.Limits{StopTimeout: time.Second})
	started, asked := make(chan error, 1), make(chan string, 1)
	go func() { started <- node.Start(ctx) }()
	lines.next(t, `waiting="orders depends on users"`)
	if node.HTTPAddr() == "" {
		t.Error("the node says that HTTP is served, and not where")
	}
	go func() {
		answer, err := http.Get("http://" + node.HTTPAddr() + "/events")
		if err != nil {
			asked <- err.Error()
			return
		}
		answer.Body.Close()
		asked <- answer.Status
	}()
	select {
	case <-came:
	case failed := <-asked:
		t.Fatalf("the request ended at once: %s", failed)
	}
	end()
	if err := <-started; err == nil || strings.Contains(err.Error(), "still running") {
		t.Errorf("the start ended with %v", err)
	}
	if status := <-asked; status != "503 Service Unavailable" {
		t.Errorf("the answer is %s", status)
	}
	http.DefaultClient.CloseIdleConnections()
}
