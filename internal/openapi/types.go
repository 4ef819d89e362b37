package openapi

import (
	"fmt"
	"maps"
	"net/url"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

// dialect is the JSON Schema dialect of everything that is written here.
const dialect = "https://json-schema.org/draft/2020-12/schema"

const defs = "#/$defs/"

// Type is the JSON Schema (draft 2020-12) of one named type, with the types that it uses under "$defs". It is an error if
// the API has no type of that name.
func Type(a api.API, name string) ([]byte, error) {
	s := a.Types[name]
	if s == nil {
		return nil, fmt.Errorf("openapi: there is no type %q; there are %s", name, strings.Join(slices.Sorted(maps.Keys(a.Types)), ", "))
	}
	used := map[string]bool{}
	collect(a, s, used)
	doc := object{{"$schema", dialect}, {"$ref", defs + url.PathEscape(pointer(name))}}
	used[name] = true
	var all object
	for _, key := range slices.Sorted(maps.Keys(used)) {
		all.add(key, copied(a.Types[key], func(name string) string { return defs + url.PathEscape(pointer(name)) }))
	}
	doc.add("$defs", all)
	return text(doc)
}

// collect notes the names of the types that s uses, and those that they use.
func collect(a api.API, s *schema.Schema, used map[string]bool) {
	copied(s, func(name string) string {
		if t := a.Types[name]; t != nil && !used[name] {
			used[name] = true
			collect(a, t, used)
		}
		return ""
	})
}

// copied returns a deep copy of a schema. It replaces each reference by the result of refer for the name of the type, and leaves
// out the Go names of types, which stay internal.
func copied(s *schema.Schema, refer func(name string) string) *schema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.GoType, c.FieldNumber, c.ProtoType, c.ProtoFields = "", 0, "", nil
	if name, ok := typeName(s.Ref); ok {
		c.Ref = refer(name)
	}
	c.AnyOf, c.AllOf = copiedList(s.AnyOf, refer), copiedList(s.AllOf, refer)
	c.Not, c.Items = copied(s.Not, refer), copied(s.Items, refer)
	c.AdditionalProperties, c.PropertyNames = copied(s.AdditionalProperties, refer), copied(s.PropertyNames, refer)
	c.Properties = slices.Clone(s.Properties)
	for i := range c.Properties {
		c.Properties[i].Schema = copied(c.Properties[i].Schema, refer)
	}
	if len(c.Type) > 0 && (c.AnyOf != nil || c.AllOf != nil) {
		hideRules(&c)
	}
	return &c
}

// hideRules puts the alternatives that a value has beside its type, as those of "omitempty,email", into a double negation, which allows the same. Generators of
// clients take alternatives for types: the text was null or nothing, and the client did not compile.
func hideRules(s *schema.Schema) {
	hidden := schema.Schema{AnyOf: s.AnyOf, AllOf: s.AllOf}
	s.AnyOf, s.AllOf = nil, nil
	refused := schema.Schema{Not: &hidden}
	if s.Not != nil {
		refused = schema.Schema{AnyOf: []schema.Schema{*s.Not, refused}}
	}
	s.Not = &refused
}

func copiedList(list []schema.Schema, refer func(name string) string) []schema.Schema {
	if list == nil {
		return nil
	}
	out := make([]schema.Schema, len(list))
	for i := range list {
		out[i] = *copied(&list[i], refer)
	}
	return out
}

// typeName is the name of the type that a reference is to.
func typeName(reference string) (string, bool) {
	name, ok := strings.CutPrefix(reference, defs)
	if !ok {
		return "", false
	}
	if plain, err := url.PathUnescape(name); err == nil {
		name = plain
	}
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(name), true
}

// pointer escapes a name for a JSON Pointer (RFC 6901).
func pointer(name string) string { return strings.NewReplacer("~", "~0", "/", "~1").Replace(name) }

// resolved follows references to the schema itself; nil for one to a type that is not there.
func resolved(a api.API, s *schema.Schema) *schema.Schema {
	for range 8 { // a type that is only another's name is unusual, a chain of them is not sane
		if s == nil {
			return nil
		}
		name, ok := typeName(s.Ref)
		if !ok {
			return s
		}
		s = a.Types[name]
	}
	return nil
}

// raw reports whether values of the schema are bytes, which streams carry as they are.
func raw(a api.API, s *schema.Schema) bool {
	s = resolved(a, s)
	return s != nil && s.ContentEncoding == "base64"
}

// field is the schema of a member of an input by its JSON name; nil where there is none.
func field(a api.API, in *schema.Schema, name string) *schema.Schema {
	in = resolved(a, in)
	if in == nil {
		return nil
	}
	for _, p := range in.Properties {
		if p.Name == name {
			return p.Schema
		}
	}
	return nil
}

// without is an input's schema without the members of these names: what is left for the body. It is nil where nothing is.
func without(a api.API, in *schema.Schema, gone []string) *schema.Schema {
	s := resolved(a, in)
	if s == nil || len(gone) == 0 || len(s.Properties) == 0 {
		return in
	}
	c := *s
	c.Properties = slices.DeleteFunc(slices.Clone(s.Properties), func(p schema.Property) bool { return slices.Contains(gone, p.Name) })
	c.Required = slices.DeleteFunc(slices.Clone(s.Required), func(name string) bool { return slices.Contains(gone, name) })
	if len(c.Properties) == 0 {
		return nil
	}
	if len(c.Required) == 0 {
		c.Required = nil
	}
	c.Title = ""
	return &c
}

// needed reports whether a body of this schema cannot be left out, for no body stands for {}.
func needed(a api.API, in *schema.Schema) bool {
	s := resolved(a, in)
	return s == nil || len(s.Required) > 0 || !slices.Contains(s.Type, "object")
}
