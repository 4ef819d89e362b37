package typescript

import (
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/schema"
)

// writeChecks writes a function for each type of inputs that is checked, one for each action, and the list of these.
func (m *module) writeChecks() {
	m.byTag = m.hasTags()
	m.checked = map[string]bool{}
	var checked []*action
	checks := map[*action]string{}
	for _, a := range m.actions {
		if a.In == nil || a.Stream {
			continue
		}
		checked = append(checked, a)
		if checks[a] = m.checkOf(a.In, "  "); m.mayBeLeftOut(a.In) {
			checks[a] = "optional(" + checks[a] + ")"
		} else {
			checks[a] = "orZero({}, " + checks[a] + ")"
		}
	}
	bodies := map[string]string{}
	for len(bodies) < len(m.checked) { // until no check refers to a type that was not reached before
		for def := range maps.Clone(m.checked) {
			if bodies[def] == "" {
				bodies[def] = m.checkOf(m.types[def].schema, "  ")
			}
		}
	}
	for _, def := range slices.Sorted(maps.Keys(bodies)) {
		m.printf("\n")
		m.function(m.checkFor(m.types[def]), params{{"value", "any"}, {"at", "At"}, {"found", "FieldError[]"}}, "boolean", "return "+bodies[def]+"(value, at, found);")
	}
	for _, a := range checked {
		m.printf("\n")
		m.comment("", "The fields of an input of "+a.Name+" that break rules, as the server would list them.")
		m.function("export validate"+a.pascal, params{{"input", "unknown"}}, "FieldError[]", "return validated("+checks[a]+", input);")
	}
	m.printf("\n")
	m.comment("", "For the option `validate` of createClient.")
	if m.form == declarationForm {
		m.printf("export declare const validators: Validators;\n")
		return
	}
	m.printf("export const validators%s = /* @__PURE__ */ validating({\n", m.typed(": Validators"))
	for _, a := range checked {
		m.printf("  %s: validate%s,\n", key(a.Name), a.pascal)
	}
	m.printf("});\n")
}

// checkFor is the name of the check of a type, which is written for that.
func (m *module) checkFor(t *named) string {
	m.checked[t.def] = true
	return "check" + t.name[input]
}

// checkOf is the expression for the check of a schema's values that are there.
func (m *module) checkOf(s *schema.Schema, indent string) string {
	return allOf(m.checksOf(s, indent))
}

func allOf(checks []string) string {
	if len(checks) == 1 {
		return checks[0]
	}
	return "all(" + strings.Join(checks, ", ") + ")"
}

// checksOf are the checks of a schema in the order in which they are made: the first that fails is reported.
func (m *module) checksOf(s *schema.Schema, indent string) []string {
	var checks []string
	if s == nil {
		return nil
	}
	if s.Ref != "" {
		if t, err := m.lookup(s.Ref); err == nil {
			checks = append(checks, m.checkFor(t))
		}
	}
	checks = append(checks, typeChecks(s)...)
	if m.byTag {
		if inner := m.shape(s, indent); inner != "" {
			checks = append(checks, inner)
		}
		return checks
	}
	checks = append(checks, m.ruleChecks(s, indent)...)
	if s.Items != nil {
		if inner := m.checksOf(s.Items, indent); len(inner) > 0 {
			checks = append(checks, "each("+m.orNull(s.Items, allOf(inner))+")")
		}
	}
	if s.AdditionalProperties != nil {
		if inner := m.checksOf(s.AdditionalProperties, indent); len(inner) > 0 {
			checks = append(checks, "each("+m.orNull(s.AdditionalProperties, allOf(inner))+")")
		}
	}
	if s.PropertyNames != nil {
		if inner := m.checksOf(s.PropertyNames, indent); len(inner) > 0 {
			checks = append(checks, "eachKey("+allOf(inner)+")")
		}
	}
	if len(s.Properties) > 0 {
		if members := m.shape(s, indent); members != "" {
			checks = append(checks, members)
		}
	}
	return checks
}

func (m *module) orNull(s *schema.Schema, check string) string {
	if nullable(s) {
		return "optional(" + check + ")"
	}
	return check
}

