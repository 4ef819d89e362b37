package library

import (
	"reflect"
	"strings"

	"github.com/sabir-go/sabir/internal/layout"
	"github.com/sabir-go/sabir/internal/tag"
)

// The library reports where a field is as text, "Order.items[2].price". Field names are given to it in a form that
// keeps this text readable by machine: dots and brackets inside a name are replaced, and the names of secrets and of
// embedded structs are marked.
const (
	secretMark   = "\x01"
	dotMark      = "\x02"
	openingMark  = "\x03"
	closingMark  = "\x04"
	embeddedMark = "\x05"
	anyMark      = secretMark + dotMark + openingMark + closingMark + embeddedMark
)

var (
	mark = strings.NewReplacer(".", dotMark, "[", openingMark, "]", closingMark)
	// Unmark takes the marks out of a text, such as a message with a field's name.
	Unmark = strings.NewReplacer(secretMark, "", embeddedMark, "", dotMark, ".", openingMark, "[", closingMark, "]")
	// pointerEscape is the escaping of RFC 6901, section 3.
	pointerEscape = strings.NewReplacer("~", "~0", "/", "~1")
)

// FieldName is a field's name for the library: its JSON name, with marks. An embedded struct without one is marked
// as not being part of the path, because JSON puts its fields into the outer object.
func FieldName(field reflect.StructField) string {
	name, inline := layout.NameOf(field)
	name = mark.Replace(name)
	if inline {
		name = embeddedMark + name
	}
	if secret(field) {
		name += secretMark
	}
	return name
}

// secret reports whether the field is tagged `sabir:"secret"`.
func secret(field reflect.StructField) bool { return tag.Secret(field.Tag.Get("sabir")) }

// Location is the position of a field in the value that was checked.
type Location struct {
	Path, Pointer  string
	Secret, Marked bool // Secret: it may not be shown; Marked: Unmark the texts with its name
}

// Locate reads the library's text. A key of a map ends at the first "]" that can end it, so a key that itself looks
// like "a].b" is shown in two parts; everything else is exact.
func Locate(text string) Location {
	at := Location{Path: text, Marked: strings.ContainsAny(text, anyMark)}
	var path []byte // only where it is not the text itself
	pointer := make([]byte, 0, len(text)+8)
	for text != "" {
		part, rest := nextPart(text)
		text = strings.TrimPrefix(rest, ".")
		name := part
		switch {
		case part[0] == '[':
			name = strings.TrimSuffix(part[1:], "]")
		case at.Marked:
			at.Secret = at.Secret || strings.HasSuffix(part, secretMark)
			if strings.HasPrefix(part, embeddedMark) {
				continue
			}
			name = Unmark.Replace(part)
			part = name
			if len(path) > 0 {
				path = append(path, '.')
			}
		}
		if strings.ContainsAny(name, "~/") {
			name = pointerEscape.Replace(name)
		}
		pointer = append(append(pointer, '/'), name...)
		if at.Marked {
			path = append(path, part...)
		}
	}
	at.Pointer = string(pointer)
	if at.Marked {
		at.Path = string(path)
	}
	return at
}

// nextPart cuts the first name, or key in brackets, off the text.
func nextPart(text string) (part, rest string) {
	end := 0
	if text[0] == '[' {
		end = min(closing(text)+1, len(text))
	} else if end = strings.IndexAny(text[1:], ".[") + 1; end == 0 {
		end = len(text)
	}
	return text[:end], text[end:]
}

// closing is the index of the "]" that ends the key at the start of text.
func closing(text string) int {
	for i := 1; i < len(text); i++ {
		if text[i] == ']' && (i+1 == len(text) || text[i+1] == '.' || text[i+1] == '[') {
			return i
		}
	}
	return len(text) - 1
}

// ReportedName is the marked form of the name under which a field of t is reported.
func ReportedName(t reflect.Type, name, structName string) string {
	if field, ok := t.FieldByName(structName); ok && secret(field) {
		return name + secretMark
	}
	for field := range t.Fields() {
		if secret(field) && (name == field.Name || FieldName(field) == name+secretMark) {
			return name + secretMark
		}
	}
	return name
}
