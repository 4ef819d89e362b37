package names_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/names"
)

func TestPatternsFindThoseThatTakeAName(t *testing.T) {
	all := []string{"user.created", "user.*", "user.**", "*.created", "*.*", "**", "**.created", "**.user.**", "user", "*", "order.**.paid", "**.a.**.a.**"}
	var patterns names.Patterns[string]
	for _, p := range all {
		patterns.Add(p, p)
	}
	for _, name := range []string{"user.created", "user", "user.a.b", "order.paid", "order.1.paid", "order.1.2.paid", "x.user.y", "user.user.user", "a.a.a.a.a.a.a", "x"} {
		var want []string
		for _, p := range all {
			if names.Match(p, name) {
				want = append(want, p)
			}
		}
		got := patterns.AppendMatches(nil, name)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s is taken by %q, want %q", name, got, want)
		}
	}
}

func TestARemovedPatternTakesNothing(t *testing.T) {
	var patterns names.Patterns[int]
	for i, p := range []string{"a.b", "a.b.c", "a.*", "a.**", "a.b"} {
		patterns.Add(p, i)
	}
	patterns.Remove("a.b", 0)
	patterns.Remove("a.*", 2)
	patterns.Remove("a.**", 77) // which it does not have
	patterns.Remove("never.added", 1)
	got := patterns.AppendMatches(nil, "a.b")
	slices.Sort(got)
	if !slices.Equal(got, []int{3, 4}) {
		t.Errorf("left are %v", got)
	}
	if got := patterns.AppendMatches(nil, "a.b.c"); len(got) != 2 {
		t.Errorf("what is below a removed pattern: %v", got)
	}
}

// TestPatternsOfManyWildcardsTakeNoTimeThatGrowsWithTheirCombinations would not end within hours if each way through the wildcards were tried.
func TestPatternsOfManyWildcardsTakeNoTimeThatGrowsWithTheirCombinations(t *testing.T) {
	var patterns names.Patterns[int]
	patterns.Add(strings.Repeat("**.a.", 25)+"b", 1)
	patterns.Add(strings.Repeat("**.", 25)+"b", 2)
	patterns.Add(strings.Repeat("**.*.", 25)+"**", 3)
	if got := patterns.AppendMatches(nil, strings.Repeat("a.", 99)+"a"); !slices.Equal(got, []int{3}) {
		t.Errorf("got %v", got)
	}
}

func FuzzPatternsFindWhatMatches(f *testing.F) {
	f.Add("a.**.b **.*.** a.*", "a.x.y.b")
	f.Add("** ** **.**", "a.b.c")
	f.Add("**.a.**.a.** **.a.** *.a.**", "a.a.a.a.a")
	f.Fuzz(func(t *testing.T, list, name string) {
		var patterns names.Patterns[int]
		var want []int
		all := slices.DeleteFunc(strings.Fields(list), func(p string) bool { return names.PatternFault(p) != "" })
		if names.Fault(name) != "" {
			return
		}
		for i, p := range all {
			patterns.Add(p, i)
			if i%3 != 2 && names.Match(p, name) {
				want = append(want, i)
			}
		}
		for i, p := range all {
			if i%3 == 2 {
				patterns.Remove(p, i)
			}
		}
		got := patterns.AppendMatches(nil, name)
		slices.Sort(got)
		if !slices.Equal(got, want) {
			t.Fatalf("%q is taken by %v of %q, want %v", name, got, all, want)
		}
	})
}

func BenchmarkPatterns(b *testing.B) {
	var patterns names.Patterns[int]
	for i := range 10_000 {
		patterns.Add(fmt.Sprintf("room-%d.*", i), i)
	}
	patterns.Add("**.closed", -1)
	var values []int
	b.ReportAllocs()
	for b.Loop() {
		values = patterns.AppendMatches(values[:0], "room-4711.opened")
	}
	if len(values) != 1 {
		b.Fatal(values)
	}
}
