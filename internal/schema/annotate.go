package schema

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/sabir-go/sabir/internal/tag"
)

// annotate adds the documentation in the field's tags.
func (b *builder) annotate(s *Schema, m member) error {
	s.Description = strings.TrimSpace(m.Tag.Get("doc"))
	s.Deprecated = m.Tag.Get("deprecated") == "true"
	s.FieldNumber, _ = strconv.Atoi(m.Tag.Get("protobuf")) // what is no number is refused by codec/protobuf
	if !m.skipped {
		s.Tag = m.Tag.Get("validate")
	}
	s.WriteOnly = b.side == Input && tag.Secret(m.Tag.Get("sabir"))
	if text, ok := m.Tag.Lookup("example"); ok {
		example, err := parseTagValue(s, inNanoseconds(m.Type, text))
		if err != nil {
			return fmt.Errorf("example:%q: %w", text, err)
		}
		s.Examples = []any{example}
	}
	if text, ok := m.Tag.Lookup("default"); ok {
		value, err := parseTagValue(s, inNanoseconds(m.Type, text))
		if err != nil {
			return fmt.Errorf("default:%q: %w", text, err)
		}
		s.Default = value
	}
	return nil
}

// inNanoseconds is the text of a tag in the form that values of the type have in JSON: people write a duration as 30s.
func inNanoseconds(t reflect.Type, text string) string {
	for t.Kind() == reflect.Pointer {
		t = t.Elem()
	}
	if d, err := time.ParseDuration(text); err == nil && t == durationType {
		return strconv.FormatInt(int64(d), 10)
	}
	return text
}

// parseTagValue reads a value from a tag: a text as it is where the schema wants one, else JSON of a type that fits.
func parseTagValue(s *Schema, tag string) (any, error) {
	if takesText(s) {
		return tag, nil
	}
	v, err := parseAny([]byte(tag))
	if err != nil {
		return nil, fmt.Errorf("%s is wanted, as JSON: %w", wanted(s), err)
	}
	if len(s.Type) > 0 && !slices.ContainsFunc(s.Type, func(t string) bool { return isOf(v, t) }) {
		return nil, fmt.Errorf("%s is wanted", wanted(s))
	}
	return v, nil
}

// takesText reports whether a schema is that of a text, which stands among alternatives where it may be null and has rules.
func takesText(s *Schema) bool {
	return slices.Contains(s.Type, "string") || len(s.Type) == 0 && slices.ContainsFunc(s.AnyOf, func(one Schema) bool { return takesText(&one) })
}

func wanted(s *Schema) string {
	if len(s.Type) == 0 {
		return "a value"
	}
	return strings.Join(s.Type, " or ")
}

// isOf reports whether a value, as parseAny gives it, is of a JSON type.
func isOf(v any, jsonType string) bool {
	switch v := v.(type) {
	case nil:
		return jsonType == "null"
	case bool:
		return jsonType == "boolean"
	case string:
		return jsonType == "string"
	case Number:
		return jsonType == "number" || jsonType == "integer" && !strings.ContainsAny(string(v), ".eE")
	case []any:
		return jsonType == "array"
	default:
		return jsonType == "object"
	}
}

// parseAny reads one JSON value, with its numbers as Number.
func parseAny(text []byte) (v any, err error) {
	err = decodeWith(text, func(r *reader) { v = r.value() })
	return v, err
}
