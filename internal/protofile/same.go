package protofile

import (
	"slices"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// sharedBy is the name of the output that an input shares its message with; "" for none. The two differ in which members must be there,
// which a message does not say.
func (f *file) sharedBy(input string) string {
	output, ok := strings.CutSuffix(input, "Input")
	if !ok || f.types[output] == "" || !f.sameType(input, output, make(map[pair]bool)) {
		return ""
	}
	return output
}

// pair has the schemas of an input and an output.
type pair struct{ in, out *schema.Schema }

// sameType compares a type with another. Those in compared are being compared already.
func (f *file) sameType(input, output string, compared map[pair]bool) bool {
	if input == output {
		return true
	}
	in, out := f.api.Types[input], f.api.Types[output]
	return input == output+"Input" && in != nil && out != nil && in.GoType == out.GoType && f.sameFields(in, out, compared)
}

func (f *file) sameFields(in, out *schema.Schema, compared map[pair]bool) bool {
	if in == nil || out == nil {
		return in == out
	}
	in, _ = f.plain(in)
	out, _ = f.plain(out)
	if compared[pair{in, out}] { // a type has itself inside
		return true
	}
	compared[pair{in, out}] = true
	input, isNamed := typeName(in.Ref)
	if output, named := typeName(out.Ref); named || isNamed {
		return named && isNamed && f.sameType(input, output, compared)
	}
	if !slices.Equal(in.Fields().Numbers(), out.Fields().Numbers()) || !slices.Equal(withoutNull(in.Type), withoutNull(out.Type)) || formatOfType(in) != formatOfType(out) || in.ContentEncoding != out.ContentEncoding || len(in.Fields()) != len(out.Fields()) {
		return false
	}
	for i, field := range in.Fields() {
		if other := out.Fields()[i]; field.Name != other.Name || !f.sameFields(field.Schema, other.Schema, compared) {
			return false
		}
	}
	return f.sameFields(in.Items, out.Items, compared) && f.sameFields(in.AdditionalProperties, out.AdditionalProperties, compared)
}

// formatOfType leaves out the formats of texts that are rules, such as email: only inputs have those.
func formatOfType(s *schema.Schema) string {
	if slices.Contains(s.Type, "string") && s.Format != "date-time" {
		return ""
	}
	return s.Format
}

func withoutNull(kinds schema.Types) schema.Types {
	return slices.DeleteFunc(slices.Clone(kinds), func(kind string) bool { return kind == "null" })
}
