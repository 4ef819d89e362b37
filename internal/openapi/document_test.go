package openapi_test

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/openapi"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

var update = flag.Bool("update", false, "write the golden files anew")

// shop is a small API in which everything occurs that an API can have.
func shop(t testing.TB) api.API {
	t.Helper()
	var a api.API
	read(t, filepath.Join("testdata", "shop.api.json"), &a)
	return a
}

func read(t testing.TB, name string, v any) {
	t.Helper()
	file, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if err := json.Unmarshal(file, v); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
}

func document(t testing.TB, a api.API) []byte {
	t.Helper()
	doc, err := openapi.Document(a)
	if err != nil {
		t.Fatal(err)
	}
	return doc
}

// at is the value at a path of members in the document; nil where there is none.
func at(t testing.TB, doc []byte, path ...string) any {
	t.Helper()
	var v any
	if err := json.Unmarshal(doc, &v); err != nil {
		t.Fatal(err)
	}
	for _, key := range path {
		switch in := v.(type) {
		case map[string]any:
			v = in[key]
		default:
			return nil
		}
	}
	return v
}

func keys(v any) []string {
	m, _ := v.(map[string]any)
	var list []string
	for key := range m {
		list = append(list, key)
	}
	slices.Sort(list)
	return list
}

func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs from what is made now; look at the difference after `go test -update`", name)
	}
}

func TestDocumentIsTheGoldenOne(t *testing.T) {
	golden(t, "shop.openapi.json", document(t, shop(t)))
}

func TestTheSameAPIGivesTheSameBytes(t *testing.T) {
	a := shop(t)
	first := document(t, a)
	slices.Reverse(a.Actions)
	if !bytes.Equal(first, document(t, a)) {
		t.Error("the order of the actions shows in the document")
	}
}

func TestDocumentDoesNotChangeTheAPI(t *testing.T) {
	a := shop(t)
	before, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	document(t, a)
	after, err := json.Marshal(a)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(before, after) {
		t.Error("the API is another one afterwards")
	}
}

func TestEachActionHasItsCallAndItsRESTForms(t *testing.T) {
	doc := document(t, shop(t))
	for path, want := range map[string]string{
		"/api/users/get": "post users.get", "/api/users": "get users.list.viaGet,post users.create.viaPost", "/api/users/list": "post users.list",
		"/api/users/{id}": "delete users.remove.viaDelete,get users.get.viaGet,patch users.update.viaPatch", "/api/people/{id}": "get users.get.viaGet2",
		"/api/$node/ping": "post $node.ping", "/api/files/{path}": "get files.read.viaGet", "/api/batch": "post batch", "/api/events": "get events",
	} {
		item := at(t, doc, "paths", path)
		var got []string
		for _, method := range keys(item) {
			got = append(got, method+" "+at(t, doc, "paths", path, method, "operationId").(string))
		}
		if strings.Join(got, ",") != want {
			t.Errorf("%s has %v, want %s", path, got, want)
		}
	}
}

func TestParametersOfOnePlaceHaveOneName(t *testing.T) {
	doc := document(t, shop(t)) // PATCH /users/{user} is at /users/{id}
	list := at(t, doc, "paths", "/api/users/{id}", "patch", "parameters").([]any)
	if name := list[0].(map[string]any)["name"]; name != "id" {
		t.Errorf("the path's parameter is %v, want id", name)
	}
}

func TestBodyOfARESTFormHasNoFieldsOfThePath(t *testing.T) {
	doc := document(t, shop(t))
	body := []string{"paths", "/api/users/{id}", "patch", "requestBody"}
	media := append(body, "content", "application/json")
	if got := keys(at(t, doc, append(media, "schema", "properties")...)); !slices.Equal(got, []string{"labels", "name"}) {
		t.Errorf("the body has %v", got)
	}
	if got := at(t, doc, append(media, "schema", "required")...); got != nil {
		t.Errorf("the body demands %v", got)
	}
	if got := keys(at(t, doc, append(media, "examples", "rename", "value")...)); !slices.Equal(got, []string{"name"}) {
		t.Errorf("the example has %v", got)
	}
	if at(t, doc, append(body, "required")...) != false {
		t.Error("the body is demanded although nothing in it is")
	}
}

