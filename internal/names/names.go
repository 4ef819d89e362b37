// Package names has the rules for names of services, actions and events, and the patterns that take them.
package names

import (
	"fmt"
	"strconv"
	"strings"
)

// MaxLength bounds every name: 200 bytes.
const MaxLength = 200

// Fault describes what is wrong with the name of a service, an action or an event: "" for nothing. A name is one or more
// words of letters, digits, "_" and "-", joined by dots; a leading "$" is for names of the runtime.
func Fault(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > MaxLength:
		return "is longer than " + strconv.Itoa(MaxLength) + " bytes"
	}
	word := 0
	for i := range len(name) {
		switch c := name[i]; {
		case c == '.':
			if word == 0 {
				return "has an empty word"
			}
			word = 0
			continue
		case c == '$' && i == 0:
		case c >= 'a' && c <= 'z', c >= 'A' && c <= 'Z', c >= '0' && c <= '9', c == '_', c == '-':
		default:
			return "has the character " + strconv.QuoteRune(firstRune(name[i:])) + "; letters, digits, \"_\", \"-\" and dots between words are allowed"
		}
		word++
	}
	if word == 0 {
		return "has an empty word"
	}
	return ""
}

func firstRune(s string) rune {
	for _, r := range s {
		return r
	}
	return 0
}

// Event names are words joined by dots. In a pattern "*" stands for exactly one word and "**" for one or more:
// "user.*" takes "user.created", "**.failed" takes "order.payment.failed".

// Check returns an error that describes the fault in the name of an event, or of another thing with such a name; nil for a
// good one.
func Check(name string) error {
	if bad := Fault(name); bad != "" {
		return fmt.Errorf("the name %.100q %s", name, bad)
	}
	return nil
}

// CheckPattern returns an error that describes what is wrong with a pattern, nil for a good one.
func CheckPattern(pattern string) error {
	if bad := PatternFault(pattern); bad != "" {
		return fmt.Errorf("the pattern %.100q %s", pattern, bad)
	}
	return nil
}

// PatternFault describes what is wrong with a pattern: "" for nothing.
func PatternFault(pattern string) string {
	const word = "x"
	words := strings.Split(pattern, ".")
	for i, w := range words {
		switch {
		case w == "*" || w == "**":
			words[i] = word
		case strings.Contains(w, "*"):
			return `has "*" inside a word; it stands for a whole one`
		}
	}
	return Fault(strings.Join(words, "."))
}

// Match reports whether a pattern takes a name. Both are valid. The names of actions can be matched as well.
func Match(pattern, name string) bool {
	// The one place to go back to is the last "**": whatever an earlier one could have taken, the last can take as well.
	// So the work is bounded by the product of the lengths.
	var backPattern, backName string
	canGoBack := false
	for {
		switch {
		case pattern == "" && name == "":
			return true
		case pattern != "" && name != "":
			p, restP, _ := strings.Cut(pattern, ".")
			w, restN, _ := strings.Cut(name, ".")
			if p == "**" {
				backPattern, backName, canGoBack = restP, restN, true
				pattern, name = restP, restN
				continue
			}
			if p == "*" || p == w {
				pattern, name = restP, restN
				continue
			}
		}
		if !canGoBack || backName == "" {
			return false
		}
		_, backName, _ = strings.Cut(backName, ".") // let the "**" take one word more
		pattern, name = backPattern, backName
	}
}

// MoreSpecific reports whether, of two patterns that take the same name, a is narrower than b: word by word from the left, a
// name before "*" before "**". It is the order in which net/http's ServeMux would choose.
func MoreSpecific(a, b string) bool {
	rank := func(word string) int {
		switch word {
		case "**":
			return 0
		case "*":
			return 1
		}
		return 2
	}
	for a != "" && b != "" {
		var wa, wb string
		wa, a, _ = strings.Cut(a, ".")
		wb, b, _ = strings.Cut(b, ".")
		if ra, rb := rank(wa), rank(wb); ra != rb {
			return ra > rb
		}
	}
	return len(a) > len(b)
}