// shape is the check of an object's members; "" where they may be anything.
func (m *module) shape(s *schema.Schema, indent string) string {
	var b strings.Builder
	for _, p := range s.Properties {
		var check string
		if m.byTag {
			check = m.tagged(p.Schema, indent+"  ")
		} else {
			check = m.member(p.Schema, slices.Contains(s.Required, p.Name), indent+"  ")
		}
		if check != "" {
			b.WriteString(indent + "  " + key(p.Name) + ": " + check + ",\n")
		}
	}
	if b.Len() == 0 {
		return ""
	}
	return "shape({\n" + b.String() + indent + "})"
}

// member is the check of a member that may be absent. To the server that is as if it were the zero value. A member is required
// where the zero value breaks a rule. The schema shows which rule that was: "required" leaves minLength 1 behind, or
// what is not 0 or false; what refuses the zero value without that is reported by its own name.
func (m *module) member(s *schema.Schema, required bool, indent string) string {
	checks := m.checksOf(s, indent)
	switch {
	case s.Default != nil:
		return m.placeOf(s).filled(checks)
	case !required:
		return optionalOf(checks)
	}
	kind := kindOf(s)
	switch {
	case s.Ref != "":
		if in := m.resolve(s); in != nil && isPlainObject(in) && !slices.Contains(s.Rules, "required") {
			return "orZero({}, " + allOf(checks) + ")"
		}
	case kind == "string" && s.ContentEncoding == "" && s.MinLength != nil && *s.MinLength > 0:
		rest := slices.DeleteFunc(checks, func(c string) bool { return c == "min(1)" || c == "isText" })
		return allOf(append([]string{`required("")`, "isText"}, rest...))
	case kind == "string" && s.Format != "date-time" && s.ContentEncoding == "" && (s.Format != "" || s.Pattern != "" || len(s.Enum) > 0 || len(s.AnyOf) > 0 || len(s.Rules) > 0):
		return `orZero("", ` + allOf(checks) + ")"
	case refusesZero(s):
		zero := map[string]string{"integer": "0", "number": "0", "boolean": "false", "string": `""`}[kind]
		rest := slices.DeleteFunc(checks, func(c string) bool { return c == "ne(0)" || c == "eq(true)" })
		return allOf(append([]string{"required(" + zero + ")"}, rest...))
	case (kind == "integer" || kind == "number") && len(checks) > 1:
		return "orZero(0, " + allOf(checks) + ")"
	}
	return allOf(append([]string{"present"}, checks...))
}

// refusesZero reports whether a schema demands that the value is not 0, or is true: that is "required".
func refusesZero(s *schema.Schema) bool {
	if s.Const == true {
		return true
	}
	if s.Not == nil || s.Not.Const == nil {
		return false
	}
	n, ok := digits(s.Not.Const)
	return ok && n == "0"
}

// kindOf is the JSON type of a schema's values besides null; "" for several or any.
func kindOf(s *schema.Schema) string {
	kinds := slices.DeleteFunc(slices.Clone(s.Type), func(t string) bool { return t == "null" })
	if len(kinds) != 1 {
		return ""
	}
	return kinds[0]
}

func nullable(s *schema.Schema) bool {
	return slices.Contains(s.Type, "null") || slices.ContainsFunc(s.AnyOf, func(one schema.Schema) bool { return nullable(&one) })
}

// rangeOf returns the range of numbers of a format. For formats without a size it is the range that JavaScript holds exactly.
func rangeOf(format string) (least, most string) {
	switch format {
	case "int8", "int16", "int32", "int64":
		bits, _ := strconv.Atoi(format[3:])
		return strconv.FormatInt(-1<<(bits-1), 10), strconv.FormatUint(1<<(bits-1)-1, 10)
	case "uint8", "uint16", "uint32", "uint64":
		bits, _ := strconv.Atoi(format[4:])
		return "0", strconv.FormatUint(math.MaxUint64>>(64-bits), 10)
	case "uint":
		return "0", "9007199254740991"
	}
	return "-9007199254740991", "9007199254740991"
}

