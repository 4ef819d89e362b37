package json

import (
	"bytes"
	stdjson "encoding/json"
	"strings"
	"testing"
)

// depthByTokens counts the levels of valid JSON with the tokens of encoding/json, and so shares no code with tooDeep.
func depthByTokens(t *testing.T, text []byte) int {
	depth, deepest := 0, 0
	tokens := stdjson.NewDecoder(bytes.NewReader(text))
	tokens.UseNumber()
	for tokens.More() {
		token, err := tokens.Token()
		if err != nil {
			t.Fatal(err)
		}
		switch token {
		case stdjson.Delim('['), stdjson.Delim('{'):
			depth++
			deepest = max(deepest, depth)
		case stdjson.Delim(']'), stdjson.Delim('}'):
			depth--
		}
		for depth > 0 && !tokens.More() { // More is false at a closing bracket
			if _, err := tokens.Token(); err != nil {
				t.Fatal(err)
			}
			depth--
		}
	}
	return deepest
}

// For valid JSON, tooDeep finds exactly the limits that the text exceeds.
func FuzzDepthIsExact(f *testing.F) {
	for _, seed := range []string{`1`, `[]`, `[[1],{"a":[]}]`, `["\\",[["\"]"]]]`, `{"[{":"}]","a":{"b":[0]}}`, `[{},[{},[]],"\\\""]`} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		if !stdjson.Valid(text) {
			return
		}
		depth := depthByTokens(t, text)
		if at := tooDeep(text, depth); at != -1 {
			t.Errorf("%d levels: tooDeep found more, at %d", depth, at)
		}
		if depth == 0 {
			return
		}
		if at := tooDeep(text, depth-1); at < 0 || text[at] != '[' && text[at] != '{' {
			t.Errorf("%d levels: with a limit of one less tooDeep gave %d", depth, at)
		}
	})
}

var deepSink int

func BenchmarkDepthCheck(b *testing.B) {
	one := `{"id":"u-123","name":"Ada Lovelace","email":"ada@example.com","age":36,"roles":["admin","user"],"tags":{"a":"1"}}`
	for _, bb := range []struct{ name, text string }{
		{"one object", one},
		{"list of 1000", "[" + strings.Repeat(one+",", 999) + one + "]"},
	} {
		b.Run(bb.name, func(b *testing.B) {
			data := []byte(bb.text)
			b.SetBytes(int64(len(data)))
			for b.Loop() {
				deepSink = tooDeep(data, defaultMaxDepth)
			}
		})
	}
}
