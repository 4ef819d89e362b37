package route

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// The bounds of a pattern.
const (
	MaxParams  = 16   // parameters in a path
	maxPattern = 1024 // bytes
)

// Segment is one part of a pattern between slashes.
type Segment struct {
	Text  string // as it stands in the path, or the parameter's name
	Param bool   // a parameter: "{id}"
	Rest  bool   // a parameter that takes the rest of the path: "{path...}"
}

// Segments parses a pattern: "/" or one or more segments, each with a slash before it. A segment is literal text or, as a
// whole, a parameter in braces; "{name...}", at the end only, takes one or more segments.
//
// Literal text is made of what never needs an escape in a path, letters, digits and "-._~" (RFC 3986, section 2.3), and of
// "$", with which the runtime's own services begin. "." and ".." are no segments, since clients and proxies resolve them.
// A parameter's name is made of letters, digits, "_" and "-". A pattern has at most 16 parameters and 1024 bytes.
func Segments(pattern string) ([]Segment, error) {
	if len(pattern) > maxPattern {
		return nil, fmt.Errorf("the pattern %.40q... is longer than %d bytes", pattern, maxPattern)
	}
	inside, ok := strings.CutPrefix(pattern, "/")
	if !ok {
		return nil, fmt.Errorf("the pattern %q must begin with a slash", pattern)
	}
	if inside == "" {
		return nil, nil
	}
	segments, params := make([]Segment, 0, 1+strings.Count(inside, "/")), 0
	for text := range strings.SplitSeq(inside, "/") {
		if n := len(segments); n > 0 && segments[n-1].Rest {
			return nil, fmt.Errorf("the pattern %q goes on behind {%s...}, which takes all the rest", pattern, segments[n-1].Text)
		}
		s, wrong := parseSegment(text)
		if wrong != "" {
			return nil, fmt.Errorf("the pattern %q %s", pattern, wrong)
		}
		if s.Param {
			if slices.ContainsFunc(segments, func(other Segment) bool { return other.Param && other.Text == s.Text }) {
				return nil, fmt.Errorf("the pattern %q has the parameter %s twice; give one of them another name", pattern, s.Text)
			}
			if params++; params > MaxParams {
				return nil, fmt.Errorf("the pattern %q has more than %d parameters", pattern, MaxParams)
			}
		}
		segments = append(segments, s)
	}
	return segments, nil
}

// parseSegment returns what is wrong with the segment, "" for nothing.
func parseSegment(text string) (s Segment, wrong string) {
	switch {
	case text == "":
		return s, "has an empty segment; remove the slash that is too many"
	case text == "." || text == "..":
		return s, "has the segment " + text + ", which clients and proxies resolve before it arrives"
	case !strings.ContainsAny(text, "{}"):
		if c := strings.IndexFunc(text, notLiteral); c >= 0 {
			return s, fmt.Sprintf("has the character %q; letters, digits and -._~$ are allowed outside of {}", firstRune(text[c:]))
		}
		return Segment{Text: text}, ""
	case text[0] != '{' || strings.IndexByte(text, '}') != len(text)-1:
		return s, "has the segment " + text + "; a parameter must be a whole segment, such as /{id}/"
	}
	name, rest := strings.CutSuffix(text[1:len(text)-1], "...")
	if name == "" {
		return s, "has a parameter without a name"
	}
	if c := strings.IndexFunc(name, notName); c >= 0 {
		return s, fmt.Sprintf("has the character %q in the name of a parameter; letters, digits, _ and - are allowed", firstRune(name[c:]))
	}
	return Segment{Text: name, Param: true, Rest: rest}, ""
}

func notLiteral(r rune) bool { return notName(r) && r != '.' && r != '~' && r != '$' }

func notName(r rune) bool { return !alphanumeric(r) && r != '_' && r != '-' }

func alphanumeric(r rune) bool {
	return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9'
}

func firstRune(s string) rune {
	r, _ := utf8.DecodeRuneInString(s)
	return r
}
