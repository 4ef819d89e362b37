package typescript

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// writeTypes writes an interface, or an alias, for every named type that is used.
func (m *module) writeTypes() {
	for _, def := range slices.Sorted(maps.Keys(m.types)) {
		t := m.types[def]
		if t.used[output] || !t.used[input] && !t.used[output] {
			m.writeType(t.name[output], t.schema, output)
		}
		if t.used[input] && (!t.used[output] || t.name[input] != t.name[output]) {
			m.writeType(t.name[input], t.schema, input)
		}
	}
}

// writeType writes one type under a name.
func (m *module) writeType(name string, s *schema.Schema, by side) {
	m.printf("\n")
	m.comment("", s.Description, deprecated(s.Deprecated))
	if isPlainObject(s) {
		m.printf("export interface %s %s\n", name, m.object(s, by, ""))
		return
	}
	m.printf("export type %s = %s;\n", name, m.typeOf(s, by, ""))
}

func deprecated(yes bool) string {
	if yes {
		return "@deprecated"
	}
	return ""
}

// isPlainObject reports whether a schema is an object with known members and nothing else.
func isPlainObject(s *schema.Schema) bool {
	return s.Ref == "" && len(s.AnyOf) == 0 && s.Const == nil && s.Enum == nil && s.AdditionalProperties == nil &&
		len(s.Type) == 1 && s.Type[0] == "object"
}

// object is the body of an interface.
func (m *module) object(s *schema.Schema, by side, indent string) string {
	if len(s.Properties) == 0 {
		return "{}"
	}
	inner := indent + "  "
	part := module{types: m.types, asJSON: m.asJSON}
	part.printf("{\n")
	for _, p := range s.Properties {
		part.comment(inner, p.Schema.Description, note(p.Schema), deprecated(p.Schema.Deprecated))
		t := m.typeOf(p.Schema, by, inner)
		mark := ":"
		if !slices.Contains(s.Required, p.Name) {
			mark = "?:"
		}
		part.printf("%s%s%s %s;\n", inner, key(p.Name), mark, t)
	}
	part.printf("%s}", indent)
	return part.out.String()
}

// note is a remark on what a type cannot express.
func note(s *schema.Schema) string {
	var parts []string
	if s.Format == "duration-ns" {
		parts = append(parts, "Nanoseconds.")
	}
	if s.Default != nil {
		if text, err := json.Marshal(s.Default); err == nil {
			parts = append(parts, "By default "+string(text)+".")
		}
	}
	return strings.Join(parts, " ")
}

// typeOf is the type that values of a schema have.
func (m *module) typeOf(s *schema.Schema, by side, indent string) string {
	if s == nil {
		return "unknown"
	}
	if s.Ref != "" {
		t, err := m.lookup(s.Ref)
		if err != nil {
			return "unknown"
		}
		return t.name[by]
	}
	if len(s.AnyOf) > 0 && len(s.Properties) == 0 {
		if t := m.union(s, by, indent); t != "" {
			return t
		}
	}
	if len(s.AllOf) > 0 && len(s.Type) == 0 {
		var list []string
		for i := range s.AllOf {
			if t := m.typeOf(&s.AllOf[i], by, indent); t != "unknown" {
				list = append(list, parenthesised(t))
			}
		}
		if len(list) == 0 {
			return "unknown"
		}
		return strings.Join(list, " & ")
	}
	if s.Const != nil {
		return literal(s.Const, m.isBig(s))
	}
	if len(s.Enum) > 0 {
		var list []string
		for _, value := range s.Enum {
			list = appendNew(list, literal(value, m.isBig(s)))
		}
		return strings.Join(list, " | ")
	}
	if len(s.Type) == 0 {
		return "unknown"
	}
	var list []string
	for _, t := range s.Type {
		list = appendNew(list, m.typeFor(t, s, by, indent))
	}
	return strings.Join(list, " | ")
}

// union is the type of alternatives; "" where they only add to a type that is given beside them.
func (m *module) union(s *schema.Schema, by side, indent string) string {
	var list []string
	for i := range s.AnyOf {
		one := s.AnyOf[i]
		if len(one.Type) == 0 && one.Ref == "" && len(s.Type) > 0 {
			return "" // rules for the type beside
		}
		list = appendNew(list, m.typeOf(&one, by, indent))
	}
	if slices.Contains(list, "unknown") {
		return "unknown"
	}
	return strings.Join(list, " | ")
}

func appendNew(list []string, one string) []string {
	if slices.Contains(list, one) {
		return list
	}
	return append(list, one)
}

// typeFor is the type for one of JSON's.
func (m *module) typeFor(t string, s *schema.Schema, by side, indent string) string {
	switch t {
	case "string":
		switch {
		case m.asJSON:
			return "string"
		case s.ContentEncoding == "base64":
			return "Uint8Array"
		case s.Format == "date-time" && by == output:
			return "Date"
		case s.Format == "date-time":
			return "Date | string"
		}
		return "string"
	case "integer":
		if m.isBig(s) {
			return "bigint"
		}
		return "number"
	case "number", "boolean", "null":
		return t
	case "array":
		if s.Items == nil {
			return "unknown[]"
		}
		return parenthesised(m.typeOf(s.Items, by, indent)) + "[]"
	case "object":
		if s.AdditionalProperties == nil && len(s.Properties) == 0 && s.PropertyNames == nil {
			return "{}"
		}
		var list []string
		if len(s.Properties) > 0 {
			list = append(list, m.object(s, by, indent))
		}
		if s.AdditionalProperties != nil || len(s.Properties) == 0 {
			list = append(list, "Record<string, "+m.typeOf(s.AdditionalProperties, by, indent)+">")
		}
		return strings.Join(list, " & ")
	}
	return "unknown"
}

func parenthesised(t string) string {
	if strings.Contains(t, " | ") || strings.Contains(t, " & ") {
		return "(" + t + ")"
	}
	return t
}

func (m *module) isBig(s *schema.Schema) bool { return !m.asJSON && isBig(s) }

// isBig reports whether whole numbers of a schema may be beyond ±(2^53-1).
func isBig(s *schema.Schema) bool {
	if isUnbounded(s) {
		return true
	}
	if s.Format != "int64" && s.Format != "uint64" {
		return false
	}
	within := func(bounds ...*schema.Number) bool {
		for _, b := range bounds {
			if b == nil {
				continue
			}
			if n, err := strconv.ParseInt(string(*b), 10, 64); err == nil && n >= -(1<<53-1) && n <= 1<<53-1 {
				return true
			}
		}
		return false
	}
	return !within(s.Minimum, s.ExclusiveMinimum) || !within(s.Maximum, s.ExclusiveMaximum)
}

// isUnbounded reports whether whole numbers of a schema have any size, as those of math/big.
func isUnbounded(s *schema.Schema) bool {
	return s.Format == "" && strings.HasSuffix(s.ProtoType, "string")
}

// literal is a value of an enumeration; big makes a number a bigint.
func literal(value any, big bool) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case bool:
		return strconv.FormatBool(v)
	}
	if n, ok := digits(value); ok {
		if big {
			return n + "n"
		}
		return n
	}
	return "unknown"
}

// digits is a number of a schema as it is written.
func digits(value any) (string, bool) {
	switch v := value.(type) {
	case schema.Number:
		return string(v), true
	case json.Number:
		return string(v), true
	case float64:
		return strconv.FormatFloat(v, 'g', -1, 64), true
	case int, int64, uint64:
		return fmt.Sprint(v), true
	}
	return "", false
}
