package openapi_test

import (
	"bytes"
	"context"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers/gorillamux"
	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/sabir-go/sabir/internal/brokers"
	"github.com/sabir-go/sabir/internal/openapi"
)

// parsed validates a document against OpenAPI's own schema, and reads it, which follows all references.
func parsed(doc []byte) (*openapi3.T, error) {
	spec, err := openapi3.NewLoader().LoadFromData(doc)
	if err != nil {
		return nil, err
	}
	return spec, spec.Validate(context.Background())
}

// asked finds the operation that a document has for a request.
func asked(t *testing.T, spec *openapi3.T, r *http.Request) *openapi3filter.RequestValidationInput {
	t.Helper()
	router, err := gorillamux.NewRouter(spec)
	if err != nil {
		t.Fatal(err)
	}
	route, params, err := router.FindRoute(r)
	if err != nil {
		t.Fatalf("%s %s: %v", r.Method, r.URL, err)
	}
	return &openapi3filter.RequestValidationInput{Request: r, Route: route, PathParams: params,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, MultiError: true}}
}

func TestALibraryFindsTheDocumentValid(t *testing.T) {
	if _, err := parsed(document(t, shop(t))); err != nil {
		t.Error(err)
	}
}

func TestTheLibraryWouldFindFaults(t *testing.T) {
	doc := document(t, shop(t))
	for name, change := range map[string][2]string{
		"a parameter from nowhere":       {`"in": "query"`, `"in": "nowhere"`},
		"no version":                     {`"version": "1.4.0"`, `"versoin": "1.4.0"`},
		"a reference to nothing":         {`"$ref": "#/components/schemas/Said"`, `"$ref": "#/components/schemas/Nothing"`},
		"a response without description": {`"description": "It is done."`, `"descriptoin": "It is done."`},
	} {
		broken := bytes.ReplaceAll(doc, []byte(change[0]), []byte(change[1]))
		if _, err := parsed(broken); err == nil {
			t.Errorf("%s goes unseen", name)
		}
	}
}

func TestRequestsThatTheServerTakesFitTheDocument(t *testing.T) {
	spec, err := parsed(document(t, shop(t)))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		method, url, body string
		headers           map[string]string
		fits              bool
	}{
		{"GET", "/api/users?tag=first&tag=new&page=2&active=true", "", map[string]string{"X-Tenant": "acme"}, true},
		{"GET", "/api/users?page=0", "", map[string]string{"X-Tenant": "acme"}, false},
		{"GET", "/api/users?tag=first", "", nil, false}, // no tenant
		{"GET", "/api/users/17", "", nil, true},
		{"GET", "/api/users/0", "", nil, false},
		{"POST", "/api/users/get", `{"id":1}`, nil, true},
		{"POST", "/api/users/get", `{"id":"1"}`, nil, false},
		{"POST", "/api/users/get", `{}`, nil, false},
		{"POST", "/api/$node/ping", ``, nil, true},
		{"POST", "/api/batch", `[{"action":"users.get","input":{"id":1}}]`, nil, true},
		{"POST", "/api/batch", `[]`, nil, false},
	} {
		r := httptest.NewRequest(c.method, "https://shop.example.org"+c.url, strings.NewReader(c.body))
		if c.body != "" {
			r.Header.Set("Content-Type", "application/json")
		}
		for name, value := range c.headers {
			r.Header.Set(name, value)
		}
		if fault := openapi3filter.ValidateRequest(t.Context(), asked(t, spec, r)); (fault == nil) != c.fits {
			t.Errorf("%s %s %s: want fits %v: %v", c.method, c.url, c.body, c.fits, fault)
		}
	}
}

func TestProblemsFitTheDocument(t *testing.T) {
	spec, err := parsed(document(t, shop(t)))
	if err != nil {
		t.Fatal(err)
	}
	const rest = `"detail":"d","code":"NotFound","message":"d","retryable":false}`
	for _, c := range []struct {
		body string
		fits bool
	}{
		{`{"type":"urn:sabir:error:NoSuchUser","title":"Not Found","status":404,"name":"NoSuchUser","data":{"id":7},` + rest, true},
		{`{"type":"urn:sabir:error:NoSuchUser","title":"Not Found","status":404,"name":"NoSuchUser","data":{"id":"7"},` + rest, false},
		{`{"type":"urn:sabir:error:ActionNotFound","title":"Not Found","status":404,"name":"ActionNotFound",` + rest, true},
		{`{"type":"urn:sabir:error:ActionNotFound","title":"Not Found","status":"404","name":"ActionNotFound",` + rest, false},
	} {
		answer := httptest.NewRecorder()
		answer.Header().Set("Content-Type", "application/problem+json")
		answer.Header().Set("X-Request-Id", "1")
		answer.WriteHeader(http.StatusNotFound)
		answer.WriteString(c.body)
		r := httptest.NewRequest("GET", "https://shop.example.org/api/users/7", nil)
		response := &openapi3filter.ResponseValidationInput{RequestValidationInput: asked(t, spec, r), Status: answer.Code, Header: answer.Header()}
		response.SetBodyBytes(answer.Body.Bytes())
		if fault := openapi3filter.ValidateResponse(t.Context(), response); (fault == nil) != c.fits {
			t.Errorf("%s: want fits %v: %v", c.body, c.fits, fault)
		}
	}
}

