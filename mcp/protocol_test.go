package mcp_test

import (
	"context"
	"net/http"
	"strings"
	"testing"
	"time"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/web"
)

const callGet = `"name":"orders_get","arguments":{"id":"o-1"}`

func TestBothGenerationsOfTheProtocolAreSpokenAtOneAddress(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	session := initialize(t, url)
	old := send(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{`+callGet+`}}`, session...).message(t)["result"].(map[string]any)
	if content := old["structuredContent"].(map[string]any); content["id"] != "o-1" || old["resultType"] != nil {
		t.Errorf("in a session: %v", old)
	}
	body, header := alone("tools/call", callGet)
	fresh := send(t, "POST", url, body, header...).message(t)["result"].(map[string]any)
	if content := fresh["structuredContent"].(map[string]any); content["id"] != "o-1" || fresh["resultType"] != "complete" {
		t.Errorf("without: %v", fresh)
	}
	body, header = alone("server/discover", "")
	found := send(t, "POST", url, body, header...).message(t)["result"].(map[string]any)
	if versions := mustJSON(t, found["supportedVersions"]); !strings.Contains(versions, withoutSessions) {
		t.Errorf("discover: %s", versions)
	}
}

func TestASessionOfAnUnknownRevisionIsAnsweredWithOneThatIsKnown(t *testing.T) {
	for _, asked := range []string{"1999-01-01", "2026-07-28"} {
		a := send(t, "POST", startOrders(t, mcp.Config{}), `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"`+asked+`","capabilities":{},"clientInfo":{"name":"test","version":"1"}}}`)
		result := a.message(t)["result"].(map[string]any)
		if result["protocolVersion"] != withSessions || a.header.Get("Mcp-Session-Id") == "" {
			t.Errorf("%s: %v", asked, result)
		}
	}
}

func TestASessionEndsWithDelete(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	session := initialize(t, url)
	if a := send(t, "DELETE", url, "", session...); a.status != 204 {
		t.Errorf("%d %s", a.status, a.body)
	}
	if a := send(t, "POST", url, `{"jsonrpc":"2.0","id":1,"method":"ping"}`, session...); a.status != 404 {
		t.Errorf("after it: %d %s", a.status, a.body)
	}
}

func TestTooManySessionsEndTheOneThatIsUsedTheLeast(t *testing.T) {
	url := startOrders(t, mcp.Config{MaxSessions: 2})
	const ping = `{"jsonrpc":"2.0","id":1,"method":"ping"}`
	first, second := initialize(t, url), initialize(t, url)
	send(t, "POST", url, ping, first...)
	third := initialize(t, url)
	for end := time.Now().Add(waitLimit); send(t, "POST", url, ping, second...).status != 404; {
		if time.Now().After(end) {
			t.Fatal("the second session is still there")
		}
	}
	for _, session := range [][]string{first, third} {
		if a := send(t, "POST", url, ping, session...); a.status != 200 {
			t.Errorf("%d %s", a.status, a.body)
		}
	}
}

// What is wrong with a request is said with a status, and the next request is answered.
func TestBadRequestsAreRefusedWithAStatus(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	session := initialize(t, url)
	body, header := alone("tools/call", callGet)
	in := func(more ...string) []string { return append(append([]string{}, session...), more...) }
	as := func(more ...string) []string { return append(append([]string{}, header...), more...) }
	for about, test := range map[string]struct {
		method, body string
		header       []string
		status       int
		code         float64 // of the JSON-RPC error; 0 for none
	}{
		"no JSON":                            {"POST", `{"jsonrpc":`, in(), 400, 0},
		"no JSON, without sessions":          {"POST", `{`, as(), 400, 0},
		"nothing":                            {"POST", ``, in(), 400, 0},
		"not JSON-RPC":                       {"POST", `{"hello":"world"}`, in(), 400, 0},
		"a number":                           {"POST", `7`, in(), 400, 0},
		"another version of JSON-RPC":        {"POST", `{"jsonrpc":"1.0","id":1,"method":"ping"}`, in(), 400, 0},
		"another version, without sessions":  {"POST", strings.Replace(body, `"2.0"`, `"1.0"`, 1), as(), 400, 0},
		"an id that is an object":            {"POST", strings.Replace(body, `"id":1`, `"id":{}`, 1), as(), 400, 0},
		"a method that is a number":          {"POST", strings.Replace(body, `"tools/call"`, `7`, 1), as(), 400, 0},
		"an empty batch":                     {"POST", `[]`, in(), 400, 0},
		"another content type":               {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, in("Content-Type", "text/plain"), 415, 0},
		"another content type, alone":        {"POST", body, as("Content-Type", "text/plain"), 415, 0},
		"no event stream accepted":           {"POST", body, as("Accept", "application/json"), 400, 0},
		"an unknown session":                 {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"Mcp-Session-Id", "no-such", "MCP-Protocol-Version", withSessions}, 404, 0},
		"a stream without a session":         {"GET", ``, []string{"Accept", "text/event-stream"}, 405, 0},
		"a method of HTTP that is not there": {"PUT", `{}`, in(), 405, 0},
		"GET without sessions":               {"GET", ``, as("Accept", "text/event-stream"), 405, 0},
		"an unknown revision":                {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, []string{"MCP-Protocol-Version", "1999-01-01"}, 400, 0},
		"a revision of the future":           {"POST", strings.ReplaceAll(body, withoutSessions, "2099-01-01"), as("MCP-Protocol-Version", "2099-01-01"), 400, -32022},
		"a header that the body denies":      {"POST", body, as("Mcp-Name", "orders_list"), 400, -32020},
		"a method that the body denies":      {"POST", body, as("Mcp-Method", "tools/list"), 400, -32020},
		"no revision in the header":          {"POST", body, nil, 400, -32020},
		"an unknown method":                  {"POST", strings.Replace(body, "tools/call", "tools/dance", 1), as("Mcp-Method", "tools/dance"), 404, -32601},
		"params that are a list":             {"POST", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":[]}`, in(), 200, -32602},
		"no name of a tool":                  {"POST", strings.Replace(body, `"name":"orders_get",`, "", 1), as(), 400, 0},
		"an unknown tool":                    {"POST", strings.Replace(body, "orders_get", "orders_no", 1), as("Mcp-Name", "orders_no"), 400, -32602},
		"compressed":                         {"POST", "\x1f\x8b\x08\x00\x00", as("Content-Encoding", "gzip"), 415, 0},
		"a batch of a revision without them": {"POST", `[` + body + `]`, as(), 400, 0},
		"a page of another site":             {"POST", body, as("Origin", "https://evil.example"), 403, 0},
		"a page of another site, session":    {"POST", `{"jsonrpc":"2.0","id":1,"method":"ping"}`, in("Origin", "https://evil.example"), 403, 0},
		"a name that is not this machine's":  {"POST", body, as("Host", "evil.example"), 403, 0},
	} {
		t.Run(about, func(t *testing.T) {
			a := send(t, test.method, url, test.body, test.header...)
			if a.status != test.status {
				t.Fatalf("%d %s, want %d", a.status, a.body, test.status)
			}
			if test.code != 0 {
				if code := a.message(t)["error"].(map[string]any)["code"]; code != test.code {
					t.Errorf("code %v, want %v", code, test.code)
				}
			}
		})
	}
	if a := send(t, "POST", url, body, header...); a.status != 200 {
		t.Errorf("afterwards: %d %s", a.status, a.body)
	}
}

