package memory

import (
	"strings"
	"testing"
)

type tree struct {
	Name  string
	Left  *tree
	Other any
	More  map[string]string
}

func TestASizeIsAboutThatOfWhatAValueHolds(t *testing.T) {
	long := strings.Repeat("x", 1000)
	check := func(what string, got, least, most int) {
		t.Helper()
		if got < least || got > most {
			t.Errorf("%s: %d bytes, want %d to %d", what, got, least, most)
		}
	}
	size := func(v any) int { return Sizer[any]()(&v) }
	if Sizer[int]() != nil || Sizer[struct{ A, B int }]() != nil || Sizer[[4]bool]() != nil {
		t.Error("types without pointers are measured")
	}
	check("a text", Sizer[string]()(&long), 1000, 1000)
	bytes := make([]byte, 500, 2000)
	check("bytes with spare capacity", Sizer[[]byte]()(&bytes), 2000, 2000)
	many := make([]string, 1000)
	for i := range many {
		many[i] = long
	}
	check("texts", Sizer[[]string]()(&many), 1000*1016, 1000*1016)
	check("no texts", Sizer[[]string]()(new([]string)), 0, 0)
	deep := &tree{Name: long, Left: &tree{Name: long, Other: long, More: map[string]string{long: long}}}
	check("a tree", Sizer[*tree]()(&deep), 5000, 5500)
	round := &tree{Name: long}
	round.Left = round
	check("a circle", Sizer[*tree]()(&round), 1000, 20_000)
	check("a document", size(map[string]any{"list": []any{long, long, map[string]any{"a": long}}}), 3000, 4000)
	check("nothing", size(nil), 0, 0)
	check("a number", size(7), 0, 16)
	check("a channel", size(make(chan int)), 0, 16)
}

func TestSizesAreMeasuredWithoutAllocations(t *testing.T) {
	type row struct {
		ID    int
		Name  string
		Tags  []string
		Inner struct{ Text []byte }
		Next  *row
	}
	v := row{Name: "a", Tags: []string{"b", "c"}, Next: &row{}}
	measure := Sizer[row]()
	if n := testing.AllocsPerRun(100, func() { measure(&v) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
}

func BenchmarkSize(b *testing.B) {
	type row struct {
		ID         int
		Name, Text string
		Tags       []string
	}
	v := row{Name: "a", Tags: []string{"b", "c"}}
	measure := Sizer[row]()
	for b.Loop() {
		measure(&v)
	}
}
