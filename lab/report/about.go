package report

import (
	"html"
	"regexp"
	"strings"
	"unicode"
)

var (
	codeSpan = regexp.MustCompile("`[^`]+`")
	strong   = regexp.MustCompile(`\*\*([^*\s](?:[^*]*[^*\s])?)\*\*`)
	emphasis = regexp.MustCompile(`\*([^*\s](?:[^*]*[^*\s])?)\*`)
	gap      = regexp.MustCompile(`\n[ \t]*\n\s*`)
)

// paragraphs makes HTML of the Markdown that tables are described in: paragraphs, `code`, *emphasis* and **strong**. All else
// is text.
func paragraphs(markdown string) string {
	var out strings.Builder
	for _, p := range gap.Split(strings.TrimSpace(markdown), -1) {
		if p = strings.TrimSpace(p); p != "" {
			out.WriteString("<p>" + inline(p) + "</p>")
		}
	}
	return out.String()
}

// inline makes HTML of one paragraph.
func inline(markdown string) string {
	var out strings.Builder
	end := 0
	for _, span := range codeSpan.FindAllStringIndex(markdown, -1) {
		out.WriteString(stressed(markdown[end:span[0]]))
		out.WriteString("<code>" + escape(markdown[span[0]+1:span[1]-1]) + "</code>")
		end = span[1]
	}
	return out.String() + stressed(markdown[end:])
}

func stressed(text string) string {
	text = strong.ReplaceAllString(escape(text), "<strong>$1</strong>")
	return emphasis.ReplaceAllString(text, "<em>$1</em>")
}

// escape makes text safe in HTML and SVG, without what is no character there.
func escape(text string) string { return html.EscapeString(printable(text)) }

// printable is a text in which control characters and broken ones are spaces.
func printable(text string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == unicode.ReplacementChar || r == 0xFFFE || r == 0xFFFF {
			return ' '
		}
		return r
	}, text)
}
