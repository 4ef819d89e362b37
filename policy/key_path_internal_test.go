package policy

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/go-json-experiment/json/jsontext"

	sabirjson "github.com/sabir-go/sabir/codec/json"
)

type (
	keyed struct {
		ID string `json:"id"`
	}
	keyedToo    struct{ keyed }
	hiddenUnder struct { // JSON fills User from "id", and nothing of keyed
		keyed
		User string `json:"id"`
	}
	untaggedBeside struct {
		keyed
		Other string `json:"other"`
		ID    string // named "ID": another name than keyed's
	}
	taggedName struct {
		Id string `json:"name"`
	}
	plainName  struct{ name, Name string }
	taggedWins struct { // at one depth the field whose tag gave the name
		plainName  `json:""`
		taggedName `json:""`
		Named      struct{ Name string } `json:"named"`
	}
	Behind struct {
		ID string `json:"id"`
	}
	behindPointer struct {
		*Behind
		User string `json:"user"`
	}
	deeperPointer struct {
		*behindPointer
		Name string `json:"name"`
	}
	namedEmbedding struct {
		Behind `json:"who"`
		ID     string `json:"id"`
	}
	selfEmbedding struct {
		*selfEmbedding
		ID string `json:"id"`
	}
	dashed struct {
		ID   string `json:"-,omitempty"`
		Skip string `json:"-"`
	}
	dotted struct {
		Who  string `json:"who.id"`
		Deep struct {
			At string `json:"at.x"`
		} `json:"deep"`
	}
	optional struct {
		ID string `json:"id,omitempty,omitzero"`
	}
	dissolving struct {
		Who  Behind         `json:",embed"`
		More map[string]any `json:",embed"`
	}
)

