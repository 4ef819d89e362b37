package openapi_test

import (
	"bytes"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/openapi"
	"github.com/sabir-go/sabir/internal/schema"
)

// messages is an API with events and channels.
func messages() api.API {
	text := &schema.Schema{Type: schema.Types{"string"}}
	order := &schema.Schema{Type: schema.Types{"object"}, Required: []string{"id"}, Properties: schema.Properties{{Name: "id", Schema: text}, {Name: "next", Schema: &schema.Schema{Ref: "#/$defs/Order"}}}}
	a := api.API{Title: "shop", Version: "1.4.0", Events: &api.Events{Path: "/events", Patterns: []string{"orders.*"}}}
	of := &schema.Schema{Ref: "#/$defs/Order"}
	a.AddMessages([]api.Message{
		{Kind: "event", Name: "orders.placed", Service: "orders", Sent: true, Type: of},
		{Kind: "event", Name: "orders.placed", Service: "mails", Type: of, Group: "mails"},
		{Kind: "event", Name: "orders.*", Service: "audit", Group: "all"},
		{Kind: "event", Name: "orders.**", Service: "audit", Type: text},
		{Kind: "channel", Name: "orders.placed", Service: "v2.billing", Type: of},
		{Kind: "channel", Name: "orders.placed", Service: "stock", Type: text},
		{Kind: "channel", Name: "orders.placed", Service: "stock", Group: "events", ContentType: "application/cloudevents+json"},
	}, map[string]*schema.Schema{"Order": order})
	return a
}

// AsyncAPI's own parser, of the version in testdata/asyncapi/package.json, finds no fault, and reads each operation with its channel and its type.
func TestTheParserOfAsyncAPIReadsEventsAndChannels(t *testing.T) {
	brokers.Long(t)
	node := brokers.Program(t, "node", "nodejs")
	dir := t.TempDir()
	brokers.NodeModules(t, filepath.Join("testdata", "asyncapi"), dir)
	whole, err := openapi.AsyncAPI(messages())
	if err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string][]byte{"whole.json": whole, "broken.json": bytes.Replace(whole, []byte(`"action": "send"`), []byte(`"action": "shout"`), 1)} {
		if err := os.WriteFile(filepath.Join(dir, name), text, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	run := exec.CommandContext(t.Context(), node, "check.mjs", "whole.json", "broken.json")
	run.Dir = dir
	out, err := run.Output()
	if err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	var read, broken struct{ Faults, Operations []string }
	lines := json.NewDecoder(bytes.NewReader(out))
	if err := lines.Decode(&read); err != nil {
		t.Fatal(err)
	}
	if err := lines.Decode(&broken); err != nil {
		t.Fatal(err)
	}
	slices.Sort(read.Operations)
	want := []string{"receive orders.* ", "receive orders.** ", "receive orders.placed ", "receive orders.placed ", "receive orders.placed Order", "receive orders.placed Order", "send /events ", "send orders.placed Order"}
	for i := range read.Operations {
		if word := read.Operations[i]; strings.Contains(word, "anonymous") {
			read.Operations[i] = word[:strings.LastIndex(word, " ")+1]
		}
	}
	slices.Sort(read.Operations)
	if len(read.Faults) > 0 || !slices.Equal(read.Operations, want) {
		t.Errorf("faults %q, operations %q, want %q\n%s", read.Faults, read.Operations, want, whole)
	}
	if len(broken.Faults) == 0 {
		t.Error("the parser finds no fault in a broken document")
	}
}

func TestTheDocumentOfEventsHasTheTypesOfMessagesOnly(t *testing.T) {
	a := messages()
	a.Types["Unused"] = &schema.Schema{Type: schema.Types{"object"}}
	text, err := openapi.AsyncAPI(a)
	if err != nil {
		t.Fatal(err)
	}
	again, err := openapi.AsyncAPI(a)
	if err != nil || !bytes.Equal(text, again) {
		t.Errorf("the second time it is another document, %v", err)
	}
	for part, want := range map[string]bool{"Unused": false, `"Order"`: true, `"address": "orders.**"`: true, `"event.orders.any"`: true, "in the group all": true, `"contentType": "application/cloudevents+json"`: true, "in the group mails": false} {
		if got := bytes.Contains(text, []byte(part)); got != want {
			t.Errorf("%s is in it: %v\n%s", part, got, text)
		}
	}
}

func TestThePageHasADocumentOfItsEvents(t *testing.T) {
	a := messages()
	h := openapi.Page("/docs", func() api.API { return a })
	ask := func() (int, string) {
		w := httptest.NewRecorder()
		h.ServeHTTP(w, httptest.NewRequestWithContext(t.Context(), "GET", "/docs/asyncapi.json", nil))
		return w.Code, w.Body.String()
	}
	if status, body := ask(); status != http.StatusOK || !strings.Contains(body, `"asyncapi": "3.0.0"`) {
		t.Errorf("%d %s", status, body)
	}
	a = api.API{}
	h = openapi.Page("/docs", func() api.API { return a })
	if status, body := ask(); status != http.StatusNotFound {
		t.Errorf("without events: %d %s", status, body)
	}
}
