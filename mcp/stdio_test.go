package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/mcp"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/web"
)

// serveStdio serves a node over a pair of pipes and connects a client.
func serveStdio(t *testing.T, node *sabir.Node, offered mcp.Config) (session *sdk.ClientSession, ended chan error) {
	t.Helper()
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended = make(chan error, 1)
	go func() { ended <- mcp.ServeStdio(t.Context(), node, fromClient, toClient, offered) }()
	session, err := sdk.NewClient(&sdk.Implementation{Name: "test", Version: "1"}, nil).Connect(t.Context(), &sdk.IOTransport{Reader: fromServer, Writer: toServer}, nil)
	if err != nil {
		t.Fatal(err)
	}
	return session, ended
}

func startNode(t *testing.T, options ...sabir.NodeOption) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(options...)
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { stop(t, node) })
	return node
}

func TestOneClientIsServedOverStdioUntilItGoes(t *testing.T) {
	node := startNode(t, sabir.Serve(orders(), vault()))
	session, ended := serveStdio(t, node, mcp.Config{Tools: []string{"orders.*", "vault.*"}, Resources: []string{"orders.get"}})
	if _, texts := callTool(t, session, "orders_list", nil); texts[0] != `{"result":[{"id":"o-1"},{"id":"o-2"}]}` {
		t.Errorf("%q", texts)
	}
	if result, _ := callTool(t, session, "vault_open", nil); !result.IsError {
		t.Error("it calls as nobody, and the vault is for keepers")
	}
	if result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "orders://o-1"}); err != nil || !strings.Contains(result.Contents[0].Text, "apple") {
		t.Errorf("%v, %v", result, err)
	}
	session.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

func TestAStdioServerEndsWithItsContext(t *testing.T) {
	node := startNode(t, sabir.Serve(orders()))
	ctx, cancel := context.WithCancel(t.Context())
	in, _ := io.Pipe()
	_, out := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- mcp.ServeStdio(ctx, node, in, out, mcp.Config{Tools: []string{"**"}}) }()
	cancel()
	if err := <-ended; err != context.Canceled {
		t.Error(err)
	}
}

func TestWithReadOnlyThereAreToolsThatReadOnly(t *testing.T) {
	session, ended := serveStdio(t, startNode(t, sabir.Serve(orders())), mcp.Config{Tools: []string{"**"}, ReadOnly: true})
	if got := slices.Sorted(maps.Keys(toolsOf(t, session))); !slices.Equal(got, []string{"orders_get", "orders_list"}) {
		t.Errorf("%q", got)
	}
	session.Close()
	<-ended
}

func TestActionsOfOtherNodesAreToolsWhereTheyAreForwarded(t *testing.T) {
	address := "mem://" + t.Name()
	startNode(t, sabir.NodeID("worker"), sabir.Join(address), sabir.Serve(orders()))
	gateway := startNode(t, sabir.NodeID("gateway"), sabir.Join(address), sabir.HTTP(":0", web.With(web.Config{Forward: []string{"orders.*"}}), mcp.At("/mcp", mcp.Config{Tools: []string{"**"}})))
	if err := gateway.WaitFor(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	changed := make(chan struct{}, 10)
	session := connect(t, "http://"+gateway.HTTPAddr()+"/mcp", withoutSessions, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) { changed <- struct{}{} }})
	described := func() bool { // the other node is asked for the types of its actions
		tool := toolsOf(t, session)["orders_get"]
		return tool != nil && strings.Contains(mustJSON(t, tool.InputSchema), `"enum":["o-1","o-2","o-3","none"]`)
	}
	for !described() {
		select {
		case <-changed:
		case <-time.After(waitLimit):
			t.Fatal("the tool is not there, or has no schema")
		}
	}
	if result, texts := callTool(t, session, "orders_get", map[string]any{"id": "o-1"}); result.IsError || !strings.Contains(texts[0], "apple") {
		t.Errorf("%q", texts)
	}
}

// The client of the SDK for TypeScript ends the connection over 10 MiB.
func TestAnAnswerThatIsTooLongForStdioIsAnError(t *testing.T) {
	brokers.Long(t)
	s := sabir.NewService("texts")
	sabir.Handle(s, "long", func(_ context.Context, n int) (string, error) { return strings.Repeat("x", n), nil })
	sabir.Handle(s, "read", func(context.Context, sabir.Empty) (string, error) { return strings.Repeat("x", 9<<20), nil }, sabir.Route("GET", "/read"))
	session, ended := serveStdio(t, startNode(t, sabir.Serve(s)), mcp.Config{Tools: []string{"**"}, Resources: []string{"**"}})
	if result, texts := callTool(t, session, "texts_long", map[string]any{"input": 5 << 20}); !result.IsError ||
		!strings.HasSuffix(texts[0], " bytes as a message, and clients over stdio take 8388608: ask for less") || !strings.Contains(texts[1], `"error":"MessageTooLarge","code":"ResourceExhausted"`) {
		t.Errorf("%.200q", texts)
	}
	if _, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "texts://read"}); err == nil || !strings.Contains(err.Error(), "clients over stdio take 8388608") {
		t.Errorf("%v", err)
	}
	if result, _ := callTool(t, session, "texts_long", map[string]any{"input": 4<<20 - 200}); result.IsError {
		t.Error("an answer that fits is an error")
	}
	session.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// The client of the SDK for TypeScript drops the progress that it reads together with the answer.
func TestAnAnswerOverStdioFollowsWhenTheClientHasItsProgress(t *testing.T) {
	count, _ := counter()
	ask, lines := rawStdio(t, startNode(t, sabir.Serve(count)), mcp.Config{Tools: []string{"**"}})
	ask(initializeLine)
	next(t, lines)
	ask(`{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"counter_run","arguments":{"n":2},"_meta":{"progressToken":"p"}}}`)
	for range 2 {
		if line := next(t, lines); !strings.Contains(line, `"notifications/progress"`) {
			t.Fatal(line)
		}
	}
	var ping struct {
		ID     json.RawMessage
		Method string
	}
	if line := next(t, lines); json.Unmarshal([]byte(line), &ping) != nil || ping.Method != "ping" {
		t.Fatalf("no ping: %s", line)
	}
	ask(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{}}`, ping.ID))
	if line := next(t, lines); !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":1`) {
		t.Error(line)
	}
}

// The SDK ended the connection over such a line, with the calls in flight.
func TestALineThatIsNoMessageIsAnsweredOverStdioAndTheNextOneIsServed(t *testing.T) {
	ask, lines := rawStdio(t, startNode(t, sabir.Serve(orders())), mcp.Config{Tools: []string{"**"}})
	ask(initializeLine)
	next(t, lines)
	ping := `{"jsonrpc":"2.0","id":7,"method":"ping"}`
	for line, code := range map[string]string{
		"hello": "-32700", `{"jsonrpc":"2.0","id":1`: "-32700", "\xef\xbb\xbf" + ping: "-32700", "null": "-32600", "1": "-32600", "[]": "-32600", `{"id":1,"method":"ping"}`: "-32600",
		`{"jsonrpc":"2.0","id":{},"method":"ping"}`: "-32600", "[" + strings.Repeat(ping+",", 100) + ping + "]": "-32600", "[1]": "-32600",
		`{"text":"` + strings.Repeat("x", 16<<20) + `"}`: "-32600",
	} {
		ask(line)
		if got := next(t, lines); !strings.Contains(got, `"code":`+code) || !strings.Contains(got, `"id":null`) {
			t.Errorf("%.60s is answered with %s", line, got)
		}
		ask(ping)
		if got := next(t, lines); !strings.HasPrefix(got, `{"jsonrpc":"2.0","id":7,"result"`) {
			t.Errorf("after %.60s a ping is answered with %s", line, got)
		}
	}
}

// The SDK waited for the answers of notifications, and ended the connection over two of them.
func TestABatchOverStdioMayHaveNotifications(t *testing.T) {
	ask, lines := rawStdio(t, startNode(t, sabir.Serve(orders())), mcp.Config{Tools: []string{"**"}})
	ask(initializeLine)
	next(t, lines)
	ask(`[{"jsonrpc":"2.0","method":"notifications/initialized"},{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","method":"notifications/x"},{"id":2},{"jsonrpc":"2.0","id":3,"method":"ping"}]`)
	answers := next(t, lines) + next(t, lines) + next(t, lines) // in any order
	for _, want := range []string{`"id":null,`, `"id":1,`, `"id":3,`} {
		if !strings.Contains(answers, want) {
			t.Errorf("no answer with %s in %s", want, answers)
		}
	}
}

// The SDK drops it.
func TestARequestOverStdioUnderAnIDInFlightIsRefused(t *testing.T) {
	release := make(chan struct{})
	service, began := released(release)
	ask, lines := rawStdio(t, startNode(t, sabir.Serve(service)), mcp.Config{Tools: []string{"**"}})
	ask(initializeLine)
	next(t, lines)
	ask(fmt.Sprintf(callWait, "7"))
	<-began
	ask(fmt.Sprintf(callWait, "7"))
	if line := next(t, lines); !strings.Contains(line, `"id":null`) || !strings.Contains(line, "a request with the id 7 has not been answered yet") {
		t.Errorf("the second one is answered with %s", line)
	}
	close(release)
	if line := next(t, lines); !strings.HasPrefix(line, `{"jsonrpc":"2.0","id":7,"result"`) {
		t.Errorf("the first one is answered with %s", line)
	}
}
