package protofile

import (
	"strconv"
	"strings"
	"unicode"
)

// names hands out names once.
type names map[string]bool

// take is the name, with a number behind it where it is taken.
func (n names) take(name string) string {
	wish := name
	for i := 2; n[name]; i++ {
		name = wish + strconv.Itoa(i)
	}
	n[name] = true
	return name
}

// takeField is take for fields, which must differ without their underscores too: their names in protobuf's JSON do.
func (n names) takeField(name string) string {
	bare := func() string { return strings.ToLower(strings.ReplaceAll(name, "_", "")) }
	wish := name
	for i := 2; n[bare()]; i++ {
		name = wish + strconv.Itoa(i)
	}
	n[bare()] = true
	return name
}

// words are the words of a name: "userID" and "user-id" are "user" and "ID", "id".
func words(s string) []string {
	var list []string
	var word []rune
	end := func() {
		if len(word) > 0 {
			list, word = append(list, string(word)), nil
		}
	}
	runes := []rune(s)
	for i, r := range runes {
		if r > unicode.MaxASCII || !unicode.IsLetter(r) && !unicode.IsDigit(r) {
			end()
			continue
		}
		// A capital begins a word behind a small letter, and as the last of several before one: "HTTPServer".
		small := i+1 < len(runes) && unicode.IsLower(runes[i+1])
		if unicode.IsUpper(r) && len(word) > 0 && (!unicode.IsUpper(word[len(word)-1]) || small) {
			end()
		}
		word = append(word, r)
	}
	end()
	return list
}

// messageName is a name as messages, services and rpcs have it: "billing.address" is BillingAddress.
func messageName(s string) string {
	var b strings.Builder
	for _, w := range words(s) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	name := b.String()
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "X" + name
	}
	return name
}

// fieldName is a name as fields have it: "userID" is user_id.
func fieldName(s string) string {
	name := strings.ToLower(strings.Join(words(s), "_"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "x" + name
	}
	return name
}

// jsonName is the name that a field has in JSON unless its option json_name sets another.
func jsonName(field string) string {
	var b strings.Builder
	up := false
	for _, r := range field {
		switch {
		case r == '_':
			up = true
		case up:
			b.WriteRune(unicode.ToUpper(r))
			up = false
		default:
			b.WriteRune(r)
		}
	}
	return b.String()
}
