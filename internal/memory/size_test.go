package memory

import (
	"reflect"
	"strings"
	"testing"

	"google.golang.org/protobuf/types/known/wrapperspb"
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
	check("a text of a type that is known only now", SizerOf(reflect.TypeFor[string]())(&long), 1000, 1000)
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

// A value from which many ways lead to each other holds up nobody: without a bound the measure of this one takes 16^16 steps.
func TestWhatIsTangledIsMeasuredInBoundedTime(t *testing.T) {
	type knot struct{ to []*knot }
	knots := make([]*knot, 16)
	for i := range knots {
		knots[i] = &knot{to: knots}
	}
	if got := Sizer[*knot]()(&knots[0]); got < 16*8 || got > maxLooks*(16*8+24)+maxLooks {
		t.Errorf("got %d", got)
	}
}

func TestAGeneratedMessageHoldsItsFields(t *testing.T) {
	m := wrapperspb.String("a text of 25 letters here")
	m.ProtoReflect() // which ties it to the description of its type
	if got := Sizer[*wrapperspb.StringValue]()(&m); got < 25 || got > 200 {
		t.Errorf("got %d", got)
	}
}