// The JSON codec is the judge of which field a name fills: the key follows that field, and no other.
func TestAKeyIsDrawnFromTheFieldThatJSONFills(t *testing.T) {
	type test struct {
		name, path string
		of         func(testing.TB, string, ...string) string
		a, b       string // JSON that differs at the path
		same       string // JSON that agrees with a at the path
	}
	for _, tt := range []test{
		{"embedded", "id", keyOfJSON[keyedToo], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","x":1}`},
		{"an embedded struct has a field of that name too", "id", keyOfJSON[hiddenUnder], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","other":"bob"}`},
		{"names that differ by case", "id", keyOfJSON[untaggedBeside], `{"id":"alice","ID":"x"}`, `{"id":"bob","ID":"x"}`, `{"id":"alice","ID":"y"}`},
		{"the other case", "ID", keyOfJSON[untaggedBeside], `{"id":"x","ID":"alice"}`, `{"id":"x","ID":"bob"}`, `{"id":"y","ID":"alice"}`},
		{"a field inside a named struct", "named.Name", keyOfJSON[taggedWins], `{"named":{"Name":"alice"}}`, `{"named":{"Name":"bob"}}`, `{"named":{"Name":"alice"},"Name":"x"}`},
		{"the tagged one of two at one depth", "name", keyOfJSON[taggedWins], `{"name":"alice"}`, `{"name":"bob"}`, `{"name":"alice","Name":"x"}`},
		{"an embedded pointer", "id", keyOfJSON[behindPointer], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","user":"x"}`},
		{"an embedded pointer, absent or empty", "id", keyOfJSON[behindPointer], `{"id":""}`, `{}`, `{"id":"","user":"x"}`},
		{"a named embedded struct", "who.id", keyOfJSON[namedEmbedding], `{"who":{"id":"alice"}}`, `{"who":{"id":"bob"}}`, `{"who":{"id":"alice"},"id":"x"}`},
		{"beside a named embedded struct", "id", keyOfJSON[namedEmbedding], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","who":{"id":"x"}}`},
		{"a struct that embeds itself", "id", keyOfJSON[selfEmbedding], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","x":1}`},
		{"a field named -", "-", keyOfJSON[dashed], `{"-":"alice"}`, `{"-":"bob"}`, `{"-":"alice","ID":"x"}`},
		{"a name with a dot", "who.id", keyOfJSON[dotted], `{"who.id":"alice"}`, `{"who.id":"bob"}`, `{"who.id":"alice","who":{"id":"x"}}`},
		{"a name with a dot further in", "deep.at.x", keyOfJSON[dotted], `{"deep":{"at.x":"alice"}}`, `{"deep":{"at.x":"bob"}}`, `{"deep":{"at.x":"alice"},"who.id":"x"}`},
		{"options", "id", keyOfJSON[optional], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","x":1}`},
		{"a field with the option embed", "id", keyOfJSON[dissolving], `{"id":"alice"}`, `{"id":"bob"}`, `{"id":"alice","more":1}`},
		{"what has no field, in a map with the option embed", "user", keyOfJSON[dissolving], `{"user":"alice"}`, `{"user":"bob"}`, `{"user":"alice","id":"x"}`},
		{"inside such a map", "user.id", keyOfJSON[dissolving], `{"user":{"id":"alice"}}`, `{"user":{"id":"bob"}}`, `{"user":{"id":"alice","x":1}}`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			a, b, same := tt.of(t, tt.a, tt.path), tt.of(t, tt.b, tt.path), tt.of(t, tt.same, tt.path)
			if a == b {
				t.Errorf("%s and %s have one key by %q", tt.a, tt.b, tt.path)
			}
			if a != same {
				t.Errorf("%s and %s have two keys by %q", tt.a, tt.same, tt.path)
			}
		})
	}
}

func keyOfJSON[T any](tb testing.TB, text string, paths ...string) string {
	tb.Helper()
	var v T
	if err := sabirjson.Codec.Decode([]byte(text), &v); err != nil {
		tb.Fatal(err)
	}
	k := key(tb, v, paths...)
	if k == "" {
		tb.Fatalf("%s has no key by %q", text, paths)
	}
	return k
}

// Every two of the texts differ in what lies at the path, so that none may be answered for another.
func TestValuesAtAPathAreDistinguished(t *testing.T) {
	texts := []string{`{}`, `{"m":null}`, `{"m":""}`, `{"m":0}`, `{"m":-0.5}`, `{"m":false}`, `{"m":[]}`, `{"m":[null]}`, `{"m":{}}`,
		`{"m":{"k":null}}`, `{"m":{"k":""}}`, `{"m":"{}"}`, `{"m":"\u0000"}`, `{"m":"\u0001"}`, `{"m":{"k":{"j":1}}}`, `{"m":{"k.j":1}}`}
	further := []string{`{"m":{"k":{}}}`, `{"m":{"k":{"j":null}}}`, `{"m":{"k":{"j":""}}}`, `{"m":{"k":{"j":0}}}`, `{"m":{"k":{"j":false}}}`,
		`{"m":{"k":{"j":[]}}}`, `{"m":{"k":{"j":{}}}}`, `{"m":{"k":{"j":[""]}}}`, `{"m":{"k":{"j":"\u0000"}}}`, `{"m":{"k":{"j":"null"}}}`, `{"m":{"k":{"j":"k.j"}}}`}
	strings := []string{`{}`, `{"m":{}}`, `{"m":{"k":""}}`, `{"m":{"k":"\u0000"}}`, `{"m":{"k":"\u0001"}}`, `{"m":{"k":"."}}`}
	type inAny struct {
		M any `json:"m"`
	}
	type inMap struct {
		M map[string]any `json:"m"`
	}
	type inMaps struct {
		M map[string]map[string]any `json:"m"`
	}
	type inStrings struct {
		M map[string]string `json:"m"`
	}
	for _, tt := range []struct {
		name, path string
		texts      []string
		of         func(testing.TB, string, ...string) string
	}{
		{"an any, whole", "m", texts[1:], keyOfJSON[inAny]}, // to Go, and so to a handler, an any that is missing is null
		{"a map, whole", "m", texts, keyOfJSON[map[string]any]},
		{"below an any", "m.k.j", further, keyOfJSON[inAny]},
		{"below a map to any", "m.k.j", further, keyOfJSON[inMap]},
		{"below a map to maps", "m.k.j", further, keyOfJSON[inMaps]},
		{"below an input that is a map", "m.k.j", further, keyOfJSON[map[string]any]},
		{"in a map to text", "m.k", strings[1:], keyOfJSON[inStrings]},
	} {
		t.Run(tt.name, func(t *testing.T) {
			known := make(map[string]string)
			for _, text := range tt.texts {
				k := tt.of(t, text, tt.path)
				if other, taken := known[k]; taken {
					t.Errorf("%s and %s have one key by %q", other, text, tt.path)
				}
				known[k] = text
			}
		})
	}
}

func TestTwoPathsOfOneInputStayApart(t *testing.T) {
	texts := []string{`{}`, `{"a":null}`, `{"a":{}}`, `{"a":{"x":""}}`, `{"a":{"x":null}}`, `{"b":{"x":""}}`, `{"b":{"x":null}}`,
		`{"a":{"x":null},"b":{"x":null}}`, `{"a":{"x":""},"b":{"x":null}}`, `{"a":{"x":null},"b":{"x":""}}`}
	missingBoth := map[string]bool{`{}`: true, `{"a":null}`: true, `{"a":{}}`: true}
	known := make(map[string]string)
	for _, text := range texts {
		k := keyOfJSON[map[string]any](t, text, "a.x", "b.x")
		if other, taken := known[k]; taken && !(missingBoth[other] && missingBoth[text]) {
			t.Errorf("%s and %s have one key", other, text)
		}
		known[k] = text
	}
}

type filter struct {
	Tag string `json:"tag"`
}

type ownText struct{ Tag string }

func (o ownText) MarshalText() ([]byte, error)  { return []byte(o.Tag), nil }
func (o *ownText) UnmarshalText(b []byte) error { o.Tag = string(b); return nil }

type panics struct {
	Tag string `json:"tag"`
}

func (panics) MarshalJSON() ([]byte, error) { panic("MarshalJSON") }
func (*panics) UnmarshalJSON([]byte) error  { panic("UnmarshalJSON") }
func (panics) MarshalText() ([]byte, error) { panic("MarshalText") }
func (panics) String() string               { panic("String") }
func (panics) IsZero() bool                 { panic("IsZero") }

// A local caller can put any Go value into an interface.
func TestPathsIntoGoValuesInInterfaces(t *testing.T) {
	type in struct {
		Any any `json:"any"`
	}
	type named map[string]string
	for name, pair := range map[string][2]any{
		"structs":           {filter{"alice"}, filter{"bob"}},
		"pointers":          {&filter{"alice"}, &filter{"bob"}},
		"a nil pointer":     {(*filter)(nil), &filter{}},
		"typed maps":        {map[string]string{"tag": "alice"}, map[string]string{"tag": "bob"}},
		"missing and empty": {map[string]string{}, map[string]string{"tag": ""}},
		"named maps":        {named{"tag": "alice"}, named{"tag": "bob"}},
		"embedding":         {struct{ filter }{filter{"alice"}}, struct{ filter }{filter{"bob"}}},
		"one in the other":  {map[string]any{"tag": filter{"alice"}}, map[string]any{"tag": filter{"bob"}}},
	} {
		a, b := key(t, in{pair[0]}, "any.tag"), key(t, in{pair[1]}, "any.tag")
		if a == b || a == "" || b == "" {
			t.Errorf("%s: the keys are %q and %q", name, a, b)
		}
	}
	for name, v := range map[string]any{
		"a list":                           []any{map[string]any{"tag": "alice"}},
		"raw JSON":                         json.RawMessage(`{"tag":"alice"}`),
		"another raw JSON":                 jsontext.Value(`{"tag":"alice"}`),
		"bytes":                            []byte(`{"tag":"alice"}`),
		"a struct without the field":       struct{ ID string }{"alice"},
		"a type that is text":              ownText{"alice"},
		"a pointer to one":                 &ownText{"alice"},
		"a time":                           time.Unix(1, 0),
		"a type whose methods panic":       panics{"alice"},
		"a map whose names are no strings": map[int]string{1: "alice"},
		"a map whose names are texts":      map[ownName]string{"tag": "alice"},
		"a function":                       func() {},
	} {
		if k := key(t, in{v}, "any.tag"); k != "" {
			t.Errorf("%s has the key %q, which is that of every other", name, k)
		}
	}
}

type ownName string

func (n ownName) MarshalText() ([]byte, error) { return []byte("x" + n), nil }
func (n *ownName) UnmarshalText(b []byte) error {
	*n = ownName(strings.TrimPrefix(string(b), "x"))
	return nil
}

func TestNoMethodOfAnInputIsCalled(t *testing.T) {
	type in struct {
		P   panics `json:"p"`
		Any any    `json:"any"`
	}
	a, b := key(t, in{panics{"alice"}, panics{"x"}}), key(t, in{panics{"bob"}, panics{"x"}})
	if a == b || a == "" {
		t.Errorf("the keys are %q and %q", a, b)
	}
	if key(t, in{P: panics{"alice"}}, "p") == key(t, in{P: panics{"bob"}}, "p") {
		t.Error("alice and bob have one key")
	}
}

func TestPathsThatCannotBeResolvedAreRefused(t *testing.T) {
	type twins struct {
		A struct {
			B string `json:"b"`
		} `json:"a"`
		Dotted string `json:"a.b"`
	}
	type shopMetadata struct {
		Tenant string `json:"#tenant"`
	}
	type one struct{ ID string }
	type other struct{ ID string }
	type ambiguous struct {
		one
		other
	}
	type endless *endless
	for _, tt := range []struct {
		in         reflect.Type
		path, want string
	}{
		{reflect.TypeFor[twins](), "a.b", `may mean the field "a" or the field "a.b"`},
		{reflect.TypeFor[shopMetadata](), "#tenant", "may mean the metadata or the field Tenant"},
		{reflect.TypeFor[ambiguous](), "ID", `no field "ID"; it has none`},
		{reflect.TypeFor[hiddenUnder](), "keyed", `no field "keyed"; it has id`},
		{reflect.TypeFor[panics](), "tag", "reads its JSON by a method of its own"},
		{reflect.TypeFor[time.Time](), "wall", "reads its JSON by a method of its own"},
		{reflect.TypeFor[struct{ time.Time }](), "Time", "reads its JSON by a method of its own"},
		{reflect.TypeFor[json.RawMessage](), "id", "reads its JSON by a method of its own"},
		{reflect.TypeFor[map[ownName]string](), "tag", `no "tag" in a map`},
		{reflect.TypeFor[map[int]string](), "1", `no "1" in a map`},
		{reflect.TypeFor[map[string]string](), "m.k", `no "k" in a string`},
		{reflect.TypeFor[dashed](), "Skip", `no field "Skip"; it has -`},
		{reflect.TypeFor[endless](), "id", `no "id" in a`},
		{reflect.TypeFor[keyed](), "", "a step without a name"},
		{reflect.TypeFor[keyed](), "id.", "a step without a name"},
		{reflect.TypeFor[map[string]any](), "m..k", "a step without a name"},
	} {
		if _, err := compileKey(tt.in, []string{tt.path}); err == nil || !strings.Contains(err.Error(), tt.want) {
			t.Errorf("%v, %q: got %v, want %s", tt.in, tt.path, err, tt.want)
		}
	}
}
