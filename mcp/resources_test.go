package mcp_test

import (
	"errors"
	"maps"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/mcp"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/auth"
)

func resourcesOf(tb testing.TB, session *sdk.ClientSession) (list []string) {
	tb.Helper()
	for r, err := range session.Resources(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, r.URI+" "+r.Name)
	}
	for r, err := range session.ResourceTemplates(tb.Context(), nil) {
		if err != nil {
			tb.Fatal(err)
		}
		list = append(list, r.URITemplate+" "+r.Name)
	}
	return list
}

func TestNamedActionsThatReadAreResources(t *testing.T) {
	for about, options := range map[string][]gateway.HTTPOption{
		"at the root": {mcp.At("/mcp", mcp.Config{Resources: []string{"orders.*"}})},
		"in a group":  {mcp.At("/mcp", mcp.Config{Resources: []string{"orders.*"}}), web.With(web.Config{Groups: map[string]web.Config{"/v1": {Services: []string{"orders"}}}})},
	} {
		_, base := start(t, []*sabir.Service{orders()}, options...)
		for _, revision := range revisions {
			session := connect(t, base+"/mcp", revision, nil)
			if got := resourcesOf(t, session); !slices.Equal(got, []string{"orders:// orders.list", "orders://{id} orders.get"}) {
				t.Errorf("%s: %q", about, got)
			}
			for uri, want := range map[string]string{"orders://": `[{"id":"o-1"},{"id":"o-2"}]`, "orders://o-2": `{"id":"o-2","items":[{"sku":"apple","count":2}]}`} {
				result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
				if err != nil {
					t.Fatalf("%s: %s: %v", about, uri, err)
				}
				if c := result.Contents[0]; c.Text != want || c.URI != uri || c.MIMEType != "application/json" {
					t.Errorf("%s: %+v", uri, c)
				}
			}
			if len(toolsOf(t, session)) != 0 {
				t.Error("resources are tools")
			}
		}
	}
}

func TestAnswersAreKeptForTheirCallerOnly(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Resources: []string{"orders.*"}}))
	session := connect(t, base+"/mcp", withoutSessions, nil)
	result, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: "orders://o-2"})
	if err != nil || result.CacheScope != "private" {
		t.Errorf("a resource: %+v, %v", result, err)
	}
	tools, err := session.ListTools(t.Context(), nil)
	if err != nil || tools.CacheScope != "private" {
		t.Errorf("a list: %+v, %v", tools, err)
	}
}

func TestAResourceThatCannotBeReadIsAnErrorOfTheProtocol(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders(), vault()}, web.With(web.Config{AllowAnonymous: true}), mcp.At("/mcp", mcp.Config{Resources: []string{"orders.get", "vault.*"}}))
	session := connect(t, base+"/mcp", withoutSessions, nil)
	for uri, want := range map[string]struct {
		code    int64
		message string
	}{
		"orders://none":   {jsonrpc.CodeInvalidParams, "not found"},
		"orders://o-9":    {jsonrpc.CodeInvalidParams, "is not valid"},
		"orders://":       {jsonrpc.CodeInvalidParams, "not found"}, // orders.list is not named
		"orders://o-1/x":  {jsonrpc.CodeInvalidParams, "not found"},
		"orders://..":     {jsonrpc.CodeInvalidParams, "not found"},
		"orders://%2e%2e": {jsonrpc.CodeInvalidParams, "not found"},
		"file:///etc":     {jsonrpc.CodeInvalidParams, "not found"},
		"vault://":        {-32000, "needs credentials"},
	} {
		_, err := session.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		e, ok := errors.AsType[*jsonrpc.Error](err)
		if !ok || e.Code != want.code || !strings.Contains(strings.ToLower(e.Message), want.message) {
			t.Errorf("%s: %v, want %v", uri, err, want)
		}
	}
}

func TestNamesInURIsAreCompletedFromTheInputsValuesAndExamples(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, mcp.At("/mcp", mcp.Config{Resources: []string{"orders.*"}}))
	session := connect(t, base+"/mcp", withSessions, nil)
	for given, want := range map[string][]string{"": {"o-1", "o-2", "o-3", "none"}, "o-": {"o-1", "o-2", "o-3"}, "x": {}} {
		result, err := session.Complete(t.Context(), &sdk.CompleteParams{Ref: &sdk.CompleteReference{Type: "ref/resource", URI: "orders://{id}"},
			Argument: sdk.CompleteParamsArgument{Name: "id", Value: given}})
		if err != nil || !slices.Equal(result.Completion.Values, want) {
			t.Errorf("%q: %+v, %v", given, result, err)
		}
	}
}

