package openapi_test

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/openapi"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

// openapi-generator 7.17.0 made a client for Go with int32 for what it did not know, which could not read an int of three billion.
func TestIntegersHaveTheFormatsThatGeneratorsOfClientsKnow(t *testing.T) {
	for format, want := range map[string]string{"int": "int64", "uint": "int64", "int64": "int64", "uint64": "int64", "uint32": "int64", "duration-ns": "int64",
		"int32": "int32", "int16": "int32", "uint16": "int32", "int8": "int32", "uint8": "int32"} {
		a := shop(t)
		a.Types["Counted"] = &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{
			{Name: "n", Schema: &schema.Schema{Type: schema.Types{"integer"}, Format: format}},
			{Name: "list", Schema: &schema.Schema{Type: schema.Types{"array"}, Items: &schema.Schema{Type: schema.Types{"integer"}, Format: format}}}}}
		doc := document(t, a)
		counted := []string{"components", "schemas", "Counted", "properties"}
		if got := at(t, doc, append(counted, "n", "format")...); got != want {
			t.Errorf("%s is %v, want %s", format, got, want)
		}
		if got := at(t, doc, append(counted, "list", "items", "format")...); got != want {
			t.Errorf("%s in a list is %v, want %s", format, got, want)
		}
		if says := at(t, doc, append(counted, "n", "description")...); format == "duration-ns" && says != "Nanoseconds." {
			t.Errorf("a duration is described by %v", says)
		}
		if a.Types["Counted"].Properties[0].Schema.Format != format {
			t.Errorf("the API has another format than %s afterwards", format)
		}
	}
}

// A field with "omitempty,email" was null in openapi-generator's clients for TypeScript and Rust, and "" in that of swagger-typescript-api.
func TestRulesBesideATypeAreNoAlternatives(t *testing.T) {
	a := shop(t)
	email := schema.Schema{Type: schema.Types{"string"}, AnyOf: []schema.Schema{{Const: ""}, {Pattern: "@"}}}
	both := email
	both.Not = &schema.Schema{Const: "nobody@x"}
	a.Types["Ruled"] = &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{{Name: "email", Schema: &email}, {Name: "both", Schema: &both}}}
	doc, err := openapi.Type(a, "Ruled")
	if err != nil {
		t.Fatal(err)
	}
	for _, member := range []string{"email", "both"} {
		field := at(t, doc, "$defs", "Ruled", "properties", member).(map[string]any)
		if field["type"] != "string" || field["anyOf"] != nil {
			t.Errorf("%s is %v", member, field)
		}
	}
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("mem:///type.json", tree); err != nil {
		t.Fatal(err)
	}
	ruled := c.MustCompile("mem:///type.json")
	for text, want := range map[string]map[string]bool{
		"":         {"email": true, "both": true},
		"ada@x":    {"email": true, "both": true},
		"ada":      {"email": false, "both": false},
		"nobody@x": {"email": true, "both": false},
	} {
		for member, fits := range want {
			if err := ruled.Validate(map[string]any{member: text}); (err == nil) != fits {
				t.Errorf("%s %q: %v", member, text, err)
			}
		}
	}
}

// Their clients know no constants: an answer of which two forms of a "oneOf" may be is an error to them without what it says.
func TestNoAnswerIsDescribedByOneOf(t *testing.T) {
	if doc := document(t, shop(t)); strings.Contains(string(doc), `"oneOf"`) {
		t.Error("the document has a oneOf")
	}
}

// A client for Python took a file without a type for JSON.
func TestFilesAreBinaryAndHaveOneForm(t *testing.T) {
	doc := document(t, shop(t))
	for _, path := range [][]string{
		{"paths", "/api/files/read", "post", "responses", "200", "content", "application/octet-stream", "schema"},
		{"paths", "/api/users/avatar", "post", "requestBody", "content", "application/octet-stream", "schema"},
		{"paths", "/api/users/avatar", "post", "requestBody", "content", "multipart/form-data", "schema", "properties", "file"},
	} {
		got, err := json.Marshal(at(t, doc, path...))
		if err != nil || string(got) != `{"format":"binary","type":"string"}` {
			t.Errorf("%v is %s", path, got)
		}
	}
}