func TestListsInTheQueryRepeat(t *testing.T) {
	list := at(t, document(t, shop(t)), "paths", "/api/users", "get", "parameters").([]any)
	tag := list[0].(map[string]any)
	if tag["name"] != "tag" || tag["style"] != "form" || tag["explode"] != true {
		t.Errorf("the parameter is %v", tag)
	}
	if kind := tag["schema"].(map[string]any)["type"]; kind != "array" {
		t.Errorf("its type is %v, want array without null", kind)
	}
}

func TestDeclaredErrorsAreOneOfThemByType(t *testing.T) {
	doc := document(t, shop(t))
	forms := at(t, doc, "paths", "/api/users/create", "post", "responses", "409", "content", "application/problem+json", "schema", "anyOf").([]any)
	if len(forms) != 3 {
		t.Fatalf("there are %d forms, want two errors and any other", len(forms))
	}
	if got := at(t, doc, "components", "schemas", "EmailTakenError", "properties", "type", "const"); got != "urn:sabir:error:EmailTaken" {
		t.Errorf("the type is %v", got)
	}
}

func TestActionsThatDeclareTheSameErrorShareIt(t *testing.T) {
	doc := document(t, shop(t))
	if at(t, doc, "components", "schemas", "NoSuchUserError") == nil || at(t, doc, "components", "schemas", "Error.NoSuchUser") != nil {
		t.Error("NoSuchUser is there twice or not at all")
	}
	a := shop(t)
	a.Actions[3].Errors[0].Data = &schema.Schema{Type: schema.Types{"string"}}
	doc = document(t, a)
	if at(t, doc, "components", "schemas", "NoSuchUserError") == nil || at(t, doc, "components", "schemas", "Error.NoSuchUser") == nil {
		t.Error("two errors of one name with different data are not both there")
	}
}

func TestEveryCallNamesWhatItCanEndWith(t *testing.T) {
	doc := document(t, shop(t))
	for path, want := range map[string]string{
		"/api/users/create": "200 400 401 403 404 409 413 415 422 429 500 503 504 default",
		"/api/users/get":    "200 400 404 413 415 422 429 500 503 504 default",
		"/api/$node/ping":   "200 400 404 429 500 503 504 default",
	} {
		if got := strings.Join(keys(at(t, doc, "paths", path, "post", "responses")), " "); got != want {
			t.Errorf("%s answers %s, want %s", path, got, want)
		}
	}
}

func TestCachedFormsHaveAnETag(t *testing.T) {
	doc := document(t, shop(t))
	get := []string{"paths", "/api/users/{id}", "get"}
	if at(t, doc, append(get, "responses", "304")...) == nil || at(t, doc, append(get, "responses", "200", "headers", "ETag")...) == nil {
		t.Error("GET of a cached action tells nothing of its ETag")
	}
	if at(t, doc, "paths", "/api/users/get", "post", "responses", "304") != nil {
		t.Error("POST answers 304")
	}
}

func TestOneSchemeAndOneRoleIsEnough(t *testing.T) {
	doc := document(t, shop(t))
	got, err := json.Marshal(at(t, doc, "paths", "/api/users/create", "post", "security"))
	if err != nil {
		t.Fatal(err)
	}
	if want := `[{"key":["admin"]},{"key":["clerk"]},{"jwt":["admin"]},{"jwt":["clerk"]}]`; string(got) != want {
		t.Errorf("security is %s, want %s", got, want)
	}
}