var prompts = fstest.MapFS{
	"late.md":    {Data: []byte("---\ntitle: Where is it?\ndescription: Finds out why.\n---\nLook up {{.id}}{{if .name}} for {{.name}}{{end}}.\n")},
	"plain.md":   {Data: []byte("Say hello.")},
	"other.txt":  {Data: []byte("no prompt")},
	"deep/in.md": {Data: []byte("no prompt")},
}

func TestFilesAreThePromptsOfUsers(t *testing.T) {
	_, base := start(t, nil, mcp.At("/mcp", mcp.Config{Prompts: prompts}))
	for _, revision := range revisions {
		session := connect(t, base+"/mcp", revision, nil)
		found := make(map[string]*sdk.Prompt)
		for p, err := range session.Prompts(t.Context(), nil) {
			if err != nil {
				t.Fatal(err)
			}
			found[p.Name] = p
		}
		if names := slices.Sorted(maps.Keys(found)); !slices.Equal(names, []string{"late", "plain"}) {
			t.Fatalf("%q", names)
		}
		if got := mustJSON(t, found["late"]); got != `{"arguments":[{"name":"id","required":true},{"name":"name"}],"description":"Finds out why.","name":"late","title":"Where is it?"}` {
			t.Errorf("%s", got)
		}
		for arguments, want := range map[string]string{"o-1/": "Look up o-1.\n", "o-1/Ada": "Look up o-1 for Ada.\n", "{{.name}}/": "Look up {{.name}}.\n"} {
			id, name, _ := strings.Cut(arguments, "/")
			result, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "late", Arguments: map[string]string{"id": id, "name": name}})
			if err != nil || result.Messages[0].Content.(*sdk.TextContent).Text != want || result.Messages[0].Role != "user" {
				t.Errorf("%s: %v, %v", arguments, mustJSON(t, result), err)
			}
		}
		if _, err := session.GetPrompt(t.Context(), &sdk.GetPromptParams{Name: "late"}); err == nil || !strings.Contains(err.Error(), "needs the argument id") {
			t.Errorf("without its argument: %v", err)
		}
	}
}

func TestAPromptThatCannotBeReadIsAnErrorOfTheStart(t *testing.T) {
	for want, files := range map[string]fstest.MapFS{
		"there is no file *.md":                  {},
		"late.md: template: late:1":              {"late.md": {Data: []byte("{{.id")}},
		"late.md: its head does not end":         {"late.md": {Data: []byte("---\ntitle: x\n")}},
		`late.md: its head has the line "name:`:  {"late.md": {Data: []byte("---\nname: x\n---\n")}},
		"late.md: it has 300000 bytes, and 2621": {"late.md": {Data: []byte(strings.Repeat("x", 300_000))}},
	} {
		node := sabir.NewNode(sabir.HTTP(":0", mcp.At("/mcp", mcp.Config{Prompts: files})))
		if err := node.Start(t.Context()); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%v, want %q", err, want)
		}
		stop(t, node)
	}
}

const resourceURL = "https://api.example.com/mcp"

func startProtected(t *testing.T, more ...gateway.HTTPOption) string {
	t.Helper()
	_, base := start(t, []*sabir.Service{vault(), orders()}, append(more, keys(), mcp.At("/mcp", mcp.Config{Tools: []string{"**"}, OAuthResource: resourceURL, OAuthServers: []string{"https://login.example.com"}}))...)
	return base
}

func TestAClientWithoutATokenFindsOutWhereToGetOne(t *testing.T) {
	base := startProtected(t)
	body, header := alone("tools/list", "")
	a := send(t, "POST", base+"/mcp", body, header...)
	if got := a.header.Values("WWW-Authenticate"); a.status != 401 || !slices.Equal(got, []string{`Bearer resource_metadata="https://api.example.com/.well-known/oauth-protected-resource/mcp"`}) {
		t.Errorf("%d %q", a.status, got)
	}
	if a := send(t, "POST", base+"/orders/get", `{"id":"o-1"}`); a.status != 401 || strings.Contains(a.header.Get("WWW-Authenticate"), "resource_metadata") {
		t.Errorf("elsewhere: %d %q", a.status, a.header)
	}
	found := send(t, "GET", base+"/.well-known/oauth-protected-resource/mcp", "")
	if got := strings.TrimSpace(found.body); found.status != 200 ||
		got != `{"resource":"https://api.example.com/mcp","authorization_servers":["https://login.example.com"],"bearer_methods_supported":["header"]}` {
		t.Errorf("%d %s", found.status, got)
	}
}

