package openapi

import (
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/introspect"
)

// form is one of the addresses of an action: its call, or a REST form.
type form struct {
	*api.Action
	id     string
	method string // lower case
	params []any
	named  []string       // fields of the input that come from parameters
	body   *schema.Schema // nil for none
	fields []route.Param  // that come from a form where the body is one; nil where none is taken
	rest   bool           // a REST form
}

// call adds the call of an action: POST /service/action.
func (d *document) call(a *api.Action) {
	path, _ := d.paths.place(a.Path)
	if d.paths.free(path, "post") {
		d.paths.add(path, "post", d.operation(form{Action: a, id: a.Name, method: "post", body: a.In}))
	}
}

// routes adds the REST forms of an action.
func (d *document) routes(a *api.Action) {
	nth := map[string]int{}
	for _, r := range a.Routes {
		method := strings.ToLower(r.Method)
		path, renamed := d.paths.place(r.Pattern)
		if !d.paths.free(path, method) {
			continue
		}
		nth[method]++
		f := form{Action: a, id: operationID(a.Name, method, nth[method]), method: method, rest: true}
		for _, p := range r.Params {
			f.named = append(f.named, p.Field)
			f.params = append(f.params, d.parameter(a, r, p, renamed))
		}
		if r.Body {
			f.body, f.fields = without(d.api, a.In, f.named), r.Form
		}
		d.paths.add(path, method, d.operation(f))
	}
}

// operation is one form of an action.
func (d *document) operation(f form) object {
	op := object{{"tags", []string{f.Service}}, {"summary", summary(f.Action)}}
	op.addText("description", d.description(f))
	op.add("operationId", f.id)
	if f.Deprecated {
		op.add("deprecated", true)
	}
	op.add("parameters", append(f.params, d.commonParameters(f)...))
	if body := d.body(f); body != nil {
		op.add("requestBody", body)
	}
	op.add("responses", d.responses(f))
	op.add("security", d.security(f.Auth, f.Scopes))
	if f.Idempotent {
		op.add("x-idempotent", true)
	}
	if f.Stream {
		values := object{}
		if f.Shape != "" {
			values.add("shape", f.Shape)
		}
		if f.In != nil {
			values.add("in", d.schema(f.In))
		}
		if f.Out != nil {
			values.add("out", d.schema(f.Out))
		}
		op.add("x-stream", values)
	}
	return op
}

// summary is the first sentence of the description, or the action's name.
func summary(a *api.Action) string {
	line, _, _ := strings.Cut(a.Description, "\n")
	if sentence, _, more := strings.Cut(line, ". "); more {
		line = sentence
	}
	if line = strings.TrimSuffix(strings.TrimSpace(line), "."); line == "" {
		return a.Name
	}
	return line
}

// description is the action's, and what OpenAPI has no words for.
func (d *document) description(f form) string {
	parts := []string{f.Description}
	if f.Description != "" && strings.TrimSuffix(f.Description, ".") == summary(f.Action) {
		parts[0] = ""
	}
	if f.Deprecated && f.Instead != "" {
		parts = append(parts, "Deprecated: "+f.Instead)
	}
	if f.Stream {
		parts = append(parts, d.streamDescription(f))
	}
	if len(f.Scopes) > 0 {
		parts = append(parts, "The caller needs one of the roles: "+strings.Join(f.Scopes, ", ")+".")
	}
	if f.CacheFor > 0 {
		parts = append(parts, "Answers are kept for "+strconv.FormatFloat(f.CacheFor, 'f', -1, 64)+" s.")
	}
	if f.Idempotent {
		parts = append(parts, "Trying again does no harm.")
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), "\n\n")
}

func (d *document) streamDescription(f form) string {
	if f.Shape == introspect.ClientStream && !raw(d.api, f.Out) {
		return "The body is one input as JSON, or many as NDJSON; without one no input is sent. The answer is one value, after the last input." + socketDescription
	}
	s := "A stream. The `Accept` header chooses how values come: `text/event-stream` (server-sent events: `id: n` and `data: <JSON>` " +
		"for each value, at the end `event: end`, or `event: error` with the problem document), or `application/x-ndjson` (a line " +
		"for each value; a last line that is a problem document when it failed midway)."
	if f.Shape == "" {
		s += " A stream with one output can be asked for `application/json`."
	}
	if raw(d.api, f.Out) {
		s += " Its values are bytes: without such a header they come as they are, as `application/octet-stream`."
	}
	switch {
	case f.method == "get":
	case raw(d.api, f.In):
		s += "\n\nThe body is a file: its bytes as they are, or in a form with one file."
	case f.Shape == introspect.ServerStream:
	case f.In != nil:
		s += "\n\nThe body is one input as JSON, or many as NDJSON; without one no input is sent."
	}
	return s + socketDescription
}

const socketDescription = "\n\nThe same address takes WebSocket connections of the subprotocol `sabir.v1`: text messages `{\"value\": …}` both ways, " +
	"`{\"end\": true}` after the last value of a side, `{\"error\": <problem>}` before it closes."

