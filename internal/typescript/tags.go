package typescript

import (
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// Checks that are made of `validate` tags, where the description has them: they run the same rules in the same order as the
// server does, under the same names. Rules that are not known here, and those that look at other fields, are left to it.

// hasTags reports whether the description has the tags of its members.
func (m *module) hasTags() bool {
	return len(m.closure(func(s *schema.Schema) bool {
		return slices.ContainsFunc(s.Properties, func(p schema.Property) bool { return p.Schema.Tag != "" })
	})) > 0
}

// place is a value that a tag is for.
type place struct {
	schema *schema.Schema
	kind   string // of JSON; "" for any
	zero   string // what Go makes of an absent one; "" for nil
	nilled bool   // nil means absent, so an empty one is something else
}

func (m *module) placeOf(s *schema.Schema) place {
	p := place{schema: s, kind: kindOf(s)}
	if s.Ref != "" {
		if in := m.resolve(s); in != nil {
			p.kind = kindOf(in)
		}
	}
	switch {
	case nullable(s), pointed(s), p.kind == "", s.ContentEncoding != "", p.kind == "array", p.kind == "object" && s.Ref == "" && len(s.Properties) == 0:
		p.nilled = true
	case p.kind == "string" && s.Format == "date-time":
		p.zero = `"0001-01-01T00:00:00Z"`
	case p.kind == "string":
		p.zero = `""`
	case p.kind == "boolean":
		p.zero = "false"
	case p.kind == "object":
		p.zero = "{}"
	default:
		p.zero = "0"
	}
	return p
}

// pointed reports whether a member is a pointer that is left out where it is nil, which has no null in its schema. A form of its own is "optional" without a pointer too.
func pointed(s *schema.Schema) bool {
	own, optional := strings.CutPrefix(s.ProtoType, "optional")
	return optional && own != " string" && own != " bytes"
}

// tagged is the check of a member by its tag; "" where anything passes.
func (m *module) tagged(s *schema.Schema, indent string) string {
	p := m.placeOf(s)
	types := typeChecks(s)
	parts := splitTag(s.Tag)
	if s.Tag == "-" {
		return optionalOf(types)
	}
	checks := m.steps(p, parts, indent)
	first := ""
	if len(parts) > 0 {
		first = parts[0]
	}
	switch {
	case s.Default != nil:
		return p.filled(append(types, checks...))
	case first == "required" && len(checks) > 0:
		return allOf(slices.Concat(checks[:1], types, checks[1:]))
	case p.nilled && first != "" && first != "dive" && !strings.HasPrefix(first, "omit") && (p.kind == "array" || p.kind == "object") && !nullable(s):
		return "orZero(" + map[string]string{"array": "[]", "object": "{}"}[p.kind] + ", " + allOf(append(types, checks...)) + ")"
	case p.nilled, strings.HasPrefix(first, "omit"), len(checks) == 0:
		return optionalOf(append(types, checks...))
	}
	return "orZero(" + p.zero + ", " + allOf(append(types, checks...)) + ")"
}

// filled is the check of a member with a default, which the server gives what is absent or zero before it checks.
func (p place) filled(checks []string) string {
	if p.nilled || len(checks) == 0 {
		return optionalOf(checks)
	}
	return "unlessZero(" + p.zero + ", " + allOf(checks) + ")"
}

func optionalOf(checks []string) string {
	if len(checks) == 0 {
		return ""
	}
	return "optional(" + allOf(checks) + ")"
}

// steps are the checks of a tag's parts, then those of what is inside.
func (m *module) steps(p place, parts []string, indent string) []string {
	var checks []string
	for i, part := range parts {
		switch part {
		case "omitempty", "omitzero", "omitnil":
			rest := m.steps(p, parts[i+1:], indent)
			switch {
			case len(rest) == 0:
			case p.nilled || part == "omitnil":
				checks = append(checks, "optional("+allOf(rest)+")")
			default:
				checks = append(checks, "unlessZero("+p.zero+", "+allOf(rest)+")")
			}
			return checks
		case "structonly", "nostructlevel":
			return checks
		case "dive":
			return append(checks, m.dive(p.schema, parts[i+1:], indent)...)
		}
		if check := ruleCheck(p, part); check != "" {
			checks = append(checks, check)
		}
	}
	if ref := structOf(p.schema); ref != "" {
		if t, err := m.lookup(ref); err == nil {
			return append(checks, m.checkFor(t))
		}
	}
	if inner := m.shape(p.schema, indent); inner != "" {
		checks = append(checks, inner)
	}
	return checks
}

// structOf is the reference to the type of a value or of what it points to.
func structOf(s *schema.Schema) string {
	if s.Ref != "" {
		return s.Ref
	}
	for i := range s.AnyOf {
		if ref := s.AnyOf[i].Ref; ref != "" {
			return ref
		}
	}
	return ""
}

// dive are the checks of the elements of a list or a map.
func (m *module) dive(s *schema.Schema, parts []string, indent string) (checks []string) {
	if len(parts) > 0 && parts[0] == "keys" {
		end := slices.Index(parts, "endkeys")
		if end < 0 {
			return nil
		}
		key := place{schema: &schema.Schema{}, kind: "string", zero: `""`}
		if keys := m.steps(key, parts[1:end], indent); len(keys) > 0 {
			checks = append(checks, "eachKey("+allOf(keys)+")")
		}
		parts = parts[end+1:]
	}
	element := s.Items
	if element == nil {
		element = s.AdditionalProperties
	}
	if element == nil {
		return checks
	}
	inner := append(typeChecks(element), m.steps(m.placeOf(element), parts, indent)...)
	if len(inner) == 0 {
		return checks
	}
	return append(checks, "each("+m.orNull(element, allOf(inner))+")")
}

// typeChecks are the checks of a value's JSON type.
func typeChecks(s *schema.Schema) []string {
	switch kind := kindOf(s); {
	case kind == "string" && s.ContentEncoding == "base64":
		return []string{"isBytes"}
	case kind == "string" && s.Format == "date-time" && s.Pattern == "":
		return []string{"isTime"}
	case kind == "string":
		return []string{"isText"}
	case kind == "integer" && isUnbounded(s):
		return []string{"isWhole(-Infinity, Infinity)"}
	case kind == "integer":
		least, most := rangeOf(s.Format)
		return []string{"isWhole(" + least + "n, " + most + "n)"}
	case kind == "number":
		return []string{"isNumber"}
	case kind == "boolean":
		return []string{"isFlag"}
	case kind == "array":
		return []string{"isList"}
	case kind == "object":
		return []string{"isRecord"}
	}
	return nil
}

// splitTag splits a tag into its parts.
func splitTag(tag string) []string {
	if tag == "" {
		return nil
	}
	return strings.Split(tag, ",")
}

var unescape = strings.NewReplacer("0x2C", ",", "0x7C", "|")

// ruleCheck is the check of one rule, or of several of which one must hold; "" for what is left to the server.
func ruleCheck(p place, part string) string {
	if alternatives := strings.Split(part, "|"); len(alternatives) > 1 {
		var checks []string
		for _, one := range alternatives {
			check := ruleCheck(p, one)
			if check == "" {
				return ""
			}
			checks = append(checks, check)
		}
		return "either(" + quote(part) + ", " + strings.Join(checks, ", ") + ")"
	}
	name, param, _ := strings.Cut(part, "=")
	param = unescape.Replace(param)
	switch name {
	case "required":
		if p.nilled || !p.refusesZero() {
			return "present"
		}
		return "required(" + p.zero + ")"
	case "min", "max", "gt", "gte", "lt", "lte", "len":
		if p.schema.Format == "date-time" || !plainNumber.MatchString(param) || p.kind == "boolean" || p.kind == "" {
			return ""
		}
		if p.kind == "number" || plainWhole.MatchString(param) {
			return name + "(" + withParam(param) + ")"
		}
	case "eq", "ne":
		switch {
		case p.kind == "string" && p.schema.ContentEncoding == "":
			return name + "(" + quote(param) + ")"
		case (p.kind == "integer" || p.kind == "number") && plainNumber.MatchString(param):
			return name + "(" + bigLiteral(param) + ")"
		}
	case "oneof":
		return oneOfWords(p, param)
	case "unique":
		if (p.kind == "array" || p.kind == "object") && param == "" {
			return "unique"
		}
	}
	if p.kind != "string" || p.schema.ContentEncoding != "" {
		return ""
	}
	if check := formatChecks[name]; check != "" && param == "" {
		return check
	}
	if check := paramChecks[name]; check != "" && param != "" {
		return check + "(" + quote(param) + ")"
	}
	return ""
}

// refusesZero reports whether the keywords refuse the zero value, as they do where "required" is for the value itself. For what
// a pointer points to they do not.
func (p place) refusesZero() bool {
	s := p.schema
	switch {
	case s.Format == "date-time":
		return false // that it is there is all that is checked
	case s.Ref != "" || p.kind == "object":
		return false
	case p.kind == "string":
		return s.MinLength != nil && *s.MinLength > 0 || len(s.Enum) > 0 && !slices.Contains(s.Enum, any("")) || s.Const != nil && s.Const != ""
	case p.kind == "boolean":
		return s.Const == true
	}
	above := func(bound *schema.Number, strict bool) bool {
		if bound == nil {
			return false
		}
		n, err := strconv.ParseFloat(string(*bound), 64)
		return err == nil && (n > 0 || strict && n == 0)
	}
	below := func(bound *schema.Number, strict bool) bool {
		if bound == nil {
			return false
		}
		n, err := strconv.ParseFloat(string(*bound), 64)
		return err == nil && (n < 0 || strict && n == 0)
	}
	if refusesZero(s) || above(s.Minimum, false) || above(s.ExclusiveMinimum, true) || below(s.Maximum, false) || below(s.ExclusiveMaximum, true) {
		return true
	}
	if len(s.Enum) > 0 {
		return !slices.ContainsFunc(s.Enum, func(v any) bool { n, _ := digits(v); return n == "0" })
	}
	return false
}

var plainNumber = regexp.MustCompile(`^-?(0|[1-9]\d*)(\.\d+)?$`)

// withParam is a bound, and how the tag writes it where that is not the same.
func withParam(param string) string {
	if strings.Contains(param, ".") || strings.TrimSuffix(bigLiteral(param), "n") != param {
		return bigLiteral(param) + ", " + quote(param)
	}
	return bigLiteral(param)
}

var listWords = regexp.MustCompile(`'[^']*'|\S+`)

func oneOfWords(p place, param string) string {
	var values []string
	for _, w := range listWords.FindAllString(param, -1) {
		w = strings.ReplaceAll(w, "'", "")
		switch {
		case p.kind == "string":
			values = append(values, quote(w))
		case p.kind == "integer" && plainWhole.MatchString(w):
			values = append(values, bigLiteral(w))
		default:
			return ""
		}
	}
	return "oneOf([" + strings.Join(values, ", ") + "], " + quote(param) + ")"
}

// paramChecks are functions of rules.ts for rules on texts with a text as parameter.
var paramChecks = map[string]string{
	"contains": "contains", "excludes": "excludes", "startswith": "startsWith", "endswith": "endsWith",
	"startsnotwith": "startsNotWith", "endsnotwith": "endsNotWith", "containsany": "containsAny", "excludesall": "excludesAll",
}

// formatChecks are rules on texts without a parameter. They refuse nothing that the server takes: what is hard to check is left
// to it.
var formatChecks = map[string]string{
	"email":      formats["email"],
	"url":        formats["uri"],
	"uuid":       formats["uuid"],
	"uuid4":      `match("uuid4", /^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/u, "must be a valid version 4 UUID")`,
	"ipv4":       formats["ipv4"],
	"ipv6":       formats["ipv6"],
	"ip":         `match("ip", /^[0-9a-fA-F:.]+$/u, "must be a valid IP address")`,
	"alpha":      `match("alpha", /^[a-zA-Z]+$/u, "can only contain alphabetic characters")`,
	"alphanum":   `match("alphanum", /^[a-zA-Z0-9]+$/u, "can only contain alphanumeric characters")`,
	"number":     `match("number", /^[0-9]+$/u, "must be a valid number")`,
	"numeric":    `match("numeric", /^[-+]?[0-9]+(\.[0-9]+)?$/u, "must be a valid numeric value")`,
	"ascii":      `match("ascii", /^[\x00-\x7f]*$/u, "must contain only ascii characters")`,
	"printascii": `match("printascii", /^[ -~]*$/u, "must contain only printable ascii characters")`,
	"lowercase":  `match("lowercase", /^[^A-Z]+$/u, "must be a lowercase string")`,
	"uppercase":  `match("uppercase", /^[^a-z]+$/u, "must be an uppercase string")`,
	"hexcolor":   `match("hexcolor", /^#([0-9a-fA-F]{3}|[0-9a-fA-F]{4}|[0-9a-fA-F]{6}|[0-9a-fA-F]{8})$/u, "must be a valid HEX color")`,
	"e164":       `match("e164", /^\+?[1-9][0-9]{7,14}$/u, "must be a valid E.164 formatted phone number")`,
}
