package moleculer_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"net/http"
	"strings"
	"testing"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/bridge/moleculer"
	"github.com/sabir-go/sabir/gen/openapi"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/introspect"
	"github.com/sabir-go/sabir/web"
	"github.com/sabir-go/sabir/web/dashboard"
)

// shelf has the actions of a service of Moleculer. A gateway of Moleculer publishes the first only.
var shelf = map[string]any{
	"put": map[string]any{"params": map[string]any{"$$strict": true, "id": "number|integer|positive", "name": map[string]any{"type": "string", "min": 3, "description": "of the book"},
		"tags": "string[]|optional", "kind": map[string]any{"type": "enum", "values": []string{"new", "used"}, "default": "new"}}},
	"take":  map[string]any{"visibility": "public", "params": map[string]any{"id": "number"}},
	"count": map[string]any{"visibility": "published"},
}

// shelfNode is a node with a gateway, beside a Moleculer node with the shelf.
func shelfNode(t *testing.T) (node *sabir.Node, url string) {
	a := newTCPPlace(t)
	c := a.bridge
	c.Address, c.Namespace = a.at, a.namespace
	node = sabir.NewNode(sabir.NodeID("go"), sabir.Logger(slog.New(slog.DiscardHandler)), moleculer.Bridge(c),
		sabir.HTTP(":0", web.With(web.Config{Forward: []string{"shelf.*"}}), openapi.At("/docs"), dashboard.At("/dashboard")))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	js := a.peer("5", "js")
	js.must(nil, "add", "shelf", shelf)
	if err := node.WaitFor(t.Context(), "shelf"); err != nil {
		t.Fatal(err)
	}
	return node, "http://" + node.HTTPAddr()
}

func get(t *testing.T, url string) string {
	t.Helper()
	r, err := http.NewRequestWithContext(t.Context(), "GET", url, nil)
	if err != nil {
		t.Fatal(err)
	}
	response, err := (&http.Transport{DisableKeepAlives: true}).RoundTrip(r)
	if err != nil {
		t.Fatal(err)
	}
	defer response.Body.Close()
	text, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		t.Fatalf("%s: %s, %v: %s", url, response.Status, err, text)
	}
	return string(text)
}

func TestTheParamsOfMoleculersActionsAreDescribed(t *testing.T) {
	node, url := shelfNode(t)
	const put = `"properties":{"id":{"type":"integer","format":"int64","exclusiveMinimum":0` // and so on
	t.Run("in listings", func(t *testing.T) {
		list, err := sabir.Call[[]introspect.Action](t.Context(), node, "$node.actions", sabir.Empty{})
		if err != nil {
			t.Fatal(err)
		}
		inputs := make(map[string]string)
		for _, a := range list {
			inputs[a.Name] = string(a.Visibility) + " " + a.In
		}
		for name, want := range map[string]string{
			"shelf.put":   "public {id: integer, kind?: string, name: string, tags?: []string}",
			"shelf.take":  "cluster {id: number}",
			"shelf.count": "public any",
		} {
			if inputs[name] != want {
				t.Errorf("%s has the input %q, want %q", name, inputs[name], want)
			}
		}
	})
	t.Run("by $node.api", func(t *testing.T) {
		d, err := sabir.Call[description.Document](t.Context(), node, "$node.api", description.Request{Action: "shelf.put"}, sabir.ToNode("js"))
		text, _ := json.Marshal(d.In)
		if err != nil || !strings.Contains(string(text), put) || d.Out == nil {
			t.Errorf("%s, %v", text, err)
		}
		if _, err := sabir.Call[description.Document](t.Context(), node, "$node.api", description.Request{Action: "shelf.none"}, sabir.ToNode("js")); sabir.AsError(err).Name != sabir.ErrActionNotFound.Name {
			t.Errorf("of an action that is not there: %v", err)
		}
	})
	t.Run("in OpenAPI", func(t *testing.T) {
		var document struct {
			Paths map[string]map[string]struct {
				RequestBody struct {
					Content map[string]struct{ Schema json.RawMessage }
				}
			}
		}
		if err := json.Unmarshal([]byte(get(t, url+"/docs/openapi.json")), &document); err != nil {
			t.Fatal(err)
		}
		var body bytes.Buffer
		if err := json.Compact(&body, document.Paths["/shelf/put"]["post"].RequestBody.Content["application/json"].Schema); err != nil || !strings.Contains(body.String(), put) {
			t.Errorf("the body of POST /shelf/put is %s, %v", body.String(), err)
		}
		if document.Paths["/shelf/take"] != nil || document.Paths["/shelf/count"] == nil {
			t.Error("not what Moleculer publishes")
		}
	})
	t.Run("and hold for calls of the gateway", func(t *testing.T) {
		for body, want := range map[string]string{
			`{"id":1,"name":"Dune"}`: `200 {"id":1,"name":"Dune","kind":"new"}`,
			`{"id":0,"name":"Dune"}`: `422`,
		} {
			if got := ask(t, "POST", url+"/shelf/put", "application/json", strings.NewReader(body), ""); !strings.HasPrefix(got, want) {
				t.Errorf("%s: %s", body, got)
			}
		}
		if got := ask(t, "POST", url+"/shelf/take", "application/json", strings.NewReader(`{"id":1}`), ""); !strings.HasPrefix(got, "404") {
			t.Errorf("an action that is not published: %s", got)
		}
	})
	t.Run("on the dashboard", func(t *testing.T) {
		if got := get(t, url+"/dashboard/api/action?name=shelf.put"); !strings.Contains(got, put) {
			t.Error(got)
		}
	})
}