// Clients of a form with a picture took it for a text in base64, and had no way to send the file.
func TestBytesInAFormOfPartsAreFilesAndListsRepeat(t *testing.T) {
	a := shop(t)
	bytes := &schema.Schema{Type: schema.Types{"string", "null"}, ContentEncoding: "base64"}
	a.Types["Message"] = &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{
		{Name: "picture", Schema: bytes}, {Name: "pages", Schema: &schema.Schema{Type: schema.Types{"array"}, Items: bytes}}}}
	a.Actions = append(a.Actions, api.Action{Name: "hooks.take", Service: "hooks", Path: "/hooks/take", In: &schema.Schema{Ref: "#/$defs/Message"},
		Routes: []route.Route{{Method: "POST", Pattern: "/hooks", Body: true, Form: []route.Param{{Name: "picture", Field: "picture"}, {Name: "pages", Field: "pages", List: true}}}}})
	content := []string{"paths", "/api/hooks", "post", "requestBody", "content"}
	for kind, want := range map[string]string{
		"multipart/form-data":               `{"pages":{"items":{"format":"binary","type":"string"},"type":"array"},"picture":{"format":"binary","type":"string"}}`,
		"application/x-www-form-urlencoded": `{"pages":{"items":{"contentEncoding":"base64","type":"string"},"type":"array"},"picture":{"contentEncoding":"base64","type":"string"}}`,
	} {
		got, err := json.Marshal(at(t, document(t, a), append(content, kind, "schema", "properties")...))
		if err != nil || string(got) != want {
			t.Errorf("%s has %s, want %s", kind, got, want)
		}
		got, err = json.Marshal(at(t, document(t, a), append(content, kind, "encoding")...)) // without it Swagger UI sends one text with commas
		if err != nil || string(got) != `{"pages":{"explode":true,"style":"form"}}` {
			t.Errorf("%s has the encoding %s", kind, got)
		}
	}
}

// Redocly refused a document over an "enum" with null beside the type of a text, and clients had null as a value of a parameter.
func TestAParameterIsNeverNull(t *testing.T) {
	a := shop(t)
	color := schema.Schema{Type: schema.Types{"string", "null"}, Enum: []any{"red", nil}}
	a.Types["Find"] = &schema.Schema{Type: schema.Types{"object"}, Properties: schema.Properties{
		{Name: "color", Schema: &color},
		{Name: "colors", Schema: &schema.Schema{Type: schema.Types{"array", "null"}, Items: &color}},
		{Name: "lang", Schema: &schema.Schema{Description: "of texts", Default: "de", AnyOf: []schema.Schema{{Type: schema.Types{"string"}, Pattern: "^d"}, {Type: schema.Types{"null"}}}}},
	}}
	a.Actions = append(a.Actions, api.Action{Name: "hooks.find", Service: "hooks", Path: "/hooks/find", In: &schema.Schema{Ref: "#/$defs/Find"},
		Routes: []route.Route{{Method: "GET", Pattern: "/hooks", Params: []route.Param{
			{Name: "color", Field: "color", In: route.Query}, {Name: "colors", Field: "colors", In: route.Query, List: true}, {Name: "lang", Field: "lang", In: route.Query}}}}})
	list := at(t, document(t, a), "paths", "/api/hooks", "get", "parameters").([]any)
	for i, want := range []string{`{"enum":["red"],"type":"string"}`, `{"items":{"enum":["red"],"type":"string"},"type":"array"}`, `{"default":"de","pattern":"^d","type":"string"}`} {
		got, err := json.Marshal(list[i].(map[string]any)["schema"])
		if err != nil || string(got) != want {
			t.Errorf("%v is %s, want %s", list[i], got, want)
		}
	}
	if says := list[2].(map[string]any)["description"]; says != "of texts" {
		t.Errorf("it is described by %v", says)
	}
}
