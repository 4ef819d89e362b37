package openapi

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

// parameter is a field of the input that comes from the path, the query, a header or a cookie.
func (d *document) parameter(a *api.Action, r route.Route, p route.Param, renamed map[string]string) object {
	name, rest := p.Name, false
	if p.In == route.Path {
		rest = strings.Contains(r.Pattern, "{"+p.Name+"...}")
		if to := renamed[p.Name]; to != "" {
			name = to
		}
	}
	s := d.parameterSchema(a, p)
	o := object{{"name", name}, {"in", string(p.In)}}
	if said := s.Description; said != "" || rest {
		s.Description = ""
		if rest {
			said = strings.TrimSpace(said + " It takes the rest of the path and may hold slashes.")
		}
		o.add("description", said)
	}
	if p.Required || p.In == route.Path {
		o.add("required", true)
	}
	if p.List {
		switch p.In {
		case route.Query:
			o.add("style", "form")
			o.add("explode", true)
		case route.Cookie:
			o.add("style", "form")
			o.add("explode", false)
		default:
			o.add("style", "simple")
			o.add("explode", false)
		}
	}
	o.add("schema", d.schema(s))
	var examples object
	for i, e := range a.Examples {
		list, _ := readMembers(e.In)
		if value := list.get(p.Field); value != nil && string(value.(json.RawMessage)) != "null" {
			examples.add(exampleName(i, e), object{{"value", value}})
		}
	}
	if len(examples) > 0 {
		o.add("examples", examples)
	}
	if rest {
		o.add("x-rest-of-path", true)
	}
	return o
}

// parameterSchema is a copy of the field's schema without null, which no parameter can express.
func (d *document) parameterSchema(a *api.Action, p route.Param) *schema.Schema {
	found := field(d.api, a.In, p.Field)
	if found == nil {
		found = kindSchema(p.Kind)
		if p.List {
			found = &schema.Schema{Type: schema.Types{"array"}, Items: found}
		}
	}
	return withoutNull(found)
}

// withoutNull is a copy of a schema that allows null neither for the value nor for the elements of a list.
func withoutNull(s *schema.Schema) *schema.Schema {
	c := *s
	if len(c.Type) > 1 {
		c.Type = slices.DeleteFunc(slices.Clone(c.Type), func(t string) bool { return t == "null" })
	}
	if slices.Contains(c.Enum, nil) { // where it stays, Redocly finds a value of another type
		c.Enum = slices.DeleteFunc(slices.Clone(c.Enum), func(v any) bool { return v == nil })
	}
	if c.Items != nil {
		c.Items = withoutNull(c.Items)
	}
	if len(c.Type) > 0 || len(c.AnyOf) != 2 || !slices.Equal(c.AnyOf[1].Type, schema.Types{"null"}) {
		return &c
	}
	one := c.AnyOf[0]
	one.Description, one.Default, one.Examples, one.Deprecated, one.WriteOnly, one.Tag = c.Description, c.Default, c.Examples, c.Deprecated, c.WriteOnly, c.Tag
	one.Rules = slices.Concat(one.Rules, c.Rules)
	return &one
}

// commonParameters are the headers that every call understands.
func (d *document) commonParameters(f form) []any {
	list := []any{d.shared("parameters", "RequestId"), d.shared("parameters", "RequestTimeout")}
	switch {
	case f.conditional():
		list = append(list, d.shared("parameters", "IfNoneMatch"))
	case f.Versioned():
		list = append(list, d.shared("parameters", "IfMatch"))
	}
	if f.Stream {
		list = append(list, d.shared("parameters", "LastEventId"))
	}
	return list
}

// readable reports whether the form only reads, and its answers are whole.
func (f form) readable() bool { return f.rest && f.method == "get" && !f.Stream }

// cached reports whether caches may keep the answer for some time.
func (f form) cached() bool { return f.readable() && f.CacheFor > 0 }

// conditional reports whether the answer can be kept by the caller and asked for again by its ETag.
func (f form) conditional() bool { return f.cached() || f.readable() && f.Versioned() }

// sharedParameters are the components of those that an operation refers to.
func (d *document) sharedParameters() object {
	header := func(name, says string, s object, example string) object {
		o := object{{"name", name}, {"in", "header"}, {"description", says}, {"schema", s}}
		o.add("example", example)
		return o
	}
	all := object{
		{"RequestId", header("X-Request-Id", "The id of the request, in the answer and in logs: 1 to 128 visible characters of ASCII. Without one, or with another text, the server makes one.",
			object{{"type", "string"}}, "6f9f2a")}, // a pattern would say that other texts are refused
		{"RequestTimeout", header("X-Request-Timeout", "How long the call may take, as seconds or with a unit. The server has a limit of its own.",
			object{{"type", "string"}, {"pattern", `^([1-9][0-9]{0,5}(\.[0-9]{1,9})?|0\.[0-9]{0,2}[1-9][0-9]{0,6})(us|µs|ms|s|m|h)?$`}}, "2.5s")}, // all are a time.Duration above zero
		{"IfNoneMatch", header("If-None-Match", "The ETag of an answer that the caller has kept: 304 if it is still so.",
			object{{"type", "string"}}, `"5e884898"`)},
		{"IfMatch", header("If-Match", "The ETag of what the caller has read: 412 if it has changed since.",
			object{{"type", "string"}}, `"5e884898"`)},
		{"LastEventId", header("Last-Event-ID", "The id of the last event that came before the connection broke. The action decides what it does with it.",
			object{{"type", "string"}}, "41")},
	}
	return d.usedOf("parameters", all)
}

// sharedHeaders returns the headers of answers that operations refer to.
func (d *document) sharedHeaders() object {
	header := func(says string, s object) object { return object{{"description", says}, {"schema", s}} }
	str := object{{"type", "string"}}
	all := object{
		{"RequestId", header("The id of the request: the caller's or a fresh one. It finds the request in logs.", str)},
		{"RetryAfter", header("Seconds after which trying again may help.", object{{"type", "integer"}, {"minimum", 0}})},
		{"ETag", header("Of this answer, for `If-None-Match`.", str)},
		{"Link", header("The next page, with `rel=\"next\"` (RFC 8288); none on the last page.", str)},
		{"CacheControl", header("How long the answer may be kept.", str)},
	}
	return d.usedOf("headers", all)
}
