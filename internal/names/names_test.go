package names_test

import (
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/names"
)

func TestNames(t *testing.T) {
	for name, good := range map[string]bool{
		"users": true, "users.get": true, "a-b_c9": true, "$node.info": true, "9": true,
		"": false, ".": false, "a.": false, ".a": false, "a..b": false, "a b": false, "a/b": false, "a$": false, "ä": false, "*": false, "$": true,
		strings.Repeat("a", 200): true, strings.Repeat("a", 201): false,
	} {
		if bad := names.Fault(name); (bad == "") != good {
			t.Errorf("%q: %s", name, bad)
		}
		if err := names.Check(name); (err == nil) != good {
			t.Errorf("%q: %v", name, err)
		}
	}
}

func TestPatterns(t *testing.T) {
	for _, c := range []struct {
		pattern, name string
		want          bool
	}{
		{"a.b", "a.b", true}, {"a.b", "a.c", false}, {"a", "a.b", false}, {"a.b", "a", false},
		{"a.*", "a.b", true}, {"a.*", "a", false}, {"a.*", "a.b.c", false}, {"*", "a", true}, {"*", "a.b", false}, {"*.b", "a.b", true},
		{"**", "a", true}, {"**", "a.b.c", true}, {"a.**", "a.b.c", true}, {"a.**", "a", false}, {"**.c", "a.b.c", true}, {"**.c", "c", false},
		{"a.**.d", "a.b.c.d", true}, {"a.**.d", "a.d", false}, {"**.b.**", "a.b.c", true}, {"**.b.**", "a.b", false}, {"**.*", "a", false}, {"**.*", "a.b", true},
		{"**.**", "a", false}, {"**.**", "a.b", true}, {"**.a.*", "a.a.a.b", true},
	} {
		if got := names.Match(c.pattern, c.name); got != c.want {
			t.Errorf("%s takes %s: %v", c.pattern, c.name, got)
		}
	}
	for pattern, good := range map[string]bool{"a.*": true, "**": true, "a*": false, "***": false, "a..*": false, "": false, "a. ": false} {
		if bad := names.PatternFault(pattern); (bad == "") != good {
			t.Errorf("%q: %s", pattern, bad)
		}
	}
}

func TestTheMoreSpecificPatternHasMoreLiteralText(t *testing.T) {
	order := []string{"user.created", "user.*", "user.**", "*.created", "*.*", "**"}
	for i, a := range order {
		for j, b := range order {
			if names.MoreSpecific(a, b) != (i < j) && i != j {
				t.Errorf("%s before %s: %v", a, b, names.MoreSpecific(a, b))
			}
		}
	}
}

// matchesPlainly is the definition of matching, by recursion.
func matchesPlainly(pattern, name []string) bool {
	switch {
	case len(pattern) == 0 || len(name) == 0:
		return len(pattern) == len(name)
	case pattern[0] == "**":
		return matchesPlainly(pattern[1:], name[1:]) || matchesPlainly(pattern, name[1:])
	case pattern[0] == "*" || pattern[0] == name[0]:
		return matchesPlainly(pattern[1:], name[1:])
	}
	return false
}

func FuzzPatternsMatchAsDefined(f *testing.F) {
	f.Add("a.**.b", "a.x.y.b")
	f.Add("**.*.**", "a.b.c")
	f.Fuzz(func(t *testing.T, pattern, name string) {
		if names.PatternFault(pattern) != "" || names.Fault(name) != "" || strings.Count(pattern, "**") > 5 || len(name) > 40 {
			return
		}
		if got, want := names.Match(pattern, name), matchesPlainly(strings.Split(pattern, "."), strings.Split(name, ".")); got != want {
			t.Fatalf("%q takes %q: %v, want %v", pattern, name, got, want)
		}
	})
}
