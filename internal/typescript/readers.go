package typescript

import (
	"maps"
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// primitiveReader names the function of the runtime that reads values of a schema that has no parts; "" where JSON.parse has
// done all.
func primitiveReader(s *schema.Schema) string {
	switch {
	case slices.Contains(s.Type, "string") && s.ContentEncoding == "base64":
		return "bytes"
	case slices.Contains(s.Type, "string") && s.Format == "date-time":
		return "date"
	case slices.Contains(s.Type, "integer") && isBig(s):
		return "big"
	case slices.Contains(s.Type, "integer") && !slices.Contains(smallFormats, s.Format):
		return "int"
	case slices.Contains(s.Type, "number"):
		return "float"
	}
	return ""
}

// smallFormats lists the formats of whole numbers that no JSON parser rounds.
var smallFormats = []string{"int8", "int16", "int32", "uint8", "uint16", "uint32"}

// writeReaders writes a function for each type whose outputs are more than JSON.
func (m *module) writeReaders() {
	for _, def := range slices.Sorted(maps.Keys(m.types)) {
		t := m.types[def]
		if !t.used[output] || !t.reads {
			continue
		}
		if isPlainObject(t.schema) {
			lines := append([]string{"if (!isObject(value)) return value;"}, m.puts(t.schema)...)
			m.printf("\n")
			m.function("read"+t.name[output], value, "any", append(lines, "return value;")...)
			continue
		}
		read := m.reader(t.schema)
		if read == "" {
			read = "same" // only reached through itself
		}
		m.printf("\n")
		m.function("read"+t.name[output], value, "any", "return ("+read+")(value);")
	}
}

// value is the parameter of readers.
var value = params{{"value", "any"}}

// puts are the statements that read the members of an object.
func (m *module) puts(s *schema.Schema) []string {
	var lines []string
	for _, p := range s.Properties {
		if read := m.reader(p.Schema); read != "" {
			lines = append(lines, "put(value, "+quote(p.Name)+", "+read+");")
		}
	}
	return lines
}

// reader is the function that reads values of a schema; "" for what JSON.parse has done.
func (m *module) reader(s *schema.Schema) string {
	if s == nil {
		return ""
	}
	if s.Ref != "" {
		if t, err := m.lookup(s.Ref); err == nil && t.reads {
			return "read" + t.name[output]
		}
		return ""
	}
	if read := primitiveReader(s); read != "" {
		return read
	}
	for _, list := range [][]schema.Schema{s.AnyOf, s.AllOf} {
		for i := range list {
			if read := m.reader(&list[i]); read != "" {
				return read // the others are null, or rules
			}
		}
	}
	if read := m.reader(s.Items); read != "" {
		return "list(" + read + ")"
	}
	if len(s.Properties) > 0 {
		if puts := m.puts(s); len(puts) > 0 {
			return "object((value) => { " + strings.Join(puts, " ") + " })"
		}
	}
	if read := m.reader(s.AdditionalProperties); read != "" {
		return "record(" + read + ")"
	}
	return ""
}
