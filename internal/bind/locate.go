package bind

import (
	"strings"

	"github.com/sabir-go/sabir/internal/route"
)

// Locate returns which parameter a place in the input came from, so that an error at /page can be reported as one of the query
// parameter page. pointer is a JSON Pointer (RFC 6901) into the input; those below a field, such as /tags/0, are of its
// parameter. It is false for what comes from the body.
func (b *Binder) Locate(pointer string) (in route.Source, name string, ok bool) {
	step, inside := strings.CutPrefix(pointer, "/")
	if !inside {
		return "", "", false
	}
	step, _, _ = strings.Cut(step, "/")
	for _, list := range [][]field{b.path, b.query, b.headers, b.cookies} {
		for i := range list {
			if list[i].pointer[1:] == step {
				return list[i].In, list[i].Name, true
			}
		}
	}
	if b.open {
		return route.Query, unescape.Replace(step), true
	}
	return "", "", false
}

// Explain returns the explanation for a body with a field that comes from elsewhere, so that the input has it twice: "id comes
// from the path, so it must not be in the body". It returns "" for a pointer to any other field.
func (b *Binder) Explain(pointer string) string {
	in, name, ok := b.Locate(pointer)
	if !ok || !b.body {
		return ""
	}
	step, _, _ := strings.Cut(pointer[1:], "/")
	step = unescape.Replace(step)
	text := step + " comes from the " + string(in)
	if name != step {
		text += " " + name
	}
	return text + ", so it must not be in the body"
}

var unescape = strings.NewReplacer("~1", "/", "~0", "~")
