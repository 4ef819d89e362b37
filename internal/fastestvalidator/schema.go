// Package fastestvalidator reads the schemas of the JavaScript library fastest-validator, by which Moleculer's services describe the params of
// their actions, as JSON Schemas. What these cannot say is any value.
package fastestvalidator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"maps"
	"reflect"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// maxDepth bounds the nesting of schemas.
const maxDepth = 32

// Schema reads the params of an action. No params at all are any value.
func Schema(params json.RawMessage) (*schema.Schema, error) {
	var value any
	if len(params) > 0 {
		if err := json.Unmarshal(params, &value); err != nil {
			return nil, fmt.Errorf("the params are no JSON: %w", err)
		}
	}
	members, ok := value.(map[string]any)
	if !ok {
		return &schema.Schema{}, nil
	}
	if root, _ := members["$$root"].(bool); root {
		one := read(members, maxDepth)
		return &one.Schema, nil
	}
	return object(members, maxDepth), nil
}

// rule is a schema and what surrounds it: whether the member may be left out, and its rules as package validate has them.
type rule struct {
	schema.Schema
	optional  bool
	forbidden bool
	tags      []string
}

// object reads the members of an object.
func object(members map[string]any, depth int) *schema.Schema {
	s := &schema.Schema{Type: schema.Types{"object"}}
	for _, name := range slices.Sorted(maps.Keys(members)) {
		if strings.HasPrefix(name, "$$") {
			continue
		}
		one := read(members[name], depth-1)
		if one.forbidden {
			continue
		}
		s.Properties = append(s.Properties, schema.Property{Name: name, Schema: one.member()})
		if !one.optional {
			s.Required = append(s.Required, name)
		}
	}
	return s
}

// member is the schema of a member with its rules. A member that may be left out is null then, which fastest-validator takes for it.
func (r rule) member() *schema.Schema {
	if r.optional && !slices.Equal(r.Type, schema.Types{"array"}) {
		r.nullable()
	}
	s := r.Schema
	if len(r.tags) > 0 {
		tags := r.tags
		if r.optional {
			tags = append([]string{"omitempty"}, tags...)
		}
		s.Tag = strings.Join(tags, ",")
	}
	return &s
}

// read reads a rule in any of its forms: "string|min:3", {"type": "string", "min": 3}, or several of them in a list.
func read(value any, depth int) (r rule) {
	if depth <= 0 {
		return r
	}
	switch v := value.(type) {
	case string:
		return typed(shorthand(v), depth)
	case []any:
		for _, one := range v {
			r.optional = r.optional || read(one, depth-1).optional
		}
		if len(v) == 1 {
			return read(v[0], depth-1)
		}
		r.either(v, depth)
	case map[string]any:
		if text, ok := v["$$type"].(string); ok {
			settings := shorthand(text)
			properties := make(map[string]any, len(v))
			for name, one := range v {
				if !strings.HasPrefix(name, "$$") {
					properties[name] = one
				}
			}
			settings["props"] = properties
			return typed(settings, depth)
		}
		return typed(v, depth)
	}
	return r
}

// shorthand reads "string|min:3|optional".
func shorthand(text string) map[string]any {
	parts := strings.Split(text, "|")
	settings := map[string]any{"type": strings.TrimSpace(parts[0])}
	if of, list := strings.CutSuffix(parts[0], "[]"); list {
		settings["type"], settings["items"] = "array", of
	}
	for _, part := range parts[1:] {
		name, value, has := strings.Cut(strings.TrimSpace(part), ":")
		settings[name] = true
		if number, err := strconv.ParseFloat(value, 64); err == nil {
			settings[name] = number
		} else if has && value != "true" {
			settings[name] = value
			if value == "false" {
				settings[name] = false
			}
		}
	}
	return settings
}

// typed reads a rule that names its type.
func typed(v map[string]any, depth int) (r rule) {
	r.optional = v["optional"] == true || v["default"] != nil
	r.Description, _ = v["description"].(string)
	name, _ := v["type"].(string)
	switch name {
	case "forbidden":
		r.forbidden = true
	case "boolean":
		r.Type = schema.Types{"boolean"}
	case "number":
		r.number(v)
	case "string", "email", "url", "uuid", "mac", "objectID", "currency", "luhn":
		r.text(name, v)
	case "date":
		r.Type, r.Format = schema.Types{"string"}, "date-time"
	case "enum":
		r.enum(v["values"])
	case "array":
		r.array(v, depth)
	case "object":
		r.object(v, depth)
	case "record":
		value := read(v["value"], depth-1)
		r.Type, r.AdditionalProperties = schema.Types{"object"}, &value.Schema
	case "tuple":
		r.Type = schema.Types{"array"}
		if items, ok := v["items"].([]any); ok {
			r.MinItems, r.MaxItems = new(len(items)), new(len(items))
		}
	case "multi":
		rules, _ := v["rules"].([]any)
		r.either(rules, depth)
	}
	switch value := v["default"].(type) {
	case string:
		if slices.Equal(r.Type, schema.Types{"string"}) && r.Format != "date-time" {
			r.Default = value
		}
	case float64:
		if len(r.Type) == 1 && (r.Type[0] == "number" || r.Type[0] == "integer" && value == float64(int64(value))) {
			r.Default = schema.Number(strconv.FormatFloat(value, 'f', -1, 64))
		}
	case bool:
		if slices.Equal(r.Type, schema.Types{"boolean"}) {
			r.Default = value
		}
	}
	if v["nullable"] == true {
		r.nullable()
	}
	return r
}

