package gofile

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// integers are the Go types of the formats of integers.
var integers = map[string]string{"int8": "int8", "int16": "int16", "int32": "int32", "int64": "int64", "int": "int",
	"uint8": "uint8", "uint16": "uint16", "uint32": "uint32", "uint64": "uint64", "uint": "uint"}

// texts are the types of the standard library that are texts in JSON, and not between nodes.
var texts = []string{"net.IP", "net/netip.Addr", "net/netip.AddrPort", "net/netip.Prefix"}

// typeOf is the Go type of a schema: a pointer where null is allowed and the type has none, any where it is one of several.
func (f *file) typeOf(s *schema.Schema) string {
	rest, null := s.Nullable()
	text := f.plainType(rest)
	if null && text != "any" && !strings.HasPrefix(text, "[]") && !strings.HasPrefix(text, "map[") {
		return "*" + text
	}
	return text
}

func (f *file) plainType(s *schema.Schema) string {
	if name := s.RefName(); name != "" {
		if known, ok := f.types[name]; ok {
			return known
		}
		return "any"
	}
	if len(s.Type) == 0 && s.ProtoType == "bytes" { // any JSON, as json.RawMessage
		f.imports["encoding/json"] = true
		return "json.RawMessage"
	}
	if len(s.Type) != 1 {
		return "any"
	}
	switch s.Type[0] {
	case "boolean":
		return "bool"
	case "integer":
		return f.integer(s)
	case "number":
		if s.Format == "float" {
			return "float32"
		}
		return "float64"
	case "string":
		return f.text(s)
	case "array":
		if s.Items == nil {
			return "[]any"
		}
		rules, _, ofElements := strings.Cut(s.Tag, "dive")
		items := *s.Items
		if ofElements {
			items.MaxItems = nil // the rules of a slice, perhaps
		}
		if s.MinItems != nil && s.MaxItems != nil && *s.MinItems == *s.MaxItems && !strings.ContainsAny(rules, "=") {
			return fmt.Sprintf("[%d]%s", *s.MinItems, f.typeOf(&items)) // an array: rules of a slice have a number
		}
		return "[]" + f.typeOf(&items)
	case "object":
		switch {
		case fits(s):
			return f.structure(s)
		case len(s.Properties) > 0:
			return "map[string]any"
		case s.AdditionalProperties != nil:
			return "map[" + keyOf(s) + "]" + f.typeOf(s.AdditionalProperties)
		}
		return "struct{}"
	}
	return "any"
}

// keyOf is the type of a map's keys, which are texts in JSON.
func keyOf(s *schema.Schema) string {
	key := strings.TrimPrefix(s.ProtoType, "optional ")
	if strings.HasPrefix(key, "int") || strings.HasPrefix(key, "uint") {
		return key
	}
	return "string"
}

func (f *file) integer(s *schema.Schema) string {
	if s.Format == "duration-ns" {
		f.imports["time"] = true
		return "time.Duration"
	}
	if known, ok := integers[s.Format]; ok {
		return known
	}
	if s.Format == "" && strings.HasSuffix(s.ProtoType, "string") {
		f.imports["math/big"] = true
		return "big.Int"
	}
	return "int64"
}

func (f *file) text(s *schema.Schema) string {
	switch {
	case s.ContentEncoding == "base64":
		return "[]byte"
	case s.Format == "date-time":
		f.imports["time"] = true
		return "time.Time"
	case integers[s.Format] != "":
		return integers[s.Format] // as a text
	case slices.Contains(texts, s.GoType):
		path, name, _ := strings.Cut(s.GoType, ".")
		f.imports[path] = true
		return path[strings.LastIndexByte(path, '/')+1:] + "." + name
	}
	return "string"
}

// structure is a struct with the members of an object, under their names and with their rules.
func (f *file) structure(s *schema.Schema) string {
	var b strings.Builder
	b.WriteString("struct {\n")
	taken := make(map[string]bool)
	for _, p := range s.Properties {
		about := p.Schema
		if about == nil {
			about = &schema.Schema{}
		}
		if about.Description != "" {
			fmt.Fprintf(&b, "// %s\n", oneLine(about.Description))
		}
		if about.Deprecated {
			b.WriteString("//\n// Deprecated: it will be removed.\n")
		}
		text, name := f.typeOf(about), p.Name
		maybe := about.ProtoType == "optional" && text != "any" // a pointer that is left out, and not null
		if maybe || !slices.Contains(s.Required, p.Name) && f.isStruct(about) && !f.sentByValue(about) {
			text, name = "*"+strings.TrimPrefix(text, "*"), p.Name+",omitempty"
		} else if !slices.Contains(s.Required, p.Name) && (f.absent || hasNil(text)) {
			name += ",omitzero" // the nil of a list is sent as an empty one, which rules of longer ones refuse
		}
		if rest, _ := about.Nullable(); slices.Equal(rest.Type, schema.Types{"string"}) && integers[rest.Format] != "" {
			name += ",string"
		}
		fmt.Fprintf(&b, "%s %s %s\n", unique(exported(p.Name), taken), text, tags(name, about))
	}
	b.WriteString("}")
	return b.String()
}

