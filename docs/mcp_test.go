package docs

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

// shopOfTheGuide is a node with an action that reads and one that changes something.
func shopOfTheGuide(cancelled *bool) *sabir.Service {
	orders := sabir.NewService("orders")
	sabir.Handle(orders, "get", func(_ context.Context, in GetUser) (UserInfo, error) { return UserInfo(in), nil },
		sabir.Route("GET", "/orders/{id}"))
	sabir.Handle(orders, "cancel", func(context.Context, GetUser) (sabir.Empty, error) {
		*cancelled = true
		return sabir.Empty{}, nil
	})
	return orders
}

// post sends what the command of the guide sends, and returns the status and the body.
func post(t *testing.T, url, key, method, name, body string) (status int, answer string) {
	t.Helper()
	request, err := http.NewRequestWithContext(t.Context(), http.MethodPost, url, strings.NewReader(body))
	if err != nil {
		t.Fatal(err)
	}
	for header, value := range map[string]string{"Content-Type": "application/json", "Accept": "application/json, text/event-stream",
		"Authorization": "Bearer " + key, "MCP-Protocol-Version": "2026-07-28", "Mcp-Method": method, "Mcp-Name": name} {
		if value != "" {
			request.Header.Set(header, value)
		}
	}
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil {
		t.Fatal(err)
	}
	return response.StatusCode, string(text)
}

const mcpMeta = `"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}`

func TestTheKeyOfAnAgentOpensOneActionAndNothingElse(t *testing.T) {
	const address = "127.0.0.1:0"
	agentKey := strings.Repeat("k", 32)
	cancelled := false
	orders := shopOfTheGuide(&cancelled)
	// doc: mcp-one
	shop := sabir.NewNode(sabir.Serve(orders), sabir.Join("mem://shop")) // mem joins nodes of one process; tcp://:7700 joins processes
	agent := sabir.NewNode(sabir.Join("mem://shop"), sabir.HTTP(address,
		web.With(web.Config{
			Auth:    []auth.Authenticator{&auth.Key{Bearer: true, Keys: map[string]auth.Principal{agentKey: {Subject: "agent"}}}},
			Forward: []string{"orders.get"}, // what the address answers to at all
		}),
		mcp.At("/mcp", mcp.Config{Tools: []string{"orders.get"}, ReadOnly: true})))
	// end
	for _, node := range []*sabir.Node{shop, agent} {
		if err := node.Start(t.Context()); err != nil {
			t.Fatal(err)
		}
		defer node.Stop(context.Background())
	}
	if err := agent.WaitFor(t.Context(), "orders"); err != nil {
		t.Fatal(err)
	}
	at := "http://" + agent.HTTPAddr()
	if _, answer := post(t, at+"/mcp", agentKey, "tools/list", "", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{`+mcpMeta+`}}`); !strings.Contains(answer, `"orders_get"`) ||
		strings.Contains(answer, "orders_cancel") {
		t.Errorf("the tools are %s", answer)
	}
	call := func(name string) string {
		_, answer := post(t, at+"/mcp", agentKey, "tools/call", name, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"`+name+`","arguments":{"id":"7"},`+mcpMeta+`}}`)
		return answer
	}
	if answer := call("orders_get"); !strings.Contains(answer, `"structuredContent":{"id":"7"}`) {
		t.Errorf("the tool answered %s", answer)
	}
	if answer := call("orders_cancel"); !strings.Contains(answer, "unknown tool") {
		t.Errorf("a tool that is not offered answered %s", answer)
	}
	if status, answer := post(t, at+"/orders/cancel", agentKey, "", "", `{"id":"7"}`); status != http.StatusNotFound || cancelled {
		t.Errorf("the action that is not forwarded answered %d %s", status, answer)
	}
	if status, _ := post(t, at+"/mcp", "another", "tools/list", "", `{}`); status != http.StatusUnauthorized {
		t.Errorf("another key was answered %d", status)
	}
}

// doc: mcp-stdio
func serveAgent(ctx context.Context, orders *sabir.Service, in io.ReadCloser, out io.WriteCloser) error {
	node := sabir.NewNode(sabir.Serve(orders)) // logs go to stderr; print nothing to stdout
	if err := node.Start(ctx); err != nil {
		return err
	}
	defer node.Stop(context.Background())
	return mcp.ServeStdio(ctx, node, in, out, mcp.Config{Tools: []string{"orders.get"}, ReadOnly: true}) // in and out: os.Stdin, os.Stdout
}

// end

func TestAnAgentOverStdioSeesOneTool(t *testing.T) {
	cancelled := false
	fromClient, toServer := io.Pipe()
	fromServer, toClient := io.Pipe()
	ended := make(chan error, 1)
	go func() { ended <- serveAgent(t.Context(), shopOfTheGuide(&cancelled), fromClient, toClient) }()
	lines := bufio.NewScanner(fromServer)
	ask := func(method, name string) string {
		t.Helper()
		fmt.Fprintf(toServer, `{"jsonrpc":"2.0","id":1,"method":%q,"params":{%s"arguments":{"id":"7"},%s}}`+"\n", method, name, mcpMeta)
		if !lines.Scan() {
			t.Fatal("the server said nothing")
		}
		return lines.Text()
	}
	if answer := ask("tools/list", ""); !strings.Contains(answer, `"orders_get"`) || strings.Contains(answer, "orders_cancel") {
		t.Errorf("the tools are %s", answer)
	}
	if answer := ask("tools/call", `"name":"orders_cancel",`); !strings.Contains(answer, "unknown tool") || cancelled {
		t.Errorf("a tool that is not offered answered %s", answer)
	}
	toServer.Close()
	if err := <-ended; err != nil {
		t.Error(err)
	}
}