func TestStreamsComeInThreeForms(t *testing.T) {
	doc := document(t, shop(t))
	for path, want := range map[string][2]string{
		"/api/chat/join":    {"application/json application/x-ndjson", "application/json application/x-ndjson text/event-stream"},
		"/api/users/avatar": {"application/octet-stream multipart/form-data", "application/json application/x-ndjson text/event-stream"},
		"/api/files/read":   {"application/json application/x-ndjson", "application/octet-stream"},
	} {
		in := strings.Join(keys(at(t, doc, "paths", path, "post", "requestBody", "content")), " ")
		out := strings.Join(keys(at(t, doc, "paths", path, "post", "responses", "200", "content")), " ")
		if in != want[0] || out != want[1] {
			t.Errorf("%s takes %s and answers %s", path, in, out)
		}
	}
	if got := at(t, doc, "paths", "/api/chat/join", "post", "x-stream", "out", "$ref"); got != "#/components/schemas/Said" {
		t.Errorf("the values of the stream are %v", got)
	}
}

func TestAStreamWithOneValueInOrOutIsDescribedSo(t *testing.T) {
	of := func(shape api.Shape) []byte {
		a := shop(t)
		for i := range a.Actions {
			if a.Actions[i].Name == "chat.join" {
				a.Actions[i].Shape = shape
			}
		}
		return document(t, a)
	}
	for shape, want := range map[api.Shape][2]string{
		introspect.ServerStream: {"application/json", "application/x-ndjson text/event-stream"},
		introspect.ClientStream: {"application/json application/x-ndjson", "application/json"},
	} {
		doc, join := of(shape), []string{"paths", "/api/chat/join", "post"}
		in := strings.Join(keys(at(t, doc, append(join, "requestBody", "content")...)), " ")
		out := strings.Join(keys(at(t, doc, append(join, "responses", "200", "content")...)), " ")
		if in != want[0] || out != want[1] || at(t, doc, append(join, "x-stream", "shape")...) != string(shape) {
			t.Errorf("%s: it takes %s and answers %s", shape, in, out)
		}
	}
}

func TestTypesOfTheAPIKeepTheirNamesBesideTheProblems(t *testing.T) {
	a := shop(t)
	a.Types["Problem"] = &schema.Schema{Type: schema.Types{"string"}}
	doc := document(t, a)
	if at(t, doc, "components", "schemas", "Problem", "type") != "string" || at(t, doc, "components", "schemas", "Sabir.Problem", "type") != "object" {
		t.Error("the type Problem of the API is not what the document has under this name")
	}
}

// oapi-codegen makes Go types of schemas, responses and parameters by their keys, and openapi-python-client classes by the titles of schemas.
func TestNoOtherComponentHasTheNameOfATypeOfTheAPI(t *testing.T) {
	a := shop(t)
	for _, name := range []string{"NotFound", "RequestId", "Problem"} {
		a.Types[name] = &schema.Schema{Type: schema.Types{"string"}}
	}
	doc := document(t, a)
	for _, kind := range []string{"responses", "parameters", "headers"} {
		for _, name := range keys(at(t, doc, "components", kind)) {
			if a.Types[name] != nil {
				t.Errorf("%s is a type of the API, and one of the %s", name, kind)
			}
		}
	}
	for _, name := range keys(at(t, doc, "components", "schemas")) {
		if title := at(t, doc, "components", "schemas", name, "title"); title != nil {
			t.Errorf("the schema %s has the title %v, which may be the name of another one", name, title)
		}
	}
}

func TestTypesWhoseNamesOpenAPIForbidsAreRenamed(t *testing.T) {
	a := shop(t)
	a.Types["Page(User)"] = &schema.Schema{Type: schema.Types{"integer"}} // becomes the same as Page[User]
	doc := document(t, a)
	if at(t, doc, "components", "schemas", "Page_User_", "type") != "integer" || at(t, doc, "components", "schemas", "Page_User__2", "type") != "object" {
		t.Errorf("the types are %v", keys(at(t, doc, "components", "schemas")))
	}
	ref := at(t, doc, "paths", "/api/users", "get", "responses", "200", "content", "application/json", "schema", "$ref")
	if ref != "#/components/schemas/Page_User__2" {
		t.Errorf("users.list answers %v", ref)
	}
}

func TestRoutesOfMethodsThatOpenAPILacksAreLeftOut(t *testing.T) {
	a := shop(t)
	a.Actions[0].Routes = append(a.Actions[0].Routes, route.Route{Method: "QUERY", Pattern: "/users"})
	if at(t, document(t, a), "paths", "/api/users", "query") != nil {
		t.Error("a document of OpenAPI 3.1 has an operation of the method QUERY")
	}
}

