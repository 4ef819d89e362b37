package schema

import (
	"strings"
	"unicode/utf8"

	"github.com/sabir-go/sabir/internal/tag"
)

// A textRule is a rule without parameter for a text. It refuses "" unless tag.PassesEmpty reports true.
type textRule struct {
	format  string
	pattern string // common to Go's regexp and ECMA-262 with the flag u
	partly  bool   // the rule demands more
}

const (
	octet    = `(25[0-5]|2[0-4][0-9]|1[0-9][0-9]|[1-9]?[0-9])`
	label    = `[a-zA-Z0-9]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?`
	hex      = `[0-9a-f]`
	anyHex   = `[0-9a-fA-F]`
	uuidTail = `-` + hex + `{12}$`
)

func uuidPattern(digit, version, variant string) string {
	if version == "" {
		return "^" + digit + "{8}(-" + digit + "{4}){3}-" + digit + "{12}$"
	}
	return "^" + digit + "{8}-" + digit + "{4}-" + version + digit + "{3}-" + variant + digit + "{3}-" + digit + "{12}$"
}

// textRules are the library's rules on texts that a format or a pattern can express.
var textRules = map[string]textRule{
	"email":     {format: "email"},
	"url":       {format: "uri"},
	"http_url":  {format: "uri", pattern: `^[hH][tT][tT][pP][sS]?://`},
	"https_url": {format: "uri", pattern: `^[hH][tT][tT][pP][sS]://`},
	"uri":       {format: "uri-reference", partly: true}, // it takes a path alone, which is no URI

	"uuid":          {format: "uuid", pattern: uuidPattern(anyHex, "", "")},
	"uuid3":         {format: "uuid", pattern: uuidPattern(hex, "3", hex)},
	"uuid4":         {format: "uuid", pattern: uuidPattern(hex, "4", "[89ab]")},
	"uuid5":         {format: "uuid", pattern: uuidPattern(hex, "5", "[89ab]")},
	"uuid7":         {format: "uuid", pattern: uuidPattern(hex, "7", "[89ab]")},
	"uuid_rfc4122":  {format: "uuid", pattern: uuidPattern(anyHex, "", "")},
	"uuid3_rfc4122": {format: "uuid", pattern: uuidPattern(anyHex, "3", anyHex)},
	"uuid4_rfc4122": {format: "uuid", pattern: uuidPattern(anyHex, "4", "[89abAB]")},
	"uuid5_rfc4122": {format: "uuid", pattern: uuidPattern(anyHex, "5", "[89abAB]")},
	"ulid":          {pattern: `^[0-7][a-hjkmnp-tv-zA-HJKMNP-TV-Z0-9]{25}$`},

	"ipv4":   {format: "ipv4"},
	"ipv6":   {format: "ipv6"},
	"cidrv4": {pattern: `^(` + octet + `\.){3}` + octet + `/(3[0-2]|[12]?[0-9])$`, partly: true}, // the rest of the address is 0
	"cidrv6": {pattern: `^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$`, partly: true},
	"cidr":   {pattern: `^[0-9a-fA-F:.]+/(12[0-8]|1[01][0-9]|[1-9]?[0-9])$`, partly: true},

	"hostname":         {format: "hostname", pattern: `^[a-zA-Z]([a-zA-Z0-9-]{0,61}[a-zA-Z0-9])?(\.` + label + `)*$`},
	"hostname_rfc1123": {format: "hostname", pattern: `^` + label + `(\.` + label + `)*$`},
	"mac":              {pattern: `^([0-9a-fA-F]{2}[:.-]?)+[0-9a-fA-F]{2}$`, partly: true},

	"alpha":           {pattern: `^[a-zA-Z]+$`},
	"alphaspace":      {pattern: `^[a-zA-Z ]+$`},
	"alphanum":        {pattern: `^[a-zA-Z0-9]+$`},
	"alphanumspace":   {pattern: `^[a-zA-Z0-9 ]+$`},
	"alphaunicode":    {pattern: `^\p{L}+$`},
	"alphanumunicode": {pattern: `^[\p{L}\p{N}]+$`},
	"number":          {pattern: `^[0-9]+$`},
	"numeric":         {pattern: `^[-+]?[0-9]+(\.[0-9]+)?$`},
	"hexadecimal":     {pattern: `^(0[xX])?[0-9a-fA-F]+$`},
	"ascii":           {pattern: `^[\x00-\x7F]*$`},
	"printascii":      {pattern: `^[ -~]*$`},
	"lowercase":       {pattern: `^[^A-Z]+$`, partly: true},
	"uppercase":       {pattern: `^[^a-z]+$`, partly: true},

	"hexcolor": {pattern: `^#([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$`},
	"e164":     {pattern: `^\+?[1-9][0-9]{7,14}$`},
	"base64":   {pattern: `^[A-Za-z0-9+/]+={0,2}$`, partly: true},
	"semver":   {pattern: `^[0-9]+\.[0-9]+\.[0-9]+`, partly: true},
	"md5":      {pattern: `^[0-9a-f]{32}$`},
	"sha256":   {pattern: `^[0-9a-f]{64}$`},
	"sha384":   {pattern: `^[0-9a-f]{96}$`},
	"sha512":   {pattern: `^[0-9a-f]{128}$`},
	"mongodb":  {pattern: `^[0-9a-f]{24}$`},
}

