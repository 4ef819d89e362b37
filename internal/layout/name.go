package layout

import (
	"strings"
	"unicode"
)

var kindNames = [...]string{
	Bool: "Bool", Int8: "Int8", Int16: "Int16", Int32: "Int32", Int64: "Int64", Uint8: "Uint8", Uint16: "Uint16", Uint32: "Uint32",
	Uint64: "Uint64", Float32: "Float32", Float64: "Float64", String: "String", Bytes: "Bytes", ByteArray: "Bytes", Time: "Time",
	Binary: "Binary", Text: "Text", Any: "Any", Struct: "Struct", Custom: "Custom",
}

// Name returns a name of t for schemas: that of the Go type without import paths, or one made of its parts, such as
// "StringList". Different types may have the same name.
func (t *Type) Name() string {
	if t.Boxed {
		return t.Fields[0].Type.Name() + "Value"
	}
	if name := t.Go.Name(); name != "" {
		return Identifier(shortName(name))
	}
	switch t.Kind {
	case Pointer:
		return "Optional" + t.Elem.Name()
	case Slice, Array:
		return t.Elem.Name() + "List"
	case Map:
		return t.Elem.Name() + "Map"
	}
	return kindNames[t.Kind]
}

// shortName is the name of a type, generic or not, without the import paths in its arguments, each part beginning with a
// capital.
func shortName(name string) string {
	var b strings.Builder
	for part := range strings.FieldsFuncSeq(name, func(r rune) bool { return r == '[' || r == ']' || r == ',' }) {
		part = part[strings.LastIndexByte(part, '/')+1:]
		part = part[strings.LastIndexByte(part, '.')+1:]
		if part != "" {
			b.WriteString(strings.ToUpper(part[:1]) + part[1:])
		}
	}
	return b.String()
}

// Identifier makes a name one that schema languages have: ASCII letters, digits and '_', not beginning with a digit.
func Identifier(name string) string {
	clean := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return r
		}
		return '_'
	}, name)
	if clean == "" || clean[0] >= '0' && clean[0] <= '9' {
		return "x" + clean
	}
	return clean
}
