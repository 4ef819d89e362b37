package json_test

import (
	stdjson "encoding/json"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/codec/json"
)

type node struct {
	Next *node   `json:"next"`
	List []*node `json:"list"`
}

// recursing reads its text with encoding/json, so only this codec's check keeps it from going deep.
type recursing struct{ v any }

func (r *recursing) UnmarshalJSON(data []byte) error { return stdjson.Unmarshal(data, &r.v) }

func nested(open, inner, closing string, levels int) string {
	return strings.Repeat(open, levels) + inner + strings.Repeat(closing, levels)
}

func TestNestingIsBoundedForEveryTarget(t *testing.T) {
	type holder struct {
		Custom recursing          `json:"custom"`
		Raw    stdjson.RawMessage `json:"raw"`
	}
	tests := []struct {
		name   string
		target func() any
		text   func(levels int) string
	}{
		{"any, arrays", func() any { return new(any) }, func(n int) string { return nested("[", "", "]", n) }},
		{"any, objects", func() any { return new(any) }, func(n int) string { return nested(`{"a":`, "1", "}", n) }},
		{"struct", func() any { return new(node) }, func(n int) string { return nested(`{"next":`, "null", "}", n) }},
		{"skipped member", func() any { return new(node) }, func(n int) string { return `{"x":` + nested("[", "", "]", n-1) + "}" }},
		{"own UnmarshalJSON", func() any { return new(holder) }, func(n int) string { return `{"custom":` + nested("[", "", "]", n-1) + "}" }},
		{"raw message", func() any { return new(holder) }, func(n int) string { return `{"raw":` + nested("[", "", "]", n-1) + "}" }},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if err := json.Codec.Decode([]byte(tt.text(128)), tt.target()); err != nil {
				t.Errorf("at the limit: %v", err)
			}
			for _, levels := range []int{128 + 1, 9_000, 1_000_000} {
				err := json.Codec.Decode([]byte(tt.text(levels)), tt.target())
				if err == nil || !strings.Contains(err.Error(), "nested deeper than the limit of 128 levels") {
					t.Errorf("%d levels: %v", levels, err)
				}
			}
		})
	}
}

func TestNestingIsBoundedWhenTheTextNeverCloses(t *testing.T) {
	err := json.Codec.Decode([]byte(strings.Repeat("[", 1_000_000)), new(any))
	want := "json: nested deeper than the limit of 128 levels (offset 128)"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestManyBracketsSideBySideAreNotDeep(t *testing.T) {
	text := "[" + strings.Repeat(`[[]],{"a":{}},`, 1000) + "1]"
	if err := json.Codec.Decode([]byte(text), new(any)); err != nil {
		t.Error(err)
	}
}

func TestBracketsInStringsAreNotNesting(t *testing.T) {
	brackets := strings.Repeat("[{", 500)
	for _, text := range []string{
		`"` + brackets + `"`,
		`{"` + brackets + `":"` + brackets + `"}`,
		`["\"` + brackets + `","\\","` + brackets + `\\\"` + brackets + `"]`,
	} {
		if err := json.Codec.Decode([]byte(text), new(any)); err != nil {
			t.Errorf("%.40s…: %v", text, err)
		}
	}
}

// A quote that an escape only seems to close must not hide nesting behind it.
func TestNestingAfterStringsIsStillCounted(t *testing.T) {
	for _, first := range []string{`"\\"`, `"\\\""`, `"\u005b\""`, `"]]]]"`} {
		text := "[" + first + "," + nested("[", "", "]", 128) + "]"
		if err := json.Codec.Decode([]byte(text), new(any)); err == nil || !strings.Contains(err.Error(), "nested deeper") {
			t.Errorf("after %s: %v", first, err)
		}
	}
}

// Closing brackets without opening ones make the count negative; the library must stop at them.
func TestStrayClosingBracketsDoNotEarnDepth(t *testing.T) {
	text := strings.Repeat("]", 500) + nested("[", "", "]", 400)
	if err := json.Codec.Decode([]byte(text), new(any)); err == nil || !strings.Contains(err.Error(), "invalid character ']'") {
		t.Errorf("got %v", err)
	}
}

func TestMaxDepthSetsTheLimit(t *testing.T) {
	c := json.New(json.Config{MaxDepth: 2})
	if err := c.Decode([]byte(`[[1]]`), new(any)); err != nil {
		t.Errorf("two levels: %v", err)
	}
	if err := c.Decode([]byte(`[[[1]]]`), new(any)); err == nil {
		t.Error("three levels were accepted")
	}
	deep := json.New(json.Config{MaxDepth: 1000})
	if err := deep.Decode([]byte(nested("[", "", "]", 1000)), new(any)); err != nil {
		t.Errorf("thousand levels: %v", err)
	}
}

func TestMaxDepthPanicsOutOfItsRange(t *testing.T) {
	for _, levels := range []int{-1, 10_001} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("MaxDepth(%d) did not panic", levels)
				}
			}()
			json.New(json.Config{MaxDepth: levels})
		}()
	}
}

func TestAppendRefusesWhatDecodeWouldFindTooDeep(t *testing.T) {
	chain := func(levels int) *node {
		var n *node
		for range levels {
			n = &node{Next: n, List: []*node{}}
		}
		return n
	}
	// The list in the innermost node is one level more.
	if _, err := json.Codec.Append(nil, chain(128-1)); err != nil {
		t.Errorf("at the limit: %v", err)
	}
	dst := []byte("abc")
	got, err := json.Codec.Append(dst, chain(128+1))
	if err == nil || err.Error() != "json: nested deeper than the limit of 128 levels" {
		t.Errorf("over the limit: %v", err)
	}
	if string(got) != "abc" {
		t.Errorf("got %q, want dst", got)
	}
}
