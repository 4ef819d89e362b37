package validate

import (
	"math"
	"reflect"
	"strconv"
	"strings"

	"github.com/sabir-go/sabir/internal/library"
)

// english is the text for a failure, as the library's English translation has it; "" for a rule without one.
func english(f library.Failure) string {
	if words, compares := comparisons[f.Tag()]; compares {
		return words.about(f)
	}
	return strings.NewReplacer("{0}", f.Field(), "{1}", f.Param()).Replace(englishTexts[f.Tag()])
}

// comparison holds the words of a rule that compares with its parameter.
type comparison struct {
	length string // of a text
	items  string // of a list or map
	number string
	moment string // of a time; "" for a rule without a text for it
}

var comparisons = map[string]comparison{
	"len": {"must be", "must contain", "must be equal to {1}", ""},
	"min": {"must be at least", "must contain at least", "must be {1} or greater", ""},
	"max": {"must be a maximum of", "must contain at most", "must be {1} or less", ""},
	"lt":  {"must be less than", "must contain less than", "must be less than {1}", "must be less than the current Date & Time"},
	"lte": {"must be at most", "must contain at most", "must be {1} or less", "must be less than or equal to the current Date & Time"},
	"gt":  {"must be greater than", "must contain more than", "must be greater than {1}", "must be greater than the current Date & Time"},
	"gte": {"must be at least", "must contain at least", "must be {1} or greater", "must be greater than or equal to the current Date & Time"},
}

// about puts a failure into words. The parameter is a decimal number, except for times, see translatable.
func (words comparison) about(f library.Failure) string {
	kind := f.Kind()
	if kind == reflect.Pointer {
		kind = f.Type().Elem().Kind()
	}
	param := f.Param()
	n, _ := strconv.ParseFloat(param, 64)
	_, fraction, _ := strings.Cut(param, ".")
	number := grouped(n, len(fraction))
	switch kind {
	case reflect.String:
		return f.Field() + " " + words.length + " " + number + plural(" character", n, fraction) + " in length"
	case reflect.Slice, reflect.Map, reflect.Array:
		return f.Field() + " " + words.items + " " + number + plural(" item", n, fraction)
	case reflect.Struct:
		if words.moment == "" {
			return ""
		}
		return f.Field() + " " + words.moment
	}
	if f.Type() == durationType && (f.Tag() == "min" || f.Tag() == "max") {
		number = param
	}
	return f.Field() + " " + strings.Replace(words.number, "{1}", number, 1)
}

func plural(noun string, n float64, fraction string) string {
	if int64(math.Abs(n)) == 1 && fraction == "" {
		return noun
	}
	return noun + "s"
}

// grouped is a number with that many digits after the point, and a comma after each three digits before it.
func grouped(n float64, digits int) string {
	text := strconv.FormatFloat(math.Abs(n), 'f', digits, 64)
	whole, fraction, _ := strings.Cut(text, ".")
	for i := len(whole) - 3; i > 0; i -= 3 {
		whole = whole[:i] + "," + whole[i:]
	}
	if digits > 0 {
		whole += "." + fraction
	}
	if n < 0 {
		whole = "-" + whole
	}
	return whole
}

// englishTexts are the texts of all other rules: {0} stands for the field, {1} for the parameter.
var englishTexts = map[string]string{
	"alpha":           "{0} can only contain alphabetic characters",
	"alphanum":        "{0} can only contain alphanumeric characters",
	"alphanumspace":   "{0} can only contain alphanumeric and space characters",
	"alphanumunicode": "{0} can only contain unicode alphanumeric characters",
	"alphaspace":      "{0} can only contain alphabetic and space characters",
	"alphaunicode":    "{0} can only contain unicode alphabetic characters",
	"ascii":           "{0} must contain only ascii characters",
	"base64":          "{0} must be a valid Base64 string",
	"boolean":         "{0} must be a valid boolean value",
	"cidr":            "{0} must contain a valid CIDR notation",
	"cidrv4":          "{0} must contain a valid CIDR notation for an IPv4 address",
	"cidrv6":          "{0} must contain a valid CIDR notation for an IPv6 address",
	"contains":        "{0} must contain the text '{1}'",
	"containsany":     "{0} must contain at least one of the following characters '{1}'",
	"datetime":        "{0} does not match the {1} format",
	"e164":            "{0} must be a valid E.164 formatted phone number",
	"email":           "{0} must be a valid email address",
	"endsnotwith":     "{0} must not end with '{1}'",
	"endswith":        "{0} must end with '{1}'",
	"eq":              "{0} is not equal to {1}",
	"excludes":        "{0} cannot contain the text '{1}'",
	"excludesall":     "{0} cannot contain any of the following characters '{1}'",
	"excludesrune":    "{0} cannot contain the following '{1}'",
	"fqdn":            "{0} must be a valid FQDN",
	"hexadecimal":     "{0} must be a valid hexadecimal",
	"hexcolor":        "{0} must be a valid HEX color",
	"ip":              "{0} must be a valid IP address",
	"ipv4":            "{0} must be a valid IPv4 address",
	"ipv6":            "{0} must be a valid IPv6 address",
	"isdefault":       "{0} must be default value",
	"json":            "{0} must be a valid json string",
	"jwt":             "{0} must be a valid jwt string",
	"latitude":        "{0} must contain valid latitude coordinates",
	"longitude":       "{0} must contain a valid longitude coordinates",
	"lowercase":       "{0} must be a lowercase string",
	"mac":             "{0} must contain a valid MAC address",
	"multibyte":       "{0} must contain multibyte characters",
	"ne":              "{0} should not be equal to {1}",
	"number":          "{0} must be a valid number",
	"numeric":         "{0} must be a valid numeric value",
	"oneof":           "{0} must be one of [{1}]",
	"printascii":      "{0} must contain only printable ascii characters",
	"required":        "{0} is a required field",
	"startsnotwith":   "{0} must not start with '{1}'",
	"startswith":      "{0} must start with '{1}'",
	"timezone":        "{0} must be a valid time zone",
	"ulid":            "{0} must be a valid ULID",
	"unique":          "{0} must contain unique values",
	"uppercase":       "{0} must be an uppercase string",
	"uri":             "{0} must be a valid URI",
	"url":             "{0} must be a valid URL",
	"uuid":            "{0} must be a valid UUID",
	"uuid3":           "{0} must be a valid version 3 UUID",
	"uuid4":           "{0} must be a valid version 4 UUID",
	"uuid5":           "{0} must be a valid version 5 UUID",
}
