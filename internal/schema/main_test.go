package schema_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	codec "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/schema"
	"github.com/sabir-go/sabir/validate"
	_ "github.com/sabir-go/sabir/validate/playground" // so that each rule can be compared
)

// independent is a schema as an independent implementation of JSON Schema has it, which holds it against the meta-schema of
// draft 2020-12 and looks at formats too.
type independent struct {
	t        *testing.T
	compiled *jsonschema.Schema
	text     string
}

// document is a schema with the types that it refers to.
func document(t *testing.T, s *schema.Schema, defs map[string]*schema.Schema) string {
	t.Helper()
	text, err := json.Marshal(struct {
		Draft string                    `json:"$schema"`
		AllOf []*schema.Schema          `json:"allOf"`
		Defs  map[string]*schema.Schema `json:"$defs"`
	}{"https://json-schema.org/draft/2020-12/schema", []*schema.Schema{s}, defs})
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func compile(t *testing.T, text string) independent {
	t.Helper()
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	c := jsonschema.NewCompiler()
	c.AssertFormat()
	if err := c.AddResource("mem:///types.json", doc); err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	compiled, err := c.Compile("mem:///types.json")
	if err != nil {
		t.Fatalf("%v: %s", err, text)
	}
	return independent{t, compiled, text}
}

func (i independent) accepts(text string) bool {
	i.t.Helper()
	value, err := jsonschema.UnmarshalJSON(bytes.NewReader([]byte(text)))
	if err != nil {
		i.t.Fatalf("%v: %s", err, text)
	}
	return i.compiled.Validate(value) == nil
}

// schemaOf is a type's schema on one side.
func schemaOf(t *testing.T, typ reflect.Type, side schema.Side) independent {
	t.Helper()
	var set schema.Set
	s, err := set.Of(typ, side)
	if err != nil {
		t.Fatal(err)
	}
	return compile(t, document(t, s, set.Defs))
}

// checker is the validator that nodes use. A document is valid where the codec and the validator accept it, after defaults are set.
var checker = validate.New()

func checkerAccepts(typ reflect.Type, text string) bool {
	v := reflect.New(typ)
	if codec.Codec.Decode([]byte(text), v.Interface()) != nil {
		return false
	}
	plan, err := checker.Compile(typ)
	if err != nil {
		return false
	}
	plan.SetDefaults(v.UnsafePointer())
	return plan.Check(v.UnsafePointer()) == nil
}

// one describes a type as an input alone, and gives its JSON with the named types beside it.
func one[T any](t *testing.T, side schema.Side) (s *schema.Schema, set *schema.Set) {
	t.Helper()
	set = new(schema.Set)
	s, err := set.Of(reflect.TypeFor[T](), side)
	if err != nil {
		t.Fatal(err)
	}
	return s, set
}

func wantJSON(t *testing.T, got any, want string) {
	t.Helper()
	text, err := json.Marshal(got)
	if err != nil {
		t.Fatal(err)
	}
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}
