package docs

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gen/openapi"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/description"
	documents "github.com/sabir-go/sabir/internal/openapi"
	"github.com/sabir-go/sabir/internal/protofile"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/rpc"
	"github.com/sabir-go/sabir/sabirtest"
)

// The page reference/schemas.md is made of this service: go test ./docs -run TestThePageOfSchemas -update writes it.

// doc: schemas
type OrderID struct {
	ID string `json:"id" validate:"required,max=36" protobuf:"1" doc:"the order's number" example:"o-1"`
}

type OrderInfo struct {
	ID     string        `json:"id" validate:"required" protobuf:"1"`
	Status string        `json:"status" validate:"oneof=open paid" protobuf:"2"`
	Cents  int64         `json:"cents" validate:"gte=0" protobuf:"3"`
	Placed time.Time     `json:"placed" protobuf:"4"`
	Within time.Duration `json:"within" protobuf:"5"`
	Note   *string       `json:"note" validate:"omitempty,max=200" protobuf:"6"`
}

var OrderPlaced = sabir.NewEvent[OrderInfo]("orders.placed")

func ordersService(find func(context.Context, OrderID) (OrderInfo, error)) *sabir.Service {
	orders := sabir.NewService("orders", sabir.Sends(OrderPlaced), sabir.Use(rpc.Package("shop.v1")))
	sabir.Handle(orders, "get", find, sabir.Route("GET", "/orders/{id}"), sabir.Doc("finds an order"))
	return orders
}

// end

