package schema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	codec "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/schema"
)

func TestASchemaIsReadBackAsItWas(t *testing.T) {
	types := []reflect.Type{reflect.TypeFor[Order](), reflect.TypeFor[Page[User]](), reflect.TypeFor[Tree](), reflect.TypeFor[Grade]()}
	for _, c := range verdicts {
		types = append(types, c.typ)
	}
	for _, typ := range types {
		for _, side := range []schema.Side{schema.Input, schema.Output} {
			d := schema.Described{}
			var set schema.Set
			var err error
			if d.In, err = set.Of(typ, side); err != nil {
				t.Fatal(err)
			}
			d.Defs = set.Defs
			text, err := json.Marshal(d)
			if err != nil {
				t.Fatal(err)
			}
			var again schema.Described
			if err := json.Unmarshal(text, &again); err != nil {
				t.Fatalf("%v: %s", err, text)
			}
			if second, _ := json.Marshal(again); !bytes.Equal(text, second) {
				t.Errorf("%v: wrote\n%s\nand read\n%s", typ, text, second)
			}
			own, err := codec.Codec.Append(nil, d)
			if err != nil || !bytes.Equal(own, text) {
				t.Errorf("%v: the codec writes %s (%v), encoding/json\n%s", typ, own, err, text)
			}
			var decoded schema.Described
			if err := codec.Codec.Decode(own, &decoded); err != nil || !reflect.DeepEqual(decoded, again) {
				t.Errorf("%v: the codec reads %+v (%v)", typ, decoded, err)
			}
		}
	}
}

func TestEveryKeywordIsReadBack(t *testing.T) {
	const all = `{"$ref":"#/$defs/A","type":["string","null"],"format":"f","title":"t","description":"d","enum":["a",1.50,null,{"b":[18446744073709551615]}],` +
		`"const":9223372036854775807,"default":false,"examples":[[1]],"anyOf":[{}],"allOf":[{"type":"string"}],"not":{},` +
		`"properties":{"z":{},"a":{},"m":{"properties":{"y":{},"b":{}}}},"required":["z"],"additionalProperties":{},"propertyNames":{"pattern":"a"},` +
		`"minProperties":1,"maxProperties":2,"items":{},"minItems":3,"maxItems":4,"uniqueItems":true,"minLength":5,"maxLength":6,"pattern":"p",` +
		`"contentEncoding":"base64","minimum":-1,"maximum":1e400,"exclusiveMinimum":0.10,"exclusiveMaximum":18446744073709551616,` +
		`"deprecated":true,"writeOnly":true,"x-rules":["r"],"x-validate":"t","x-protobuf":7,"x-protobuf-type":"p","x-protobuf-fields":{"q":{},"c":{}},"x-go-type":"g"}`
	var s schema.Schema
	if err := json.Unmarshal([]byte(all), &s); err != nil {
		t.Fatal(err)
	}
	for f, v := range reflect.ValueOf(s).Fields() {
		if v.IsZero() {
			t.Errorf("%s was not read", f.Name)
		}
	}
	wantJSON(t, s, all)
}

func TestReadingASchema(t *testing.T) {
	for text, want := range map[string]string{
		`true`:  `{}`,
		`false`: `{"not":{}}`,
		`{}`:    `{}`,
		`{"type":"string","$id":"x","if":{"a":[1,{}]}}`: `{"type":"string"}`,
		`{"additionalProperties":false}`:                `{"additionalProperties":{"not":{}}}`,
		`{"minLength":0}`:                               `{"minLength":0}`,
	} {
		var s schema.Schema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Errorf("%s: %v", text, err)
			continue
		}
		wantJSON(t, s, want)
	}
}

func TestAWrongKeywordIsRefused(t *testing.T) {
	for _, text := range []string{
		`1`, `"x"`, `[]`, `{"type":1}`, `{"type":[1]}`, `{"minLength":-1}`, `{"minLength":1.5}`, `{"minLength":"1"}`, `{"minimum":"1"}`, `{"required":"a"}`,
		`{"required":[1]}`, `{"properties":[]}`, `{"properties":{"a":1}}`, `{"anyOf":{}}`, `{"anyOf":[1]}`, `{"enum":{}}`, `{"uniqueItems":1}`, `{"pattern":[]}`,
		`{"$ref":{}}`, `{"items":[]}`, `{"description":null}`,
	} {
		var s schema.Schema
		if err := json.Unmarshal([]byte(text), &s); err == nil {
			t.Errorf("%s was read as %+v", text, s)
		}
	}
}

