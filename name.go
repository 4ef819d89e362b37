package sabir

import (
	"cmp"
	"slices"
	"strconv"
	"strings"
)

// maxName bounds every name: 200 bytes.
const maxName = 200

// badName says what is wrong with the name of a service, an action or an event: "" for nothing. A name is one or more
// words of letters, digits, "_" and "-", joined by dots; a leading "$" is for the runtime's own.
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

// shortPath keeps the last two parts of a file's path, enough to find it.
func shortPath(file string) string {
	parts := strings.Split(file, "/")
	return strings.Join(parts[max(0, len(parts)-2):], "/")
}

func itoa(n int) string { return strconv.Itoa(n) }
