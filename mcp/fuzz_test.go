package mcp

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/sabir-go/sabir/internal/subrequest"
)

// What is read of a message before the SDK reads it is what the SDK will find, and no message ends the process.
func FuzzMessages(f *testing.F) {
	for _, seed := range []string{`{"method":"tools/call","params":{"name":"a","_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28"}}}`,
		`[{"method":"tools/call","params":{"name":"a"}},{"method":"ping"}]`, `{"params":7}`, `[7]`, `null`, ``, `{`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, body []byte) {
		found := peek(body)
		if !json.Valid(body) && len(found.tools) > 0 && found.tools[0] != "" {
			t.Errorf("%q calls %q", body, found.tools)
		}
	})
}

// The events of a stream are the same however they are cut into writes.
func FuzzEventsOfStreams(f *testing.F) {
	f.Add("id: 1\ndata: 7\n\n:\n\nid: 2\ndata: {\"a\":1}\n\nevent: end\ndata: {}\n\n", 3)
	f.Add("event: error\ndata: {\"message\":\"no\"}\n\n", 1)
	f.Add("data: 1\ndata: 2\n\n\n", 2)
	f.Fuzz(func(t *testing.T, text string, size int) {
		read := func(size int) *streamed {
			v := &streamed{received: func([]byte) {}, full: func() {}}
			events := subrequest.Events{Take: v.take}
			for part := range slices.Chunk([]byte(text), max(1, size)) {
				events.Write(part)
			}
			return v
		}
		whole, cut := read(len(text)), read(size)
		if string(whole.values) != string(cut.values) || whole.count != cut.count || whole.ended != cut.ended || whole.truncated != cut.truncated || (whole.failed == nil) != (cut.failed == nil) {
			t.Errorf("%q in parts of %d: %s, want %s", text, size, cut.values, whole.values)
		}
		if whole.count > maxValues {
			t.Errorf("%d values", whole.count)
		}
	})
}

// No value in a URI leaves the segment of the path that it is for.
func FuzzURIsOfResources(f *testing.F) {
	for _, seed := range []string{"orders://7", "orders://..", "orders://%2e%2e", "orders://a%2Fb", "orders://{id}", "orders://", "orders://a/b", "orders://%zz"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, uri string) {
		r := &resource{uri: "orders://{id}", path: "/orders/{id}"}
		path, ok := r.pathFor(uri)
		if !ok {
			return
		}
		segment, ok := strings.CutPrefix(path, "/orders/")
		value, err := url.PathUnescape(segment)
		if !ok || err != nil || strings.ContainsAny(segment, "/?#") || value == "" || value == "." || value == ".." {
			t.Errorf("%q becomes %q", uri, path)
		}
	})
}

// A file that is read as a prompt can be filled in, or the client gets an error.
func FuzzPrompts(f *testing.F) {
	for _, seed := range []string{"Find {{.id}}", "---\ntitle: A\ndescription: B\n---\n{{if .x}}{{.y}}{{end}}", "{{with .a}}{{.}}{{end}}", "---\n", "{{template \"x\"}}"} {
		f.Add(seed, "value")
	}
	f.Fuzz(func(t *testing.T, file, value string) {
		p, err := newPrompt("p", file)
		if err != nil || strings.Contains(file, "range") { // a loop of a billion turns is its author's own
			return
		}
		arguments := make(map[string]string)
		for _, a := range p.described.Arguments {
			arguments[a.Name] = value
		}
		result, err := p.get(t.Context(), &sdk.GetPromptRequest{Params: &sdk.GetPromptParams{Name: "p", Arguments: arguments}})
		if err == nil && len(result.Messages) != 1 {
			t.Errorf("%q: %d messages", file, len(result.Messages))
		}
	})
}
