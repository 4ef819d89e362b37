package mcp

import (
	"encoding/json"
	"slices"
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

// MarshalJSON writes the root with its types in the member $defs.
func (s *toolSchema) MarshalJSON() ([]byte, error) {
	text, err := json.Marshal(s.Schema)
	if err != nil || len(s.Defs) == 0 {
		return text, err
	}
	defs, err := json.Marshal(s.Defs)
	if err != nil {
		return nil, err
	}
	text = append(text[:len(text)-1], `,"$defs":`...) // never {}: it has a type
	return append(append(text, defs...), '}'), nil
}

// inputSchema makes the schema of a tool's input, with its rules; it is an object, as by [copier.root].
func inputSchema(s *schema.Schema, types map[string]*schema.Schema) (made *toolSchema, wrapped bool) {
	return copier{types: types, defs: make(map[string]*schema.Schema)}.root(s, inputMember)
}

// outputSchema makes the schema of a tool's answer, without the values of "oneof" too: nothing checks what handlers answer, and clients
// that do (the SDK for Python does) would take an answer with another value for a failure of the tool.
func outputSchema(s *schema.Schema, types map[string]*schema.Schema) (made *toolSchema, wrapped bool) {
	return copier{types: types, defs: make(map[string]*schema.Schema), unchecked: true}.root(s, resultMember)
}

// root makes a schema of a tool's input or output. What is no object is wrapped in one, as its member of the given name, since both
// have to be objects. nil is the schema of nothing.
func (t copier) root(s *schema.Schema, member string) (made *toolSchema, wrapped bool) {
	if s == nil {
		return &toolSchema{Schema: schema.Schema{Type: schema.Types{"object"}}}, false
	}
	root := resolve(s, t.types) // a client looks for the type at the root
	if root == nil || !slices.Equal(root.Type, schema.Types{"object"}) {
		made = &toolSchema{Schema: *object(schema.Property{Name: member, Schema: t.copy(s)})}
		made.Defs = t.defs
		return made, true
	}
	made = &toolSchema{Schema: *t.copy(root)}
	if s.Description != "" {
		made.Description = s.Description
	}
	made.Defs = t.defs
	return made, false
}

// streamSchema is the schema of what a stream's tool answers.
func streamSchema(value *schema.Schema, types map[string]*schema.Schema) *toolSchema {
	if value == nil {
		value = &schema.Schema{Type: schema.Types{"object"}}
	}
	t := copier{types: types, defs: make(map[string]*schema.Schema), unchecked: true}
	root := object(schema.Property{Name: "values", Schema: &schema.Schema{Type: schema.Types{"array"}, Items: t.copy(value)}},
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

// copier copies schemas and the types that they refer to, without what only Sabir's own clients read.
type copier struct {
	types     map[string]*schema.Schema
	defs      map[string]*schema.Schema
	unchecked bool // values are not checked: the copies have no values of "oneof", the one rule that outputs have
}

// knownFormats are the formats of JSON Schema. Validators warn of others or refuse the schema, as the client of the TypeScript SDK 1.12
// does, also those of OpenAPI for numbers.
var knownFormats = map[string]bool{"date-time": true, "date": true, "time": true, "duration": true, "email": true, "hostname": true, "ipv4": true, "ipv6": true,
	"uri": true, "uri-reference": true, "uuid": true, "regex": true, "json-pointer": true}

func (t copier) copy(s *schema.Schema) *schema.Schema {
	if s == nil {
		return nil
	}
	c := *s
	c.Rules, c.Tag, c.GoType, c.WriteOnly, c.FieldNumber, c.ProtoType = nil, "", "", false, 0, ""
	if !knownFormats[c.Format] {
		c.Format = ""
	}
	if t.unchecked {
		c.Enum = nil
	}
	if c.Ref != "" {
		t.refer(typeName(c.Ref))
	}
	c.AnyOf, c.AllOf = t.copyAll(s.AnyOf), t.copyAll(s.AllOf)
	c.Not, c.Items = t.copy(s.Not), t.copy(s.Items)
	c.AdditionalProperties, c.PropertyNames = t.copy(s.AdditionalProperties), t.copy(s.PropertyNames)
	c.Properties = nil
	for _, p := range s.Properties {
		c.Properties = append(c.Properties, schema.Property{Name: p.Name, Schema: t.copy(p.Schema)})
	}
	return &c
}

func (t copier) copyAll(list []schema.Schema) (copied []schema.Schema) {
	for i := range list {
		copied = append(copied, *t.copy(&list[i]))
	}
	return copied
}

// refer adds a type to the definitions.
func (t copier) refer(name string) {
	if _, known := t.defs[name]; known || t.types[name] == nil {
		return
	}
	t.defs[name] = nil // types refer to themselves
	t.defs[name] = t.copy(t.types[name])
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