func TestGoNamesOfTypesStayInside(t *testing.T) {
	if bytes.Contains(document(t, shop(t)), []byte("x-go-type")) {
		t.Error("the document tells the Go names of types")
	}
}

func TestADocumentOfNothingHasNoPaths(t *testing.T) {
	doc := document(t, api.API{})
	if paths, ok := at(t, doc, "paths").(map[string]any); !ok || len(paths) != 0 {
		t.Errorf("the paths are %v", at(t, doc, "paths"))
	}
}

func TestTypeHasWhatItUses(t *testing.T) {
	doc, err := openapi.Type(shop(t), "Page[User]")
	if err != nil {
		t.Fatal(err)
	}
	golden(t, "Page[User].json", doc)
	if got := keys(at(t, doc, "$defs")); !slices.Equal(got, []string{"Page[User]", "User", "billing.Address"}) {
		t.Errorf("it has %v", got)
	}
	if _, err := openapi.Type(shop(t), "Nobody"); err == nil || !strings.Contains(err.Error(), "Category, GetUser") {
		t.Errorf("a type that is not there: %v", err)
	}
}

func BenchmarkDocument(b *testing.B) {
	a := shop(b)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := openapi.Document(a); err != nil {
			b.Fatal(err)
		}
	}
}

func TestTheStatusesOfAnActionAreItsResponses(t *testing.T) {
	a := shop(t)
	i := slices.IndexFunc(a.Actions, func(a api.Action) bool { return a.Out != nil && !a.Stream })
	a.Actions[i].Routes, a.Actions[i].CacheFor = nil, 0
	a.Actions[i].Statuses = []api.Status{{Status: 201, Headers: []string{"Location"}}, {Status: 204}}
	doc := document(t, a)
	responses := []string{"paths", a.Prefix + a.Actions[i].Path, "post", "responses"}
	if at(t, doc, append(responses, "201", "content")...) == nil || at(t, doc, append(responses, "201", "headers", "Location")...) == nil {
		t.Errorf("201 is %v", at(t, doc, append(responses, "201")...))
	}
	if at(t, doc, append(responses, "204")...) == nil || at(t, doc, append(responses, "204", "content")...) != nil || at(t, doc, append(responses, "200")...) != nil {
		t.Errorf("the responses are %v", at(t, doc, responses...))
	}
}

func TestTheProblemsOfFieldsMayBeInAllPlacesThatTheNodeNames(t *testing.T) {
	var doc struct {
		Components struct {
			Schemas map[string]struct {
				Properties map[string]struct{ Enum []route.Source }
			}
		}
	}
	if err := json.Unmarshal(document(t, shop(t)), &doc); err != nil {
		t.Fatal(err)
	}
	places := doc.Components.Schemas["FieldError"].Properties["in"].Enum
	if want := []route.Source{route.Path, route.Query, route.Header, route.Cookie, route.Form, bind.Body}; !slices.Equal(places, want) {
		t.Errorf("the document has %q, want %q", places, want)
	}
}

// Linters warn of components that nothing refers to.
func TestEveryComponentIsReferredTo(t *testing.T) {
	whole := shop(t)
	one := whole
	one.Actions = one.Actions[:0:0]
	for _, a := range whole.Actions {
		if len(a.Routes) == 0 {
			one.Actions = append(one.Actions, a)
			break
		}
	}
	for about, a := range map[string]api.API{"an API with everything": whole, "a call without a route": one} {
		doc := document(t, a)
		for kind, components := range at(t, doc, "components").(map[string]any) {
			if kind == "securitySchemes" || kind == "schemas" { // the first are named by operations; types are those of the API
				continue
			}
			for name := range components.(map[string]any) {
				if reference := `"#/components/` + kind + "/" + name + `"`; !strings.Contains(string(doc), reference) {
					t.Errorf("%s: nothing refers to %s", about, reference)
				}
			}
		}
	}
}
