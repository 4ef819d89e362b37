package web

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/api"
	_ "github.com/sabir-go/sabir/transport/mem"
	"github.com/sabir-go/sabir/web/auth"
)

// startGateway runs a node with HTTP and another one, with the services, that it finds over its cluster.
func startGateway(t *testing.T, options ...gateway.HTTPOption) (gateway *sabir.Node, base string) {
	t.Helper()
	guarded := sabir.NewService("vault")
	sabir.Handle(guarded, "open", echoPut, sabir.Use(auth.Require("keeper")))
	sabir.HandleStream(guarded, "watch", func(_ context.Context, s *sabir.Stream[putItem, int]) error { return s.Send(1) })
	startAs(t, "worker", sabir.Join("mem://"+t.Name()), sabir.Serve(shop(), store(), guarded))
	gateway = startAs(t, "gateway", sabir.Join("mem://"+t.Name()), sabir.HTTP(":0", append(options, With(Config{Forward: []string{"**"}}))...))
	if err := gateway.WaitFor(t.Context(), "shop", "items"); err != nil {
		t.Fatal(err)
	}
	return gateway, "http://" + gateway.HTTPAddr()
}

func TestAGatewayServesTheActionsOfOtherNodes(t *testing.T) {
	_, base := startGateway(t)
	if got := post(t, base+"/shop/hello", `{"name":"Ada"}`); got.status != 200 || got.body != `{"text":"Hello, Ada"}` {
		t.Errorf("a call: %d %s", got.status, got.body)
	}
	if got := ask(t, "GET", base+"/items/7?page=2&tag=a", "", "X-Tenant: acme"); got.status != 200 || !strings.Contains(got.body, `"id":7,"page":2,"tags":["a"],"tenant":"acme"`) {
		t.Errorf("a REST form: %d %s", got.status, got.body)
	}
	p := ask(t, "GET", base+"/items/7?page=-1", "").problem(t)
	if fault := p.Data.([]any)[0].(map[string]any); p.Status != 422 || fault["pointer"] != "/page" || fault["in"] != "query" || fault["name"] != "page" {
		t.Errorf("a rule: %+v", p)
	}
	if got := post(t, base+"/items/tail", `{"name":"x"}`); got.status != 200 || !strings.Contains(got.body, "two of x") {
		t.Errorf("a stream: %d %s", got.status, got.body)
	}
	if got := post(t, base+"/shop/internal", `{}`); got.status != 404 {
		t.Errorf("an action for the cluster only: %d", got.status)
	}
}

func TestTheCallerIsKnownOnOtherNodes(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada", Roles: []string{"keeper"}}, "key-of-bob-0123456789": {Subject: "bob"}}}
	_, base := startGateway(t, With(Config{Auth: []auth.Authenticator{keys}}))
	for key, want := range map[string]int{"key-of-ada-0123456789": 200, "key-of-bob-0123456789": 403} {
		if got := post(t, base+"/vault/open", `{"id":1,"name":"x"}`, "X-Api-Key: "+key); got.status != want {
			t.Errorf("%s: %d %s", key, got.status, got.body)
		}
	}
}

func TestAGroupsMiddlewaresGuardStreamsOfOtherNodes(t *testing.T) {
	keys := &auth.Key{Keys: map[string]auth.Principal{"key-of-ada-0123456789": {Subject: "ada", Roles: []string{"keeper"}}, "key-of-bob-0123456789": {Subject: "bob"}}}
	_, base := startGateway(t, With(Config{Auth: []auth.Authenticator{keys}, Groups: map[string]Config{"/g": {Services: []string{"vault"}, Use: []sabir.Wrapper{auth.Require("keeper")}}}}))
	for key, want := range map[string]int{"key-of-ada-0123456789": 200, "key-of-bob-0123456789": 403} {
		if got := post(t, base+"/g/vault/watch", `{"id":1,"name":"x"}`, "X-Api-Key: "+key); got.status != want {
			t.Errorf("%s: %d %s", key, got.status, got.body)
		}
	}
}

func TestADocumentIsNamedAfterItsServicesAndNotAfterTheNode(t *testing.T) {
	_, base := startGateway(t)
	var a api.API
	if err := json.Unmarshal([]byte(ask(t, "GET", base+"/$api", "").body), &a); err != nil {
		t.Fatal(err)
	}
	if a.Title != "items, shop, vault" {
		t.Errorf("the title is %q", a.Title)
	}
}

func TestTheDescriptionHasTheTypesOfOtherNodesToo(t *testing.T) {
	_, base := startGateway(t, With(Config{Groups: map[string]Config{"/v1": {Services: []string{"items"}}}, Title: "Shop", Version: "2"}))
	var a api.API
	if err := json.Unmarshal([]byte(ask(t, "GET", base+"/$api", "").body), &a); err != nil {
		t.Fatal(err)
	}
	actions := make(map[string]api.Action)
	for _, action := range a.Actions {
		actions[action.Name] = action
	}
	find := actions["items.find"]
	if a.Title != "Shop" || find.Path != "/v1/items/find" || len(find.Routes) != 1 || find.Routes[0].Pattern != "/v1/items/{id}" || find.In == nil || find.Out == nil {
		t.Fatalf("items.find is %+v", find)
	}
	if scopes := actions["vault.open"].Scopes; len(scopes) != 1 || scopes[0] != "keeper" {
		t.Errorf("vault.open wants %v", scopes)
	}
	if price := actions["items.price"]; price.CacheFor != 60 {
		t.Errorf("items.price is kept for %v s", price.CacheFor)
	}
	if _, there := actions["$node.info"]; there {
		t.Error("the node's own actions, which are for tools, are described")
	}
	if _, there := actions["shop.secret"]; there {
		t.Error("a private action is described")
	}
	name := strings.TrimPrefix(find.In.Ref, "#/$defs/")
	if in := a.Types[name]; in == nil || len(in.Properties) != 5 {
		t.Errorf("the input of items.find is %q: %+v", name, in)
	}
}