// oidc-provider 9.13.3 denied a request for a token without a scope, so that no client got in.
func TestAClientWithoutATokenFindsOutWhichScopesToAskFor(t *testing.T) {
	_, base := start(t, []*sabir.Service{orders()}, keys(),
		mcp.At("/mcp", mcp.Config{Tools: []string{"**"}, OAuthResource: resourceURL, OAuthServers: []string{"https://login.example.com"}, OAuthScopes: []string{"orders:read", "orders:list"}}))
	body, header := alone("tools/list", "")
	a := send(t, "POST", base+"/mcp", body, header...)
	if got := a.header.Get("WWW-Authenticate"); a.status != 401 || !strings.HasPrefix(got, `Bearer scope="orders:read orders:list", resource_metadata="`) {
		t.Errorf("%d %q", a.status, got)
	}
	if found := send(t, "GET", base+"/.well-known/oauth-protected-resource/mcp", ""); !strings.Contains(found.body, `"scopes_supported":["orders:read","orders:list"]`) {
		t.Errorf("%d %s", found.status, found.body)
	}
}

// Clients ask for a token with these scopes and no others, which has to serve for what they could call before.
func TestACallerWithoutTheRoleOfAToolIsToldTheScopesBehindThoseItHas(t *testing.T) {
	base := startProtected(t)
	body, header := alone("tools/call", `"name":"vault_open","arguments":{}`)
	for _, headers := range [][]string{append(header, "X-Api-Key", bobKey), initialize(t, base+"/mcp", "X-Api-Key", bobKey)} {
		if headers[0] == "X-Api-Key" {
			body = `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"vault_open"}}`
		}
		a := send(t, "POST", base+"/mcp", body, headers...)
		if got := a.header.Get("WWW-Authenticate"); a.status != 403 || !strings.HasPrefix(got, `Bearer error="insufficient_scope", scope="reader keeper", resource_metadata="`) {
			t.Errorf("%d %q %s", a.status, got, a.body)
		}
	}
	body, header = alone("tools/call", `"name":"vault_open","arguments":{}`)
	if a := send(t, "POST", base+"/mcp", body, append(header, "X-Api-Key", adaKey)...); a.status != 200 || !strings.Contains(a.body, "ada") {
		t.Errorf("ada: %d %s", a.status, a.body)
	}
}

func TestACallerOfABatchIsToldTheScopesBesideAMessageThatCannotBeRead(t *testing.T) {
	base := startProtected(t)
	session := initialize(t, base+"/mcp", "X-Api-Key", bobKey)
	session[len(session)-1] = "2025-03-26"
	a := send(t, "POST", base+"/mcp", `[{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":7}},{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"vault_open"}}]`, session...)
	if a.status != 403 || !strings.HasPrefix(a.header.Get("WWW-Authenticate"), `Bearer error="insufficient_scope"`) {
		t.Errorf("%d %q %s", a.status, a.header.Get("WWW-Authenticate"), a.body)
	}
}

func TestAnAnonymousCallerOfAToolForRolesIsAskedForAToken(t *testing.T) {
	_, base := start(t, []*sabir.Service{vault(), orders()}, web.With(web.Config{Auth: []auth.Authenticator{&auth.Key{Keys: map[string]auth.Principal{adaKey: {Subject: "ada"}}}}, AllowAnonymous: true}),
		mcp.At("/mcp", mcp.Config{Tools: []string{"**"}, OAuthResource: resourceURL, OAuthServers: []string{"https://login.example.com"}}))
	for name, want := range map[string]int{"vault_open": 401, "orders_list": 200} {
		body, header := alone("tools/call", `"name":"`+name+`","arguments":{}`)
		a := send(t, "POST", base+"/mcp", body, header...)
		if a.status != want || want == 401 != strings.HasPrefix(a.header.Get("WWW-Authenticate"), "Bearer resource_metadata=") {
			t.Errorf("%s: %d %q", name, a.status, a.header)
		}
	}
}
