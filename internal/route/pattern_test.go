package route_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/route"
)

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern string
		want    string // segments, "!" before the reason of a refusal
	}{
		{"/", ""},
		{"/users", "users"},
		{"/users/{id}", "users {id}"},
		{"/users/{id}/orders/{order}", "users {id} orders {order}"},
		{"/files/{path...}", "files {path...}"},
		{"/{a}", "{a}"},
		{"/{user-id}/{_x9}", "{user-id} {_x9}"},
		{"/v1.2/~me/a-b_c", "v1.2 ~me a-b_c"},
		{"/$node/info", "$node info"},
		{"/.well-known/...", ".well-known ..."},
		{"", "!begin with a slash"},
		{"users", "!begin with a slash"},
		{"//", "!empty segment"},
		{"/users/", "!empty segment"},
		{"/a//b", "!empty segment"},
		{"/a/./b", "!segment ."},
		{"/a/..", "!segment .."},
		{"/a b", `!character ' '`},
		{"/a%20b", `!character '%'`},
		{"/a?b", `!character '?'`},
		{"/ä", `!character 'ä'`},
		{"/a\x00", `!character '\x00'`},
		{"/{id}.json", "!whole segment"},
		{"/x{id}", "!whole segment"},
		{"/{id", "!whole segment"},
		{"/id}", "!whole segment"},
		{"/{a}{b}", "!whole segment"},
		{"/{{a}}", "!whole segment"},
		{"/{}", "!without a name"},
		{"/{...}", "!without a name"},
		{"/{a b}", "!in the name"},
		{"/{a.b}", "!in the name"},
		{"/{a..}", "!in the name"},
		{"/{id}/x/{id}", "!parameter id twice"},
		{"/{id}/{id...}", "!parameter id twice"},
		{"/{path...}/x", "!takes all the rest"},
		{"/{path...}/", "!takes all the rest"},
		{many(16), strings.TrimSpace(strings.ReplaceAll(many(16), "/", " "))},
		{many(17), "!more than 16 parameters"},
		{"/" + strings.Repeat("a", 1024), "!longer than 1024 bytes"},
	} {
		segments, err := route.Segments(c.pattern)
		if reason, refused := strings.CutPrefix(c.want, "!"); refused {
			if err == nil || !strings.Contains(err.Error(), reason) {
				t.Errorf("%q: got the error %v, want one that says %q", c.pattern, err, reason)
			}
			continue
		}
		if got := strings.TrimPrefix(strings.ReplaceAll(join(segments), "/", " "), " "); err != nil || got != c.want {
			t.Errorf("%q: got %q, %v; want %q", c.pattern, got, err, c.want)
		}
	}
}

func many(params int) string {
	var b strings.Builder
	for i := range params {
		fmt.Fprintf(&b, "/{p%d}", i)
	}
	return b.String()
}

func join(segments []route.Segment) string {
	if len(segments) == 0 {
		return ""
	}
	var b strings.Builder
	for _, s := range segments {
		switch {
		case s.Rest:
			b.WriteString("/{" + s.Text + "...}")
		case s.Param:
			b.WriteString("/{" + s.Text + "}")
		default:
			b.WriteString("/" + s.Text)
		}
	}
	return b.String()
}

// FuzzSegments holds that the segments of an accepted pattern make up exactly that pattern, and that each segment is valid.
func FuzzSegments(f *testing.F) {
	for _, seed := range []string{"/", "/users/{id}", "/{a}/{b...}", "/{id}.json", "//", "/%2e", "/a/../b", many(17)} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, pattern string) {
		segments, err := route.Segments(pattern)
		if err != nil {
			return
		}
		if back := max(join(segments), "/"); back != pattern {
			t.Fatalf("%q became %q", pattern, back)
		}
		for i, s := range segments {
			if s.Text == "" || strings.ContainsAny(s.Text, "/%{}? \x00") || s.Rest && (i < len(segments)-1 || !s.Param) {
				t.Fatalf("%q has the segment %+v", pattern, s)
			}
		}
	})
}