// body is the request body of a form; nil for none.
func (d *document) body(f form) any {
	if f.body == nil {
		return nil
	}
	content := object{}
	switch {
	case f.Stream && raw(d.api, f.In):
		content.add("application/octet-stream", object{{"schema", file()}})
		content.add("multipart/form-data", object{{"schema", object{{"type", "object"},
			{"properties", object{{"file", file()}}}, {"required", []string{"file"}}}}})
		return object{{"description", "The file."}, {"content", content}, {"required", true}}
	case f.Stream && f.Shape != introspect.ServerStream:
		content.add("application/json", d.media(f, f.body))
		content.add("application/x-ndjson", object{{"schema", object{{"type", "string"},
			{"description", "Inputs, each as JSON in a line of its own."}}}})
		return object{{"content", content}, {"required", false}}
	}
	content.add("application/json", d.media(f, f.body))
	if len(f.fields) > 0 {
		content.add("application/x-www-form-urlencoded", d.formMedia(f, d.schema))
		content.add("multipart/form-data", d.formMedia(f, d.part))
	}
	return object{{"content", content}, {"required", needed(d.api, f.body)}}
}

// formMedia is a form as a body; describe says how a value of a field is written in it. That lists repeat, as in the query, is the default too, but
// Swagger UI has to be told.
func (d *document) formMedia(f form, describe func(*schema.Schema) any) object {
	properties, required, encoding := object{}, []string{}, object{}
	for _, p := range f.fields {
		properties.add(p.Name, describe(d.parameterSchema(f.Action, p)))
		if p.List {
			encoding.add(p.Name, object{{"style", "form"}, {"explode", true}})
		}
		if p.Required {
			required = append(required, p.Name)
		}
	}
	described := object{{"type", "object"}, {"properties", properties}}
	if len(required) > 0 {
		described.add("required", required)
	}
	media := object{{"schema", described}}
	if len(encoding) > 0 {
		media.add("encoding", encoding)
	}
	return media
}

// part is the schema of what multipart/form-data has under one name. Bytes are files there, which clients send as they are.
func (d *document) part(s *schema.Schema) any {
	switch {
	case raw(d.api, s):
		return file()
	case raw(d.api, s.Items):
		return object{{"type", "array"}, {"items", file()}}
	}
	return d.schema(s)
}

// media is JSON of a schema with the examples of the action's input.
func (d *document) media(f form, s *schema.Schema) object {
	m := object{{"schema", d.schema(s)}}
	var list object
	for i, e := range f.Examples {
		if len(e.In) > 0 {
			list.add(exampleName(i, e), object{{"value", json.RawMessage(members(e.In, f.named))}})
		}
	}
	if len(list) > 0 {
		m.add("examples", list)
	}
	return m
}

func exampleName(i int, e api.Example) string {
	if e.Name != "" {
		return e.Name
	}
	return "example " + strconv.Itoa(i+1)
}

// members is an object without some of its members, in the order of the rest.
func members(doc []byte, gone []string) []byte {
	if len(gone) == 0 {
		return doc
	}
	list, ok := readMembers(doc)
	if !ok {
		return doc
	}
	list = slices.DeleteFunc(list, func(m member) bool { return slices.Contains(gone, m.key) })
	out, err := list.MarshalJSON()
	if err != nil {
		return doc
	}
	return out
}

// readMembers reads an object one level deep.
func readMembers(doc []byte) (object, bool) {
	d := json.NewDecoder(strings.NewReader(string(doc)))
	if t, err := d.Token(); err != nil || t != json.Delim('{') {
		return nil, false
	}
	list := object{}
	for d.More() {
		key, err := d.Token()
		if err != nil {
			return nil, false
		}
		var value json.RawMessage
		if d.Decode(&value) != nil {
			return nil, false
		}
		list.add(key.(string), value)
	}
	return list, true
}

// security returns the security requirement of an operation: one of the schemes, with one of the roles.
func (d *document) security(auth, scopes []string) []any {
	list := []any{}
	for _, name := range auth {
		scheme, ok := d.schemes[name]
		if !ok {
			continue
		}
		if len(scopes) == 0 {
			list = append(list, object{{scheme, []string{}}})
		}
		for _, scope := range scopes {
			list = append(list, object{{scheme, []string{scope}}})
		}
	}
	return list
}

func securityScheme(s api.Scheme) object {
	o := object{{"type", s.Type}}
	o.addText("description", s.Description)
	if s.Type == "apiKey" {
		o.add("name", s.Name)
		o.add("in", s.In)
		return o
	}
	o.addText("scheme", s.Scheme)
	o.addText("bearerFormat", s.Format)
	return o
}

// kindSchema is the schema of a parameter whose field is not known.
func kindSchema(k route.Kind) *schema.Schema {
	switch k {
	case route.Integer, route.Number, route.Boolean:
		return &schema.Schema{Type: schema.Types{string(k)}}
	}
	return &schema.Schema{Type: schema.Types{"string"}}
}