// TestSchemasAreJSONSchema compiles each component by a library for JSON Schema alone, which checks it against the dialect's
// meta-schema, and holds the examples against them.
func TestSchemasAreJSONSchema(t *testing.T) {
	doc := document(t, shop(t))
	c := jsonschema.NewCompiler()
	tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
	if err != nil {
		t.Fatal(err)
	}
	if err := c.AddResource("mem:///api.json", tree); err != nil {
		t.Fatal(err)
	}
	for _, name := range keys(at(t, doc, "components", "schemas")) {
		if _, err := c.Compile("mem:///api.json#/components/schemas/" + name); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	examples := 0
	paths := tree.(map[string]any)["paths"].(map[string]any)
	for path := range paths {
		for method := range paths[path].(map[string]any) {
			here := "mem:///api.json#/paths/" + strings.NewReplacer("~", "~0", "/", "~1", "{", "%7B", "}", "%7D").Replace(path) + "/" + method
			for _, where := range []string{"requestBody", "responses/200"} {
				var media any = paths[path].(map[string]any)[method]
				for _, key := range append(strings.Split(where, "/"), "content", "application/json") {
					in, _ := media.(map[string]any)
					media = in[key]
				}
				in, _ := media.(map[string]any)
				list, _ := in["examples"].(map[string]any)
				for name, example := range list {
					s, err := c.Compile(here + "/" + where + "/content/application~1json/schema")
					if err != nil {
						t.Fatal(err)
					}
					examples++
					if err := s.Validate(example.(map[string]any)["value"]); err != nil {
						t.Errorf("%s %s, example %q: %v", method, path, name, err)
					}
				}
			}
		}
	}
	if examples < 8 {
		t.Errorf("only %d examples were checked", examples)
	}
}

func TestTypesAreJSONSchema(t *testing.T) {
	a := shop(t)
	for name := range a.Types {
		doc, err := openapi.Type(a, name)
		if err != nil {
			t.Fatal(err)
		}
		tree, err := jsonschema.UnmarshalJSON(bytes.NewReader(doc))
		if err != nil {
			t.Fatal(err)
		}
		c := jsonschema.NewCompiler()
		if err := c.AddResource("mem:///type.json", tree); err != nil {
			t.Fatal(err)
		}
		s, err := c.Compile("mem:///type.json")
		if err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if s.Validate("no object") == nil {
			t.Errorf("%s takes a text", name)
		}
	}
}

// TestAnotherValidatorFindsTheDocumentValid runs a validator of the JavaScript world, at the version of its lock file.
func TestAnotherValidatorFindsTheDocumentValid(t *testing.T) {
	brokers.Slow(t)
	node := brokers.Program(t, "node", "nodejs")
	dir := t.TempDir()
	brokers.NodeModules(t, filepath.Join("testdata", "validator"), dir)
	doc := document(t, shop(t))
	says := func(doc []byte) (string, error) {
		run := exec.CommandContext(t.Context(), node, "validate.js")
		run.Dir, run.Stdin = dir, bytes.NewReader(doc)
		out, err := run.CombinedOutput()
		return string(out), err
	}
	out, err := says(doc)
	if err != nil {
		t.Errorf("%v\n%s", err, out)
	}
	t.Log(out)
	if out, err := says(bytes.Replace(doc, []byte(`"title"`), []byte(`"titel"`), 1)); err == nil {
		t.Errorf("a document without a title is valid: %s", out)
	}
}

func FuzzDocument(f *testing.F) {
	file, err := os.ReadFile(filepath.Join("testdata", "shop.api.json"))
	if err != nil {
		f.Fatal(err)
	}
	f.Add("users.get", "/users/{id}", "User", "NoSuchUser", "Finds. A user.\n\nMore", 404, file)
	f.Add("", "{", "Page[User]", "", "", 0, []byte(`{"id":`))
	f.Add("a", "/{a...}{b", "~/%", "a b", ". ", 422, []byte(`{}`))
	f.Fuzz(func(t *testing.T, name, pattern, typ, failure, says string, status int, example []byte) {
		a := shop(t)
		if !json.Valid(example) {
			example = nil
		}
		act := &a.Actions[0]
		act.Name, act.Path, act.Description = name, "/"+name, says
		act.Routes[0].Pattern, act.Routes[0].Params[0].Name = pattern, typ
		act.Errors[0].Name, act.Errors[0].Status = failure, status
		act.Examples[0].In = example
		a.Types[typ] = a.Types["User"]
		if doc, err := openapi.Document(a); err != nil || !json.Valid(doc) {
			t.Errorf("the document is no JSON, or %v", err)
		}
		openapi.Type(a, typ)
	})
}
