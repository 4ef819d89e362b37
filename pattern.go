package sabir

import (
	"fmt"
	"strings"
)

// Event names are words joined by dots. In a pattern "*" stands for exactly one word and "**" for one or more:
// "user.*" takes "user.created", "**.failed" takes "order.payment.failed".

// CheckPattern returns an error that says what is wrong with an event pattern, nil for a good one.
func CheckPattern(pattern string) error {
	if bad := badPattern(pattern); bad != "" {
		return &Error{Code: InvalidArgument, Name: nameBadName, Message: fmt.Sprintf("the pattern %.100q %s", pattern, bad)}
	}
	return nil
}

// MatchPattern tells whether an event pattern takes a name. The names of actions can be matched as well.
func MatchPattern(pattern, name string) bool { return matches(pattern, name) }

// badPattern says what is wrong with a pattern: "" for nothing.
func badPattern(pattern string) string {
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
	return badName(strings.Join(words, "."))
}

// matches tells whether a pattern takes a name. Both are valid.
func matches(pattern, name string) bool {
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

// moreSpecific tells whether of two patterns that take the same name, a says more about it than b: word by word from
// the left, a name before "*" before "**". It is the order in which net/http's ServeMux would choose.
func moreSpecific(a, b string) bool {
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
