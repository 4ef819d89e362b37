package mcp

import (
	"encoding/json"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/schema"
)

// toolSchema is a schema of a tool: its root, which is that of an object, and the named types that it refers to.
//
// A member's schema is never true or false: clients of today's SDK for TypeScript refuse the whole list of tools over one. Package schema
// writes the schema that allows everything as {}.
type toolSchema struct {
	schema.Schema
	Defs map[string]*schema.Schema
}

// MarshalJSON writes the root with its members, also where it has none, and its types in the member $defs: OpenAI refuses the schema of an
// object without members, and so does smolagents the whole list of tools.
func (s *toolSchema) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(s.Schema)
	if err != nil {
		return nil, err
	}
	if len(s.Properties) == 0 {
		text = append(text[:len(text)-1], `,"properties":{}}`...) // never {}: it has a type
	}
	if len(s.Defs) == 0 {
		return text, nil
	}
	defs, err := json.Marshal(s.Defs)
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-1], `,"$defs":`...)
	return append(append(text, defs...), '}'), nil
}

// inputSchema makes the schema of a tool's input, with its rules; it is an object, as by [copier.root].
func inputSchema(s *schema.Schema, types map[string]*schema.Schema) (made *toolSchema, wrapped bool) {
	return newCopier(types).root(s, inputMember)
}

// outputSchema makes the schema of a tool's answer, without the values of "oneof" too: nothing checks what handlers answer, and clients
// that do (the SDK for Python does) would take an answer with another value for a failure of the tool.
func outputSchema(s *schema.Schema, types map[string]*schema.Schema) (made *toolSchema, wrapped bool) {
	return newCopier(types).ofOutputs().root(s, resultMember)
}

// root makes a schema of a tool's input or output. What is no object is wrapped in one, as its member of the given name, since both
// have to be objects. nil is the schema of nothing.
func (t *copier) root(s *schema.Schema, member string) (made *toolSchema, wrapped bool) {
	if s == nil {
		return &toolSchema{Schema: schema.Schema{Type: schema.Types{"object"}}}, false
	}
	root := resolve(s, t.types) // a client looks for the type at the root
	if root == nil || !slices.Equal(root.Type, schema.Types{"object"}) {
		made = &toolSchema{Schema: *object(schema.Property{Name: member, Schema: t.copy(s, "/properties/"+member)})}
		made.Defs = t.defs
		return made, true
	}
	made = &toolSchema{Schema: *t.copy(s, "")}
	made.Defs = t.defs
	return made, false
}

// streamSchema is the schema of what a stream's tool answers.
func streamSchema(value *schema.Schema, types map[string]*schema.Schema) *toolSchema {
	if value == nil {
		value = &schema.Schema{Type: schema.Types{"object"}}
	}
	t := newCopier(types).ofOutputs()
	root := object(schema.Property{Name: "values", Schema: &schema.Schema{Type: schema.Types{"array"}, Items: t.copy(value, "/properties/values/items")}},
		schema.Property{Name: "truncated", Schema: &schema.Schema{Type: schema.Types{"boolean"}, Description: "the stream had more values, which were not waited for"}})
	root.Required = []string{"values"}
	return &toolSchema{Schema: *root, Defs: t.defs}
}

// object is the schema of an object with these members, which are all required.
func object(members ...schema.Property) *schema.Schema {
	s := &schema.Schema{Type: schema.Types{"object"}, Properties: members}
	for _, m := range members {
		s.Required = append(s.Required, m.Name)
	}
	return s
}

const defsPrefix = "#/$defs/"

// typeName is the name of the type that a reference is to.
func typeName(ref string) string {
	return strings.TrimPrefix(ref, defsPrefix)
}

// maxInlined bounds how often a schema has a named type in the place of a reference to it. Types that have several members of the same
// type double with each level otherwise.
const maxInlined = 64

// copier copies schemas without what only Sabir's own clients read. A type stands in the place of a reference to it: the client of the
// TypeScript SDK 1.22 drops $defs and then refuses the whole list of tools, and several vendors of models resolve no references. Where a type has
// itself inside, an output refers to the place where it stands already, and an input to $defs, which are the only references that vendors of
// models know.
type copier struct {
	types    map[string]*schema.Schema
	defs     map[string]*schema.Schema
	around   map[string]string // the types around the place that is copied, with their JSON pointers
	inlined  int
	isOutput bool // values are not checked: the copies have no values of "oneof", the one rule that outputs have
}

func newCopier(types map[string]*schema.Schema) *copier {
	return &copier{types: types, defs: make(map[string]*schema.Schema), around: make(map[string]string)}
}

func (t *copier) ofOutputs() *copier {
	t.isOutput = true
	return t
}

// knownFormats are the formats of JSON Schema. Validators warn of others or refuse the schema, as the client of the TypeScript SDK 1.12
// does, also those of OpenAPI for numbers.
var knownFormats = map[string]bool{"date-time": true, "date": true, "time": true, "duration": true, "email": true, "hostname": true, "ipv4": true, "ipv6": true,
	"uri": true, "uri-reference": true, "uuid": true, "regex": true, "json-pointer": true}