// hasNil reports whether a type has a nil beside its empty value, and is no pointer.
func hasNil(text string) bool {
	return strings.HasPrefix(text, "[]") || strings.HasPrefix(text, "map[") || text == "json.RawMessage"
}

// sentByValue reports whether a struct that may be missing is sent as a value: who reads it has no pointer for it, or it would be null or optional.
// Where it contains the struct that it is in, it cannot be.
func (f *file) sentByValue(s *schema.Schema) bool {
	_, null := s.Nullable()
	return f.sending && !null && !f.contains(s, make(map[string]bool))
}

// contains reports whether a value has one of the type that is being written in it.
func (f *file) contains(s *schema.Schema, seen map[string]bool) bool {
	rest, null := s.Nullable()
	name := rest.RefName()
	switch {
	case null, seen[name]:
		return false
	case name != "" && name == f.in:
		return true
	case name != "":
		seen[name] = true
	}
	return slices.ContainsFunc(rest.Resolve(f.api.Types).Properties, func(p schema.Property) bool { return p.Schema != nil && f.contains(p.Schema, seen) })
}

// isStruct reports whether a schema becomes a struct.
func (f *file) isStruct(s *schema.Schema) bool {
	rest, _ := s.Nullable()
	return fits(rest.Resolve(f.api.Types))
}

// fits reports whether a struct can have the members of an object: some names mean something else in a tag, or break the struct.
func fits(s *schema.Schema) bool {
	return len(s.Properties) > 0 && !slices.ContainsFunc(s.Properties, func(p schema.Property) bool {
		return p.Name == "" || p.Name == "-" || strings.ContainsAny(p.Name, "`,'\"\\")
	})
}

// tags are a member's name, its default and its rules.
func tags(name string, s *schema.Schema) string {
	text := fmt.Sprintf("json:%q", name)
	if s.Default != nil {
		value, ok := s.Default.(string)
		if !ok {
			if encoded, err := json.Marshal(s.Default); err == nil {
				value, ok = string(encoded), true
			}
		}
		if ok {
			text += fmt.Sprintf(" default:%q", value)
		}
	}
	if s.Tag != "" {
		text += fmt.Sprintf(" validate:%q", s.Tag)
	}
	if s.WriteOnly {
		text += ` sabir:"secret"`
	}
	if strings.Contains(text, "`") || strings.ContainsFunc(text, func(r rune) bool { return r == '\r' || r == '\n' }) {
		return strconv.Quote(text)
	}
	return "`" + text + "`"
}

// initialisms are written in capitals, as Go does.
var initialisms = []string{"api", "cpu", "html", "http", "https", "id", "ip", "json", "rpc", "sql", "ttl", "uid", "uri", "url", "uuid", "xml"}

// exported makes an exported identifier of a name: "users.get" is UsersGet, "userId" UserID, "2fa" X2fa.
func exported(name string) string {
	var b strings.Builder
	for _, word := range words(name) {
		lower := strings.ToLower(word)
		if slices.Contains(initialisms, lower) {
			b.WriteString(strings.ToUpper(word))
			continue
		}
		b.WriteString(strings.ToUpper(word[:1]) + word[1:])
	}
	text := b.String()
	if text == "" || text[0] < 'A' || text[0] > 'Z' {
		return "X" + text
	}
	return text
}

// words splits a name where a capital follows a small letter, and at all that is no letter or digit of ASCII.
func words(name string) (list []string) {
	start := -1
	end := func(i int) {
		if start >= 0 {
			list = append(list, name[start:i])
		}
		start = -1
	}
	for i := range len(name) {
		c := name[i]
		capital, letter := c >= 'A' && c <= 'Z', c >= 'a' && c <= 'z' || c >= '0' && c <= '9'
		switch {
		case !capital && !letter:
			end(i)
			continue
		case capital && i > 0 && name[i-1] >= 'a' && name[i-1] <= 'z':
			end(i)
		}
		if start < 0 {
			start = i
		}
	}
	end(len(name))
	return list
}

// take gives a name that nothing else in the package has.
func (f *file) take(wanted string) string { return unique(wanted, f.taken) }

func unique(wanted string, taken map[string]bool) string {
	name := wanted
	for i := 2; taken[name]; i++ {
		name = wanted + strconv.Itoa(i)
	}
	taken[name] = true
	return name
}

// oneLine is a text in one line, which ends no comment.
func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }
