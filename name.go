package sabir

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
)

// maxName bounds every name: 200 bytes.
const maxName = 200

// badName describes what is wrong with the name of a service, an action or an event: "" for nothing. A name is one or more
// words of letters, digits, "_" and "-", joined by dots; a leading "$" is for names of the runtime.
func badName(name string) string {
	switch {
	case name == "":
		return "is empty"
	case len(name) > maxName:
		return "is longer than " + itoa(maxName) + " bytes"
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

// badServiceName is badName for services: the first word must not look like a version.
func badServiceName(name string) string {
	if bad := badName(name); bad != "" {
		return bad
	}
	first, _, _ := strings.Cut(name, ".")
	if digits, ok := strings.CutPrefix(first, "v"); ok && digits != "" && strings.Trim(digits, "0123456789") == "" {
		return "starts with a version; use sabir.Version(" + digits + ")"
	}
	return ""
}

// fullServiceName is "users" without a version and "v2.users" with one.
func fullServiceName(name string, version int) string {
	if version == 0 {
		return name
	}
	return "v" + itoa(version) + "." + name
}

// nearest returns up to three of the known names that name may be a slip of, the likeliest first.
func nearest(name string, known []string) []string {
	const consider = 10_000 // bounds the work for a wrong name, whatever the node offers
	type guess struct {
		name     string
		distance int
	}
	var guesses []guess
	limit := max(2, len(name)/4)
	short := name[strings.LastIndexByte(name, '.')+1:]
	for _, candidate := range known[:min(len(known), consider)] {
		d := editDistance(name, candidate, limit)
		if d > limit && strings.EqualFold(candidate[strings.LastIndexByte(candidate, '.')+1:], short) {
			d = limit // the right action of another service
		}
		if d <= limit {
			guesses = append(guesses, guess{candidate, d})
		}
	}
	slices.SortFunc(guesses, func(a, b guess) int {
		return cmp.Or(cmp.Compare(a.distance, b.distance), strings.Compare(a.name, b.name))
	})
	var names []string
	for _, g := range guesses[:min(3, len(guesses))] {
		names = append(names, g.name)
	}
	return names
}

// editDistance is the number of inserted, deleted and changed bytes between a and b (Wagner and Fischer 1974), or
// something above limit as soon as it must exceed that.
func editDistance(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit || len(a) > maxName || len(b) > maxName {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal, best := row[0], i+1
		row[0] = i + 1
		for j := range len(b) {
			substituted := diagonal
			if a[i] != b[j] {
				substituted++
			}
			diagonal = row[j+1]
			row[j+1] = min(substituted, row[j]+1, row[j+1]+1)
			best = min(best, row[j+1])
		}
		if best > limit {
			return limit + 1
		}
	}
	return row[len(b)]
}

func itoa(n int) string { return strconv.Itoa(n) }

// Event names are words joined by dots. In a pattern "*" stands for exactly one word and "**" for one or more:
// "user.*" takes "user.created", "**.failed" takes "order.payment.failed".

// CheckName returns an error that describes the fault in the name of an event, or of another thing with such a name; nil for a
// good one: one or more words of letters, digits, "_" and "-", joined by dots, of 200 bytes at most.
func CheckName(name string) error {
	if bad := badName(name); bad != "" {
		return &Error{Code: CodeInvalidArgument, Name: nameBadName, Message: fmt.Sprintf("the name %.100q %s", name, bad)}
	}
	return nil
}

// CheckPattern returns an error that describes what is wrong with an event pattern, nil for a good one.
func CheckPattern(pattern string) error {
	if bad := badPattern(pattern); bad != "" {
		return &Error{Code: CodeInvalidArgument, Name: nameBadName, Message: fmt.Sprintf("the pattern %.100q %s", pattern, bad)}
	}
	return nil
}

// MatchPattern reports whether an event pattern takes a name. The names of actions can be matched as well.
func MatchPattern(pattern, name string) bool { return matches(pattern, name) }

// badPattern describes what is wrong with a pattern: "" for nothing.
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

// matches reports whether a pattern takes a name. Both are valid.
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

// moreSpecific reports whether, of two patterns that take the same name, a is narrower than b: word by word from the left, a
// name before "*" before "**". It is the order in which net/http's ServeMux would choose.
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