func TestThePageOfSchemasIsWhatTheDoorsSay(t *testing.T) {
	find := func(_ context.Context, in OrderID) (OrderInfo, error) { return OrderInfo{ID: in.ID}, nil }
	node := sabirtest.Start(t, sabir.Serve(ordersService(find)), sabir.HTTP("127.0.0.1:0", openapi.At("/docs"), rpc.Serve(), mcp.At("/mcp", mcp.Config{Tools: []string{"orders.*"}})))
	base := "http://" + node.HTTPAddr()
	ask := func(method, path, body string, header ...string) []byte {
		t.Helper()
		request, err := http.NewRequestWithContext(t.Context(), method, base+path, strings.NewReader(body))
		if err != nil {
			t.Fatal(err)
		}
		for i := 0; i < len(header); i += 2 {
			request.Header.Set(header[i], header[i+1])
		}
		transport := &http.Transport{}
		defer transport.CloseIdleConnections()
		response, err := transport.RoundTrip(request)
		if err != nil {
			t.Fatal(err)
		}
		defer response.Body.Close()
		text, err := io.ReadAll(response.Body)
		if err != nil || response.StatusCode != 200 {
			t.Fatal(response.Status, string(text), err)
		}
		return text
	}

	var document struct {
		Paths      json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	read(t, ask("GET", "/docs/openapi.json", ""), &document)
	var described api.API
	read(t, ask("GET", "/$api", ""), &described)
	var proto bytes.Buffer
	if err := protofile.Write(&proto, described, protofile.Options{Package: "shop.v1"}); err != nil {
		t.Fatal(err)
	}
	messages, err := sabir.Call[description.Document](t.Context(), node, "$node.api", description.Request{Service: "orders"})
	if err != nil {
		t.Fatal(err)
	}
	events := api.API{Title: "shop", Version: "1"}
	events.AddMessages(messages.Messages, messages.Defs)
	async, err := documents.AsyncAPI(events)
	if err != nil {
		t.Fatal(err)
	}
	var asyncDocument struct {
		Channels   json.RawMessage
		Components struct{ Schemas map[string]json.RawMessage }
	}
	read(t, async, &asyncDocument)
	answer := ask("POST", "/mcp", `{"jsonrpc":"2.0","id":1,"method":"tools/list","params":{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`,
		"Content-Type", "application/json", "Accept", "application/json, text/event-stream", "MCP-Protocol-Version", "2026-07-28", "Mcp-Method", "tools/list")
	if _, data, ok := bytes.Cut(answer, []byte("data: ")); ok {
		answer = data
	}
	var list struct {
		Result struct{ Tools []json.RawMessage }
	}
	read(t, answer, &list)
	if len(list.Result.Tools) != 1 {
		t.Fatalf("got %d tools", len(list.Result.Tools))
	}

	source := readFile(t, "docs/schemas_test.go")
	_, source, _ = strings.Cut(source, "// doc: schemas\n")
	source, _, _ = strings.Cut(source, "\n// end\n")
	var page strings.Builder
	page.WriteString("# One service in four descriptions\n\nWhat the doors say of one service, each in its own language. All of it is made of the Go types: nothing is written twice. " +
		"This page is made by a test (`go test ./docs -run TestThePageOfSchemas -update`), which asks a node.\n\n```go docs/schemas_test.go#schemas\n" + source + "```\n")
	page.WriteString(`
| | OpenAPI | .proto | AsyncAPI | MCP |
|---|---|---|---|---|
| describes | the call over HTTP | the call over gRPC, Connect and gRPC-Web | the event | the tool |
| who asks for it | ` + "`/docs/openapi.json`, `sabir gen openapi`" + ` | reflection, ` + "`sabir gen proto`" + ` | ` + "`sabir gen asyncapi`" + ` | ` + "`tools/list`" + ` |
| rules of inputs | yes | no | of what services receive | yes |
| rules of answers and of what is sent | the values of ` + "`oneof`" + ` | no | the values of ` + "`oneof`" + ` | no |
| a whole number of 64 bits | a number | int64, a text as JSON | a number | a number |
| a duration | nanoseconds | ` + "`google.protobuf.Duration`" + ` | nanoseconds | nanoseconds |
`)
	section := func(title, kind string, text []byte) {
		fmt.Fprintf(&page, "\n## %s\n\n```%s fragment\n%s\n```\n", title, kind, strings.TrimRight(string(text), "\n"))
	}
	section("OpenAPI: schemas", "json", spacedOut(t, document.Components.Schemas["OrderInfo"]))
	section("OpenAPI: the call", "json", spacedOut(t, operation(t, document.Paths)))
	section("Protocol Buffers", "proto", proto.Bytes())
	section("AsyncAPI: the event", "json", spacedOut(t, asyncDocument.Channels))
	section("AsyncAPI: schemas", "json", spacedOut(t, asyncDocument.Components.Schemas["OrderInfo"]))
	section("MCP: the tool", "json", spacedOut(t, list.Result.Tools[0]))
	const path = "reference/schemas.md"
	if *update {
		if err := os.WriteFile(path, []byte(page.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	if got := readFile(t, "docs/"+path); got != page.String() {
		t.Errorf("docs/%s is older than the code: run go test ./docs -run TestThePageOfSchemas -update. It lacks:\n%s\nand has too much:\n%s", path, without(page.String(), got), without(got, page.String()))
	}
}

// operation takes GET /orders/{id} out of the document, without its errors.
func operation(t *testing.T, paths json.RawMessage) json.RawMessage {
	t.Helper()
	var all map[string]map[string]json.RawMessage
	read(t, paths, &all)
	var get struct {
		OperationID json.RawMessage            `json:"operationId"`
		Summary     json.RawMessage            `json:"summary,omitempty"`
		Description json.RawMessage            `json:"description,omitempty"`
		Parameters  json.RawMessage            `json:"parameters"`
		Responses   map[string]json.RawMessage `json:"responses"`
	}
	read(t, all["/orders/{id}"]["get"], &get)
	get.Responses = map[string]json.RawMessage{"200": get.Responses["200"]}
	text, err := json.Marshal(get)
	if err != nil {
		t.Fatal(err)
	}
	return text
}

func read(t *testing.T, text []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(text, to); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
}

func spacedOut(t *testing.T, text []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	if err := json.Indent(&b, text, "", "  "); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
