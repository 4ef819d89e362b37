// Package protoname makes names of Protocol Buffers from those of Sabir: it is the one place that decides how an action, a type or a
// field is called in descriptors, in .proto files and in the addresses of gRPC.
package protoname

import (
	"strings"
	"unicode"
)

// Words are the words of a name: "userID" and "user-id" are "user" and "ID", "id".
func Words(s string) []string {
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

// Message is a name as messages, services and rpcs have it: "billing.address" is BillingAddress.
func Message(s string) string {
	var b strings.Builder
	for _, w := range Words(s) {
		b.WriteString(strings.ToUpper(w[:1]) + w[1:])
	}
	name := b.String()
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "X" + name
	}
	return name
}

// Field is a name as fields have it: "userID" is user_id.
func Field(s string) string {
	name := strings.ToLower(strings.Join(Words(s), "_"))
	if name == "" || name[0] >= '0' && name[0] <= '9' {
		return "x" + name
	}
	return name
}

// JSON is the name that a field has in the JSON of Protocol Buffers, unless its option json_name sets another: user_id is userId.
func JSON(field string) string {
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