func TestSchemasNestedTooDeepAreRefused(t *testing.T) {
	nested := func(n int) []byte { return []byte(strings.Repeat(`{"items":`, n) + `{}` + strings.Repeat(`}`, n)) }
	var s schema.Schema
	if err := s.UnmarshalJSON(nested(schema.MaxDepth - 1)); err != nil {
		t.Errorf("%d deep: %v", schema.MaxDepth, err)
	}
	if err := s.UnmarshalJSON(nested(schema.MaxDepth)); err == nil || !strings.Contains(err.Error(), "128 deep") {
		t.Errorf("%d deep: got the error %v", schema.MaxDepth+1, err)
	}
}

func TestANumberThatIsNoneIsNotWritten(t *testing.T) {
	for _, digits := range []schema.Number{"", "x", "01", "1.", "NaN", "1}"} {
		if text, err := json.Marshal(digits); err == nil {
			t.Errorf("%q was written as %s", digits, text)
		}
	}
}

func TestNullable(t *testing.T) {
	for text, want := range map[string]string{
		`{"type":["string","null"],"enum":["a",null]}`:                `{"type":"string","enum":["a"]}`,
		`{"anyOf":[{"$ref":"#/$defs/A"},{"type":"null"}]}`:            `{"$ref":"#/$defs/A"}`,
		`{"title":"x","anyOf":[{"minimum":1},{},{"type":"null"}]}`:    `{"title":"x","anyOf":[{"minimum":1},{}]}`,
		`{"type":"string","anyOf":[{"const":""},{"format":"email"}]}`: ``,
		`{"type":"null"}`:      ``,
		`{"$ref":"#/$defs/A"}`: ``,
	} {
		var s schema.Schema
		if err := json.Unmarshal([]byte(text), &s); err != nil {
			t.Fatal(err)
		}
		rest, nullable := s.Nullable()
		if nullable != (want != "") {
			t.Errorf("%s: nullable is %v", text, nullable)
		}
		if !nullable {
			want = text
		}
		wantJSON(t, rest, want)
		wantJSON(t, s, text)
	}
}

func TestACloneSharesNoSchema(t *testing.T) {
	_, set := one[Order](t, schema.Input)
	for name, s := range set.Defs {
		before, _ := json.Marshal(s)
		c := s.Clone()
		if !reflect.DeepEqual(c, s) {
			t.Errorf("the clone of %s is another schema", name)
		}
		for inner := range c.All() {
			inner.Ref, inner.Description = "gone", "gone"
		}
		if after, _ := json.Marshal(s); !bytes.Equal(before, after) {
			t.Errorf("a change of the clone of %s changed %s into %s", name, before, after)
		}
	}
}

func FuzzSchema(f *testing.F) {
	for _, text := range []string{`{"type":["string","null"],"properties":{"a":{"enum":[1,null]}},"minimum":1e400}`, `true`, `{"anyOf":[{"not":false}],"items":{}}`, `{"x":[{}],"const":null}`} {
		f.Add([]byte(text))
	}
	for _, innermost := range []string{"{}", "true", "false", `{"not":false}`} {
		for depth := schema.MaxDepth - 3; depth < schema.MaxDepth; depth++ {
			f.Add([]byte(strings.Repeat(`{"not":`, depth) + innermost + strings.Repeat("}", depth)))
		}
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		var s schema.Schema
		if err := s.UnmarshalJSON(text); err != nil {
			return
		}
		first, err := json.Marshal(s)
		if err != nil {
			t.Fatalf("%s was read and cannot be written: %v", text, err)
		}
		var again schema.Schema
		if err := json.Unmarshal(first, &again); err != nil {
			t.Fatalf("%s was written and cannot be read: %v", first, err)
		}
		if second, _ := json.Marshal(again); !bytes.Equal(first, second) {
			t.Fatalf("wrote %s, then %s", first, second)
		}
		for inner := range s.Clone().All() {
			inner.Nullable()
		}
	})
}