// text adds the keywords for a rule on a text. It returns false where they do not express all of the rule.
func (c *checks) text(r tag.Rule) (said bool) {
	s := c.schema
	passesEmpty := tag.PassesEmpty(r.Name)
	said = true
	switch r.Name {
	case "eq":
		s.constant(r.Param)
		passesEmpty = r.Param == ""
	case "ne":
		s.not(&Schema{Const: r.Param})
		passesEmpty = r.Param != ""
	case "oneof":
		passesEmpty = s.oneOf(tag.Words(r.Param))
	case "noneof":
		list := tag.Words(r.Param)
		s.not(&Schema{Enum: texts(list)})
		passesEmpty = !contains(list, "")
	case "boolean":
		s.oneOf([]string{"1", "t", "T", "TRUE", "true", "True", "0", "f", "F", "FALSE", "false", "False"})
	case "ip":
		s.either(&Schema{Format: "ipv4"}, &Schema{Format: "ipv6"})
	case "datetime":
		said = s.layout(r.Param)
	case "contains", "startswith", "endswith":
		s.pattern(around(r.Name, literally(r.Param)))
		passesEmpty = r.Param == ""
	case "excludes", "startsnotwith", "endsnotwith":
		s.not(&Schema{Pattern: around(r.Name, literally(r.Param))})
		passesEmpty = r.Param != ""
	case "containsany", "excludesall":
		if said = r.Param != ""; said && r.Name == "containsany" {
			s.pattern(class("", r.Param))
		} else if said {
			s.pattern("^" + class("^", r.Param) + "*$")
		}
	case "containsrune", "excludesrune":
		if first, _ := utf8.DecodeRuneInString(r.Param); r.Name == "containsrune" {
			s.pattern(class("", string(first)))
		} else {
			s.pattern("^" + class("^", string(first)) + "*$")
		}
	default:
		known, ok := textRules[r.Name]
		if !ok {
			said = false
			passesEmpty = passesEmpty || !tag.Single(r.Name)
			break
		}
		said = !known.partly
		if known.format != "" {
			s.format(known.format)
		}
		if known.pattern != "" {
			s.pattern(known.pattern)
		}
	}
	c.refuses = c.refuses || !passesEmpty
	return said
}

// around anchors a pattern as the rule demands.
func around(rule, pattern string) string {
	if strings.HasPrefix(rule, "starts") {
		return "^" + pattern
	}
	if strings.HasPrefix(rule, "ends") {
		return pattern + "$"
	}
	return pattern
}

// literally is a pattern for the text itself.
func literally(text string) string {
	var b strings.Builder
	for _, c := range []byte(text) {
		if strings.IndexByte(`\.+*?()|[]{}^$`, c) >= 0 {
			b.WriteByte('\\')
		}
		b.WriteByte(c)
	}
	return b.String()
}

// class is a pattern for one of the characters, or with "^" for one of the others.
func class(not, chars string) string {
	var b strings.Builder
	for _, c := range chars {
		if strings.ContainsRune(`\]^-[`, c) {
			b.WriteByte('\\')
		}
		b.WriteRune(c)
	}
	return "[" + not + b.String() + "]"
}

// layoutParts are the parts of a time's layout that a pattern can express. Go reads a fraction after the seconds, whether the
// layout has one or not.
var layoutParts = []struct{ layout, pattern string }{
	{"2006", `[0-9]{4}`}, {"Z07:00", `(Z|[-+][0-9]{2}:[0-9]{2})`}, {"-07:00", `[-+][0-9]{2}:[0-9]{2}`},
	{"01", `(0[1-9]|1[0-2])`}, {"02", `(0[1-9]|[12][0-9]|3[01])`}, {"15", `([01]?[0-9]|2[0-3])`}, {"04", `[0-5][0-9]`}, {"05", `[0-5][0-9]([.,][0-9]+)?`},
	{"T", "T"}, {"-", "-"}, {":", ":"}, {"/", "/"}, {".", `\.`}, {" ", " +"},
}

// layout adds that a text is a time in that layout. It returns false where that cannot be expressed in full.
func (s *Schema) layout(layout string) bool {
	switch layout {
	case "2006-01-02T15:04:05Z07:00", "2006-01-02T15:04:05.999999999Z07:00":
		s.format("date-time")
		return true
	case "2006-01-02":
		s.format("date")
	}
	pattern := "^"
	for layout != "" {
		found := false
		for _, part := range layoutParts {
			if rest, ok := strings.CutPrefix(layout, part.layout); ok {
				layout, pattern, found = rest, pattern+part.pattern, true
				break
			}
		}
		if !found {
			return false
		}
	}
	s.pattern(pattern + "$")
	return false // which days a month has is left to the checker
}
