package main

import (
	"context"
	"encoding/json"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/telemetry"
	"github.com/sabir-go/sabir/web/dashboard"
)

// startMCP runs "sabir mcp" for the length of a test and connects a client to it.
func startMCP(t *testing.T, args ...string) *sdk.ClientSession {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	ended := make(chan int, 1)
	var errOut strings.Builder
	go func() {
		ended <- execute(ctx, append([]string{"mcp"}, args...), fromClient, toClient, &errOut)
		toClient.Close()
	}()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(ctx, &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err, errOut.String())
	}
	t.Cleanup(func() {
		defer cancel()
		session.Close()
		if code := <-ended; code != exitOK {
			t.Errorf("it ended with %d: %s", code, errOut.String())
		}
	})
	return session
}

func toolNames(t *testing.T, session *sdk.ClientSession) []string {
	t.Helper()
	names := make(map[string]bool)
	for tool, err := range session.Tools(t.Context(), nil) {
		if err != nil {
			t.Fatal(err)
		}
		names[tool.Name] = true
	}
	return slices.Sorted(maps.Keys(names))
}

// callMCP calls a tool and returns its answer.
func callMCP[Out any](t *testing.T, session *sdk.ClientSession, name string, arguments map[string]any) Out {
	t.Helper()
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: name, Arguments: arguments})
	if err != nil {
		t.Fatal(err)
	}
	text := result.Content[0].(*sdk.TextContent).Text
	if result.IsError {
		t.Fatalf("%s: %s", name, text)
	}
	var answer struct{ Result Out }
	if err := json.Unmarshal([]byte(text), &answer); err != nil {
		t.Fatal(err)
	}
	return answer.Result
}

func TestAnAgentLooksAtACluster(t *testing.T) {
	startCluster(t, &cli{})
	session := startMCP(t, "users.*", "orders.*")
	want := []string{"sabir_actions", "sabir_channels", "sabir_dead_letters", "sabir_errors", "sabir_nodes", "sabir_services", "sabir_traces"}
	got := toolNames(t, session)
	if !slices.Equal(slices.DeleteFunc(slices.Clone(got), func(name string) bool { return !strings.HasPrefix(name, "sabir_") }), want) {
		t.Errorf("%q", got)
	}
	if !slices.Contains(got, "users_get") || slices.Contains(got, "orders_create") {
		t.Errorf("without --write there are those that read: %q", got)
	}
	if nodes := callMCP[[]surveyed](t, session, "sabir_nodes", nil); len(nodes) != 3 || nodes[0].ID != "demo-1" || nodes[0].State != "running" {
		t.Errorf("%+v", nodes)
	}
	if services := callMCP[[]map[string]any](t, session, "sabir_services", map[string]any{"pattern": "users"}); len(services) != 2 || services[0]["name"] != "users" {
		t.Errorf("%v", services)
	}
	if actions := callMCP[[]map[string]any](t, session, "sabir_actions", map[string]any{"pattern": "users.g*"}); len(actions) != 1 || actions[0]["name"] != "users.get" {
		t.Errorf("%v", actions)
	}
	if letters := callMCP[[]any](t, session, "sabir_channels", nil); letters == nil {
		t.Error("no list of channels")
	}
	result, err := session.CallTool(t.Context(), &sdk.CallToolParams{Name: "users_get", Arguments: map[string]any{"id": "u-1"}})
	if err != nil || result.IsError || !strings.Contains(result.Content[0].(*sdk.TextContent).Text, "Ada Marino") {
		t.Errorf("a call of another node: %v, %v", result, err)
	}
}

func TestAnAgentFindsLateErrorsAndTheirTraces(t *testing.T) {
	traces := dashboard.Traces(100)
	tel, err := telemetry.New(telemetry.Config{Traces: traces, SampleRatio: 1})
	if err != nil {
		t.Fatal(err)
	}
	users := sabir.NewService("users")
	sabir.Handle(users, "get", func(context.Context, sabir.Empty) (sabir.Empty, error) {
		return sabir.Empty{}, sabir.NewError(sabir.CodeUnavailable, "TableLocked", "the table of users is locked")
	})
	address := freePort(t)
	t.Setenv("SABIR_JOIN", address)
	node := sabir.NewNode(sabir.NodeID("one"), quiet(), sabir.Join(address), sabir.Serve(users, traces.Service()), sabir.Use(tel.Middleware()))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.WithoutCancel(t.Context())); err != nil {
			t.Error(err)
		}
	})
	sabirRun(t, "call", "users.get")
	session := startMCP(t)
	var failed []lateError
	i := -1
	for end := time.Now().Add(50 * time.Second); i < 0 && time.Now().Before(end); { // spans come to the ring a moment later
		failed = callMCP[[]lateError](t, session, "sabir_errors", map[string]any{"minutes": 1})
		i = slices.IndexFunc(failed, func(e lateError) bool { return e.Name == "users.get" })
	}
	if i < 0 || failed[i].Count < 1 || failed[i].Trace == "" || failed[i].Error != "TableLocked" || failed[i].Node != "one" {
		t.Fatalf("%+v", failed)
	}
	if spans := callMCP[[]span](t, session, "sabir_traces", map[string]any{"trace": failed[i].Trace}); len(spans) == 0 || spans[0].Trace != failed[i].Trace {
		t.Errorf("%+v", spans)
	}
	for _, s := range callMCP[[]span](t, session, "sabir_traces", map[string]any{"failed": true, "limit": 2}) {
		if !s.Failed {
			t.Errorf("%+v", s)
		}
	}
}

func TestWithWriteAnAgentMayChangeSomething(t *testing.T) {
	startCluster(t, &cli{})
	got := toolNames(t, startMCP(t, "--write", "orders.*"))
	for _, want := range []string{"orders_create", "sabir_replay_dead_letters", "sabir_delete_dead_letters"} {
		if !slices.Contains(got, want) {
			t.Errorf("%s is not among %q", want, got)
		}
	}
}

func TestMistakesWithMCPAreSaidBeforeAnythingIsBegun(t *testing.T) {
	for want, args := range map[string][]string{"mcp needs a cluster": {"mcp"}, "pattern": {"mcp", "--join", "tcp://127.0.0.1:1", "or ders"}} {
		if got := sabirRun(t, args...); got.code != exitUsage || !strings.Contains(got.errOut, want) || got.out != "" {
			t.Errorf("%q: %+v", args, got)
		}
	}
}
