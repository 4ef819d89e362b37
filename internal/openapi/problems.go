package openapi

import (
	"encoding/json"
	"net/http"
	"net/url"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/internal/api"
)

// errorType is the type of an error's problem document.
func errorType(name string) string {
	if name == "" {
		return "about:blank"
	}
	return "urn:sabir:error:" + url.PathEscape(name)
}

// codeNames returns the names of all codes of errors.
func codeNames() []string {
	var list []string
	for c := sabir.CodeCanceled; c <= sabir.CodeUnauthenticated; c++ {
		list = append(list, c.String())
	}
	return list
}

// problemSchemas are the components of problem documents (RFC 9457) and of what they hold.
func (d *document) problemSchemas() object {
	str := func(says string) object { return object{{"type", "string"}, {"description", says}} }
	problem := object{
		{"type", "object"},
		{"description", "An error, as RFC 9457 has it."},
		{"properties", object{
			{"type", object{{"type", "string"}, {"format", "uri-reference"}, {"description", "Which error it is: `urn:sabir:error:` and its name. An identifier, not an address to open."}}},
			{"title", str("The status in words.")},
			{"status", object{{"type", "integer"}, {"minimum", 400}, {"maximum", 599}, {"description", "The status of the answer."}}},
			{"detail", str("What happened, for people.")},
			{"code", object{{"type", "string"}, {"enum", codeNames()}, {"description", "The class of the error."}}},
			{"name", str("Which error of its class it is.")},
			{"message", str("The same as detail.")},
			{"data", object{{"description", "What a program needs to act on the error."}}},
			{"retryable", object{{"type", "boolean"}, {"description", "The same call may succeed later, and trying again does no harm."}}},
			{"node", str("Where it happened.")},
			{"requestId", str("Finds the request in logs.")},
		}},
		{"required", []string{"type", "title", "status", "detail", "code", "name", "message", "retryable"}},
	}
	entry := object{
		{"type", "object"},
		{"description", "A field that broke a rule."},
		{"properties", object{
			{"path", str("The field, such as `items[2].price`.")},
			{"pointer", str("The same as a JSON Pointer (RFC 6901).")},
			{"in", object{{"type", "string"}, {"enum", []string{"path", "query", "header", "cookie", "form", "body"}}, {"description", "Where it came from, of a REST form."}}},
			{"name", str("Its name there, unless in the body.")},
			{"rule", str("The rule.")},
			{"param", str("The rule's parameter, such as the 64 of max=64.")},
			{"value", object{{"description", "What was given; `***` for a secret."}}},
			{"message", str("What is wrong, for people.")},
		}},
		{"required", []string{"path", "pointer", "rule", "message"}},
	}
	list := object{{"type", "array"}, {"items", ref("schemas", d.fieldType)}}
	invalid := object{{"description", "An error that lists fields that broke rules."},
		{"allOf", []any{ref("schemas", d.problem)}}, {"properties", object{{"data", list}}}}
	return object{{d.problem, problem}, {d.invalid, invalid}, {d.fieldType, entry}}
}

// errorSchema is the component of a declared error. Actions that declare the same one share it.
func (d *document) errorSchema(e api.Error) string {
	key, err := json.Marshal(e)
	if err != nil {
		key = []byte(e.Name)
	}
	if name, ok := d.errors[string(key)]; ok {
		return name
	}
	is := func(v any) object { return object{{"const", v}} }
	properties := object{{"type", is(errorType(e.Name))}, {"status", is(e.Status)}, {"code", is(e.Code)}, {"name", is(e.Name)}}
	if e.Data != nil {
		properties.add("data", d.schema(e.Data))
	}
	var s object
	s.addText("description", e.Description)
	s = append(s, object{{"allOf", []any{ref("schemas", d.problem)}}, {"properties", properties}, {"required", []string{"type"}}}...)
	name := d.names.take(e.Name+"Error", "Error."+e.Name)
	d.errors[string(key)] = name
	d.problems.add(name, s)
	return name
}

func exampleProblem(a answer, data any) object {
	o := object{{"type", errorType(a.name)}, {"title", http.StatusText(a.status)}, {"status", a.status}, {"detail", a.message},
		{"code", a.code}, {"name", a.name}, {"message", a.message}}
	if data != nil {
		o.add("data", data)
	}
	return append(o, object{{"retryable", a.retryable}, {"node", "shop-1"}, {"requestId", "6f9f2a"}}...)
}
