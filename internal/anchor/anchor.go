// Package anchor names the anchors of headings, for the web site and for the tests of links.
package anchor

import (
	"strings"
	"unicode"
)

// Of returns the anchor of a heading as GitHub makes it of its text: in lower case, with hyphens for spaces, without punctuation.
func Of(title string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == ' ':
			return '-'
		case r == '-' || r == '_' || unicode.IsLetter(r) || unicode.IsDigit(r):
			return unicode.ToLower(r)
		}
		return -1
	}, title)
}