// nullable lets null pass too, where the rule has a type.
func (r *rule) nullable() {
	if len(r.Type) != 1 {
		return
	}
	r.Type = append(slices.Clone(r.Type), "null")
	if r.Enum != nil {
		r.Enum = append(slices.Clone(r.Enum), nil)
	}
}

// either is for a value that has to meet one of several rules.
func (r *rule) either(rules []any, depth int) {
	for _, one := range rules {
		s := read(one, depth-1).Schema
		if reflect.ValueOf(s).IsZero() { // anything, and so is the value
			r.AnyOf = nil
			return
		}
		r.AnyOf = append(r.AnyOf, s)
	}
}

// bound is a rule with a number, where the settings have it: it adds the tag.
func (r *rule) bound(v map[string]any, setting, tag string) *schema.Number {
	n, ok := v[setting].(float64)
	if !ok {
		return nil
	}
	text := strconv.FormatFloat(n, 'f', -1, 64)
	r.tags = append(r.tags, tag+"="+text)
	return new(schema.Number(text))
}

// size is bound for how long or how many something is.
func (r *rule) size(v map[string]any, setting, tag string) *int {
	n := r.bound(v, setting, tag)
	if n == nil {
		return nil
	}
	if size, err := strconv.Atoi(string(*n)); err == nil && size >= 0 {
		return &size
	}
	return nil
}

// sizes reads the settings of a text or a list.
func (r *rule) sizes(v map[string]any) (least, most *int) {
	if v["empty"] == false && v["min"] == nil {
		r.tags, least = append(r.tags, "min=1"), new(1)
	}
	least, most = cmp.Or(r.size(v, "min", "min"), least), r.size(v, "max", "max")
	if length := r.size(v, "length", "len"); length != nil {
		return length, length
	}
	return least, most
}

func (r *rule) number(v map[string]any) {
	r.Type = schema.Types{"number"}
	if v["integer"] == true {
		r.Type, r.Format = schema.Types{"integer"}, "int64"
	}
	r.Minimum, r.Maximum = r.bound(v, "min", "min"), r.bound(v, "max", "max")
	if n := r.bound(v, "equal", "eq"); n != nil {
		r.Const = *n
	}
	if n := r.bound(v, "notEqual", "ne"); n != nil {
		r.Not = &schema.Schema{Const: *n}
	}
	if v["positive"] == true {
		r.tags, r.ExclusiveMinimum = append(r.tags, "gt=0"), new(schema.Number("0"))
	}
	if v["negative"] == true {
		r.tags, r.ExclusiveMaximum = append(r.tags, "lt=0"), new(schema.Number("0"))
	}
}

// formats are those of JSON Schema, by types of fastest-validator.
var formats = map[string]string{"email": "email", "url": "uri", "uuid": "uuid"}

// patterns are those of its settings of texts.
var patterns = map[string]string{"alpha": "^[a-zA-Z]+$", "alphanum": "^[a-zA-Z0-9]+$", "numeric": `^-?[0-9]\d*(\.\d+)?$`}

func (r *rule) text(name string, v map[string]any) {
	r.Type, r.Format = schema.Types{"string"}, formats[name]
	if values, ok := v["enum"].([]any); ok {
		r.enum(values)
	}
	r.MinLength, r.MaxLength = r.sizes(v)
	switch name {
	case "email", "url", "uuid", "mac":
		r.tags = append(r.tags, name)
	}
	if pattern, _ := v["pattern"].(string); v["patternFlags"] == nil { // a RegExp is lost on its way
		if _, err := regexp.Compile(pattern); err == nil {
			r.Pattern = pattern
		}
	}
	for _, rule := range []string{"alpha", "alphanum", "numeric"} {
		if v[rule] == true {
			r.tags, r.Pattern = append(r.tags, rule), cmp.Or(r.Pattern, patterns[rule])
		}
	}
}

// enum is one of some values. In Go they are of one type; others are any value there.
func (r *rule) enum(values any) {
	list, _ := values.([]any)
	var texts []string
	for _, one := range list {
		switch v := one.(type) {
		case string:
			texts = append(texts, v)
			r.Enum = append(r.Enum, v)
		case float64:
			r.Enum = append(r.Enum, schema.Number(strconv.FormatFloat(v, 'f', -1, 64)))
		case bool, nil:
			r.Enum = append(r.Enum, v)
		default:
			r.Enum = nil
			return
		}
	}
	if len(texts) == 0 || len(texts) < len(list) {
		return
	}
	r.Type = schema.Types{"string"}
	if !slices.ContainsFunc(texts, func(text string) bool { return text == "" || strings.ContainsAny(text, " ,'|\"`\\") }) {
		r.tags = append(r.tags, "oneof="+strings.Join(texts, " "))
	}
}

func (r *rule) array(v map[string]any, depth int) {
	r.Type = schema.Types{"array"}
	r.MinItems, r.MaxItems = r.sizes(v)
	if v["unique"] == true {
		r.tags, r.UniqueItems = append(r.tags, "unique"), true
	}
	if v["items"] == nil {
		return
	}
	items := read(v["items"], depth-1)
	r.Items = &items.Schema
	if len(items.tags) > 0 {
		r.tags = append(append(r.tags, "dive"), items.tags...)
	}
}

func (r *rule) object(v map[string]any, depth int) {
	for _, name := range []string{"props", "properties"} {
		if members, ok := v[name].(map[string]any); ok {
			s := object(members, depth)
			s.Description = r.Description
			r.Schema = *s
			if len(s.Properties) > 0 {
				return
			}
		}
	}
	// Without members it is any object.
	r.Type, r.Properties, r.AdditionalProperties = schema.Types{"object"}, nil, &schema.Schema{}
}