// ruleChecks are the checks of a schema's keywords that are rules.
func (m *module) ruleChecks(s *schema.Schema, indent string) []string {
	var checks []string
	add := func(check string) { checks = append(checks, check) }
	bounds(add, s.MinLength, s.MaxLength)
	bounds(add, s.MinItems, s.MaxItems)
	bounds(add, s.MinProperties, s.MaxProperties)
	least, most := rangeOf(s.Format)
	number := func(rule string, bound *schema.Number, typeBound string) {
		if bound != nil && (kindOf(s) != "integer" || string(*bound) != typeBound) {
			add(rule + "(" + bigLiteral(string(*bound)) + ")")
		}
	}
	number("min", s.Minimum, least)
	number("gt", s.ExclusiveMinimum, "")
	number("max", s.Maximum, most)
	number("lt", s.ExclusiveMaximum, "")
	if s.Const != nil && s.Ref == "" {
		add("eq(" + literal(s.Const, isBig(s)) + ")")
	}
	if s.Not != nil && s.Not.Const != nil {
		add("ne(" + literal(s.Not.Const, isBig(s)) + ")")
	}
	if len(s.Enum) > 0 {
		add(oneOf(s))
	}
	if check := formats[s.Format]; check != "" && (kindOf(s) == "string" || len(s.Type) == 0) {
		add(check)
	}
	if s.UniqueItems {
		add("unique")
	}
	if s.Pattern != "" && portable(s.Pattern) {
		add("match(\"pattern\", new RegExp(" + quote(s.Pattern) + ", \"u\"), \"does not match the pattern \" + " + quote(s.Pattern) + ")")
	}
	for i := range s.AllOf {
		checks = append(checks, m.checksOf(&s.AllOf[i], indent)...)
	}
	var either []string
	for i := range s.AnyOf {
		one := &s.AnyOf[i]
		if len(one.Type) == 1 && one.Type[0] == "null" {
			continue
		}
		inner := m.checksOf(one, indent)
		if len(inner) == 0 {
			return checks // anything will do
		}
		either = append(either, allOf(inner))
	}
	switch len(either) {
	case 0:
	case 1:
		add(either[0])
	default:
		add("any(" + strings.Join(either, ", ") + ")")
	}
	return checks
}

// bounds are the checks of a length.
func bounds(add func(string), least, most *int) {
	if least != nil && most != nil && *least == *most {
		add("len(" + strconv.Itoa(*least) + ")")
		return
	}
	if least != nil {
		add("min(" + strconv.Itoa(*least) + ")")
	}
	if most != nil {
		add("max(" + strconv.Itoa(*most) + ")")
	}
}

// bigLiteral is a bound, with all its digits.
func bigLiteral(number string) string {
	if n, err := strconv.ParseInt(number, 10, 64); err == nil && n >= -(1<<53-1) && n <= 1<<53-1 {
		return number
	}
	if plainWhole.MatchString(number) {
		return number + "n"
	}
	return number
}

var plainWhole = regexp.MustCompile(`^-?\d+$`)

// oneOf is the check of an enumeration, with the parameter that its rule has in the tag.
func oneOf(s *schema.Schema) string {
	var values, words []string
	for _, value := range s.Enum {
		if value == nil {
			continue
		}
		l := literal(value, isBig(s))
		values = append(values, l)
		text, ok := value.(string)
		switch {
		case !ok:
			words = append(words, strings.TrimSuffix(l, "n"))
		case strings.Contains(text, " "):
			words = append(words, "'"+text+"'")
		case text != "": // which stands for omitempty
			words = append(words, text)
		}
	}
	return "oneOf([" + strings.Join(values, ", ") + "], " + quote(strings.Join(words, " ")) + ")"
}

// formats are checks of formats. They refuse nothing that the server takes: what is hard to check is left to it.
var formats = map[string]string{
	"email": `match("email", /^[^\s@]+@[^\s@]+$/u, "must be a valid email address")`,
	"uuid":  `match("uuid", /^[0-9a-fA-F]{8}(-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}$/u, "must be a valid UUID")`,
	"ipv4":  `match("ipv4", /^\d{1,3}(\.\d{1,3}){3}$/u, "must be a valid IPv4 address")`,
	"ipv6":  `match("ipv6", /^[0-9a-fA-F:.]*:[0-9a-fA-F:.]*$/u, "must be a valid IPv6 address")`,
	"uri":   `match("url", /^[A-Za-z][A-Za-z0-9+.-]*:./u, "must be a valid URL")`,
}

// portable reports whether a pattern surely means in JavaScript what it means in Go.
func portable(pattern string) bool {
	return !unportable.MatchString(pattern)
}

var unportable = regexp.MustCompile(`\(\?[^:]|\\[^dDwWbB.^$*+?()\[\]{}|/\\nrtf]|\[\[:|\[\^?\]|[*+?}]\+|[^\x00-\x7f]|[^\\]-\]`)