// copy copies the schema that is to stand at a JSON pointer.
func (t *copier) copy(s *schema.Schema, at string) *schema.Schema {
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		return t.referred(s, at)
	}
	s = oneTypeEach(s)
	c := plain(s)
	if t.isOutput {
		c.Enum = nil
	}
	c.AnyOf, c.AllOf = t.copyAll(s.AnyOf, at+"/anyOf/"), t.copyAll(s.AllOf, at+"/allOf/")
	c.Not, c.Items = t.copy(s.Not, at+"/not"), t.copy(s.Items, at+"/items")
	c.AdditionalProperties = t.copy(s.AdditionalProperties, at+"/additionalProperties")
	c.PropertyNames = t.copy(s.PropertyNames, at+"/propertyNames")
	c.Properties = nil
	for _, p := range s.Properties {
		c.Properties = append(c.Properties, schema.Property{Name: p.Name, Schema: t.copy(p.Schema, at+"/properties/"+pointerPart(p.Name))})
	}
	return c
}

// oneTypeEach is the schema with an anyOf, each of whose members has one type, in the place of a list of types ("string" or "null") and of rules that
// stand beside a type as alternatives. Libraries for Python write it so: Semantic Kernel refuses the whole list of tools over a list of types, and
// AutoGen also over a member of anyOf without a type.
func oneTypeEach(s *schema.Schema) *schema.Schema {
	c := *s
	switch rest, nullable := s.Nullable(); {
	case len(s.Type) > 1 && nullable:
		inner := *rest
		inner.Title, inner.Description, inner.Default, inner.Examples, inner.Deprecated = "", "", nil, nil, false
		c = schema.Schema{Title: s.Title, Description: s.Description, Default: s.Default, Examples: s.Examples, Deprecated: s.Deprecated,
			AnyOf: []schema.Schema{inner, {Type: schema.Types{"null"}}}}
	case len(s.Type) == 1 && s.AnyOf != nil:
		c.Type, c.Items, c.AdditionalProperties, c.AnyOf = nil, nil, nil, slices.Clone(s.AnyOf)
		for i := range c.AnyOf {
			rule := &c.AnyOf[i]
			rule.Type, rule.Items, rule.AdditionalProperties = s.Type, s.Items, s.AdditionalProperties
		}
	case s.AnyOf != nil:
		c.AnyOf = nil
		for i := range s.AnyOf {
			one := oneTypeEach(&s.AnyOf[i])
			if reflect.DeepEqual(*plain(one), schema.Schema{AnyOf: one.AnyOf}) {
				c.AnyOf = append(c.AnyOf, one.AnyOf...)
				continue
			}
			c.AnyOf = append(c.AnyOf, *one)
		}
	}
	return &c
}

func (t *copier) copyAll(list []schema.Schema, at string) (copied []schema.Schema) {
	for i := range list {
		copied = append(copied, *t.copy(&list[i], at+strconv.Itoa(i)))
	}
	return copied
}

// plain is a schema without what only Sabir's own clients read.
func plain(s *schema.Schema) *schema.Schema {
	c := *s
	c.Rules, c.Tag, c.GoType, c.WriteOnly, c.FieldNumber, c.ProtoType, c.ProtoFields = nil, "", "", false, 0, "", nil
	if !knownFormats[c.Format] {
		c.Format = ""
	}
	return &c
}

// referred copies a reference and what it is to.
func (t *copier) referred(s *schema.Schema, at string) *schema.Schema {
	name, c := typeName(s.Ref), plain(s)
	of := t.types[name]
	place, inside := t.around[name]
	switch {
	case of == nil:
		return c
	case inside && t.isOutput:
		c.Ref = "#" + place
		return c
	case inside || t.inlined == maxInlined:
		t.define(name)
		return c
	}
	t.inlined++
	t.around[name] = at
	made := t.copy(of, at)
	delete(t.around, name)
	if s.Description != "" {
		made.Description = s.Description
	}
	if s.Examples != nil {
		made.Examples = s.Examples
	}
	if s.Default != nil {
		made.Default = s.Default
	}
	made.Deprecated = made.Deprecated || s.Deprecated
	return made
}

// define adds a type to the definitions.
func (t *copier) define(name string) {
	if _, known := t.defs[name]; known {
		return
	}
	t.defs[name] = nil // types refer to themselves
	around := t.around
	at := defsPrefix[len("#"):] + pointerPart(name)
	t.around = map[string]string{name: at}
	t.defs[name] = t.copy(t.types[name], at)
	t.around = around
}

// pointerPart is a name as a part of a JSON pointer in a reference (RFC 6901, section 6).
func pointerPart(name string) string {
	return url.PathEscape(strings.NewReplacer("~", "~0", "/", "~1").Replace(name))
}

// withExamples adds the declared inputs, by which models see how the tool is used.
func (s *toolSchema) withExamples(a *api.Action, wrapped bool) {
	for _, e := range a.Examples {
		if len(e.In) == 0 {
			continue
		}
		in := e.In
		if wrapped {
			in = json.RawMessage(`{"` + inputMember + `":` + string(in) + `}`)
		}
		s.Examples = append(s.Examples, in)
	}
}
