package codectest_test

import (
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/codectest"
)

type sample struct {
	Number int
	List   []int
	Map    map[string]int
	To     *int
	At     time.Time
	Any    any
}

func TestDifferenceTellsWhere(t *testing.T) {
	zero, one := 0, 1
	at := time.Date(2024, 1, 2, 3, 4, 5, 6, time.UTC)
	for _, test := range []struct {
		name      string
		features  codectest.Features
		want, got sample
		place     string // "" where there is no difference
	}{
		{"the same", codectest.Features{}, sample{Number: 1, List: []int{1}, At: at}, sample{Number: 1, List: []int{1}, At: at}, ""},
		{"a number", codectest.Features{}, sample{Number: 1}, sample{Number: 2}, "value.Number"},
		{"an element", codectest.Features{}, sample{List: []int{1, 2}}, sample{List: []int{1, 3}}, "value.List[1]"},
		{"a length", codectest.Features{}, sample{List: []int{1}}, sample{List: []int{1, 0}}, "value.List"},
		{"an entry", codectest.Features{}, sample{Map: map[string]int{"a": 1}}, sample{Map: map[string]int{"a": 2}}, "value.Map[a]"},
		{"another key", codectest.Features{}, sample{Map: map[string]int{"a": 1}}, sample{Map: map[string]int{"b": 1}}, "value.Map[a]"},
		{"empty for nil", codectest.Features{}, sample{}, sample{List: []int{}}, ""},
		{"empty for nil where nil is kept", codectest.Features{KeepsNil: true}, sample{}, sample{List: []int{}}, "value.List"},
		{"a pointer lost", codectest.Features{}, sample{To: &zero}, sample{}, "value.To"},
		{"a pointer to zero lost where it may be", codectest.Features{ZeroPointersAreNil: true}, sample{To: &zero}, sample{}, ""},
		{"a pointer to one lost where none may be", codectest.Features{ZeroPointersAreNil: true}, sample{To: &one}, sample{}, "value.To"},
		{"a nanosecond", codectest.Features{}, sample{At: at}, sample{At: at.Add(1)}, "value.At"},
		{"a rounded time", codectest.Features{TimeUnit: time.Millisecond}, sample{At: at}, sample{At: at.Truncate(time.Millisecond)}, ""},
		{"another zone", codectest.Features{}, sample{At: at}, sample{At: at.In(time.FixedZone("", 3600))}, ""},
		{"another kind of number in an any", codectest.Features{}, sample{Any: int64(1)}, sample{Any: 1.0}, ""},
		{"another number in an any", codectest.Features{}, sample{Any: int64(1)}, sample{Any: 2.0}, "value.Any"},
		{"text for a number in an any", codectest.Features{}, sample{Any: int64(1)}, sample{Any: "1"}, "value.Any"},
	} {
		text := test.features.Difference(test.want, test.got)
		if (text == "") != (test.place == "") || !strings.HasPrefix(text, test.place) {
			t.Errorf("%s: got %q, want %q", test.name, text, test.place)
		}
	}
}