func TestABodyBeyondTheServersLimitIsRefused(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}), web.With(web.Config{BodyLimit: 4096}))
	body, header := alone("tools/call", `"name":"orders_echo","arguments":{"input":"`+strings.Repeat("x", 4096)+`"}`)
	if a := send(t, "POST", base+"/mcp", body, header...); a.status != http.StatusRequestEntityTooLarge {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestArgumentsThatNestTooDeeplyAreRefused(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	for depth, want := range map[int]int{900: 200, 5000: 400} { // of the action's codec, and of the SDK's
		body, header := alone("tools/call", `"name":"orders_echo","arguments":{"input":`+strings.Repeat("[", depth)+strings.Repeat("]", depth)+`}`)
		a := send(t, "POST", url, body, header...)
		if a.status != want {
			t.Errorf("%d: %d %.300s", depth, a.status, a.body)
		}
		if want == 200 && a.message(t)["result"].(map[string]any)["isError"] != true {
			t.Errorf("%d: %.300s", depth, a.body)
		}
	}
}

// Only the revision 2025-03-26 has batches.
func TestABatchOfAnOldSessionIsAnsweredWhole(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	session := initialize(t, url)
	session[len(session)-1] = "2025-03-26"
	a := send(t, "POST", url, `[{"jsonrpc":"2.0","id":1,"method":"ping"},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{`+callGet+`}}]`, session...)
	if a.status != 200 || !strings.Contains(a.body, `"id":1`) || !strings.Contains(a.body, `"id":2`) {
		t.Errorf("%d %s", a.status, a.body)
	}
}

func TestABatchOfTooManyMessagesIsRefused(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	session := initialize(t, url)
	session[len(session)-1] = "2025-03-26"
	for _, odd := range []string{"", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}},`} { // the SDK refuses that one alone
		for messages, want := range map[int]int{99: 200, 101: 400} {
			body := "[" + odd + strings.Repeat(`{"jsonrpc":"2.0","method":"notifications/initialized"},`, messages-1) + `{"jsonrpc":"2.0","id":2,"method":"ping"}]`
			if a := send(t, "POST", url, body, session...); a.status != want || want == 400 && !strings.Contains(a.body, "100 messages") {
				t.Errorf("%d messages: %d %.300s", messages, a.status, a.body)
			}
		}
	}
}

// The SDK for Python refuses events beyond 1 MiB, and takes JSON of any length.
func TestALargeAnswerIsJSONInPlaceOfAnEvent(t *testing.T) {
	url := startOrders(t, mcp.Config{})
	call := func(length int) string {
		return `"name":"orders_echo","arguments":{"input":"` + strings.Repeat("x", length) + `"}`
	}
	session := initialize(t, url)
	for length, want := range map[int]string{10: "text/event-stream", 512 << 10: "application/json"} {
		body, header := alone("tools/call", call(length))
		inSession := `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{` + call(length) + `}}`
		for revision, a := range map[string]raw{withoutSessions: send(t, "POST", url, body, header...), withSessions: send(t, "POST", url, inSession, session...)} {
			result, _ := a.message(t)["result"].(map[string]any)
			if content, _ := result["structuredContent"].(map[string]any); a.status != 200 || a.header.Get("Content-Type") != want || content == nil {
				t.Errorf("%s, %d characters: %d %v %.300s", revision, length, a.status, a.header, a.body)
			}
		}
	}
}

// Who gets progress is in the middle of a stream, and others of a batch have yet to be answered.
func TestALargeAnswerBehindOthersIsAnEvent(t *testing.T) {
	large := sabir.NewService("large")
	sabir.HandleStream(large, "stream", func(_ context.Context, stream *sabir.Stream[sabir.Empty, string]) error {
		return stream.Send(strings.Repeat("x", 400<<10))
	})
	_, base := start(t, []*sabir.Service{large, orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
	session := initialize(t, base+"/mcp")
	session[len(session)-1] = "2025-03-26" // the only revision with batches
	for name, body := range map[string]string{
		"progress": `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"large_stream","arguments":{},"_meta":{"progressToken":7}}}`,
		"batch": `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"large_stream","arguments":{}}},` +
			`{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"large_stream","arguments":{}}}]`,
	} {
		a := send(t, "POST", base+"/mcp", body, session...)
		if a.status != 200 || a.header.Get("Content-Type") != "text/event-stream" || strings.Count(a.body, "\ndata: ") != 2 {
			t.Errorf("%s: %d %v %.300s", name, a.status, a.header, a.body)
		}
	}
}

// A client that waits for notifications, as all do, does not hold up the stop of the node.
func TestANodeStopsWhileClientsWaitForNotifications(t *testing.T) {
	for _, revision := range revisions {
		node, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Tools: []string{"**"}}))
		session := connect(t, base+"/mcp", revision, &sdk.ClientOptions{ToolListChangedHandler: func(context.Context, *sdk.ToolListChangedRequest) {}})
		callTool(t, session, "orders_list", nil)
		stop(t, node)
		if node.State() != "stopped" {
			t.Errorf("%s: %v", revision, node.State())
		}
	}
}
