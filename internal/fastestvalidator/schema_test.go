package fastestvalidator_test

import (
	"bytes"
	"encoding/json"
	"go/format"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/fastestvalidator"
	"github.com/sabir-go/sabir/internal/gofile"
	"github.com/sabir-go/sabir/internal/schema"
)

// written is the Go type that comes of the params.
func written(t testing.TB, params string) string {
	t.Helper()
	in, err := fastestvalidator.Schema(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := gofile.WriteMoleculer(&out, api.API{Actions: []api.Action{{Name: "a.b", In: in}}}, "x"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestParamsBecomeGoTypesWithTheirRules(t *testing.T) {
	for params, want := range map[string]string{
		`{"id":"number"}`: "ID float64 `json:\"id\"`",
		`{"id":"number|integer|positive|min:1|max:9"}`:                                        "ID int64 `json:\"id\" validate:\"min=1,max=9,gt=0\"`",
		`{"id":{"type":"number","integer":true,"convert":true,"optional":true,"max":5}}`:      "ID *int64 `json:\"id,omitzero\" validate:\"omitempty,max=5\"`",
		`{"name":"string|min:3|max:255"}`:                                                     "Name string `json:\"name\" validate:\"min=3,max=255\"`",
		`{"name":{"type":"string","empty":false,"trim":true,"description":"who it is"}}`:      "// who it is Name string `json:\"name\" validate:\"min=1\"`",
		`{"mail":"email|optional"}`:                                                           "Mail *string `json:\"mail,omitzero\" validate:\"omitempty,email\"`",
		`{"page":{"type":"number","integer":true,"default":1}}`:                               "Page *int64 `json:\"page,omitzero\" default:\"1\"`",
		`{"on":"boolean|default:true"}`:                                                       "On *bool `json:\"on,omitzero\" default:\"true\"`",
		`{"at":"date"}`:                                                                       "At time.Time `json:\"at\"`",
		`{"tags":"string[]"}`:                                                                 "Tags []string `json:\"tags\"`",
		`{"tags":{"type":"array","items":"string|min:2","max":3,"unique":true}}`:              "Tags []string `json:\"tags\" validate:\"max=3,unique,dive,min=2\"`",
		`{"kind":{"type":"enum","values":["a","b"]}}`:                                         "Kind string `json:\"kind\" validate:\"oneof=a b\"`",
		`{"kind":{"type":"enum","values":["a",1]}}`:                                           "Kind any `json:\"kind\"`",
		`{"user":{"$$type":"object|optional","name":"string"}}`:                               "User *struct { Name string `json:\"name\"` } `json:\"user,omitempty\"`",
		`{"user":{"type":"object","props":{"a":{"type":"object","properties":{"b":"any"}}}}}`: "User struct { A struct { B any `json:\"b\"` } `json:\"a\"` } `json:\"user\"`",
		`{"more":{"type":"record","key":"string","value":"number"}}`:                          "More map[string]float64 `json:\"more\"`",
		`{"more":"object"}`:                                                                   "More map[string]any `json:\"more\"`",
		`{"either":["string","number"]}`:                                                      "Either any `json:\"either\"`",
		`{"either":["string"],"none":"forbidden","$$strict":true}`:                            "type ABInput struct { Either string `json:\"either\"` }",
		`{"odd":7,"fn":{"type":"custom"},"t":{"type":"tuple","items":["string","number"]}}`:   "Fn any `json:\"fn\"` Odd any `json:\"odd\"` T []any `json:\"t\"`",
		`{"tags":{"type":"array","items":"string","min":1,"optional":true}}`:                  "Tags []string `json:\"tags,omitzero\" validate:\"omitempty,min=1\"`",
		`{"more":{"type":"record","key":"string","value":"number","optional":true}}`:          "More map[string]float64 `json:\"more,omitzero\"`",
		`{"any":"any|optional"}`:                                                              "Any any `json:\"any,omitzero\"`",
		`{"$$root":true,"type":"array","items":"number"}`:                                     "sabir.NewAction[[]float64, sabir.Empty]",
		`{}`:   "sabir.NewAction[struct{}, sabir.Empty]",
		`null`: "sabir.NewAction[any, sabir.Empty]",
	} {
		if got := written(t, params); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", params, got, want)
		}
	}
}

func TestParamsBecomeJSONSchemasWithTheirRules(t *testing.T) {
	for params, want := range map[string]string{
		`{"id":"number|integer|positive|max:9"}`:                                  `{"type":"integer","format":"int64","maximum":9,"exclusiveMinimum":0,"x-validate":"max=9,gt=0"}`,
		`{"id":{"type":"number","equal":5}}`:                                      `{"type":"number","const":5,"x-validate":"eq=5"}`,
		`{"id":"number|negative|notEqual:-3"}`:                                    `{"type":"number","not":{"const":-3},"exclusiveMaximum":0,"x-validate":"ne=-3,lt=0"}`,
		`{"id":"string|min:3|max:255"}`:                                           `{"type":"string","minLength":3,"maxLength":255,"x-validate":"min=3,max=255"}`,
		`{"id":{"type":"string","empty":false,"pattern":"^a+$"}}`:                 `{"type":"string","minLength":1,"pattern":"^a+$","x-validate":"min=1"}`,
		`{"id":{"type":"string","pattern":"^(?=a)"}}`:                             `{"type":"string"}`,
		`{"id":{"type":"string","pattern":"^a","patternFlags":"i"}}`:              `{"type":"string"}`,
		`{"id":"string|length:4|alpha"}`:                                          `{"type":"string","minLength":4,"maxLength":4,"pattern":"^[a-zA-Z]+$","x-validate":"len=4,alpha"}`,
		`{"id":"url"}`:                                                            `{"type":"string","format":"uri","x-validate":"url"}`,
		`{"id":{"type":"array","items":"string|min:2","min":1,"unique":true}}`:    `{"type":"array","items":{"type":"string","minLength":2},"minItems":1,"uniqueItems":true,"x-validate":"min=1,unique,dive,min=2"}`,
		`{"id":{"type":"enum","values":["a",1,true]}}`:                            `{"enum":["a",1,true]}`,
		`{"id":{"type":"enum","values":["in stock","sold"],"nullable":true}}`:     `{"type":["string","null"],"enum":["in stock","sold",null]}`,
		`{"id":["string","number|min:1"]}`:                                        `{"anyOf":[{"type":"string"},{"type":"number","minimum":1}]}`,
		`{"id":{"type":"multi","rules":["boolean","any"]}}`:                       `{}`,
		`{"id":{"type":"tuple","items":["string","number"]}}`:                     `{"type":"array","minItems":2,"maxItems":2}`,
		`{"id":{"type":"string","min":-1,"max":1.5}}`:                             `{"type":"string","x-validate":"min=-1,max=1.5"}`,
		`{"id":{"type":"object","props":{"a":"boolean|optional"},"strict":true}}`: `{"type":"object","properties":{"a":{"type":["boolean","null"]}}}`,
	} {
		in, err := fastestvalidator.Schema(json.RawMessage(params))
		if err != nil {
			t.Fatal(err)
		}
		got, err := json.Marshal(in.Properties[0].Schema)
		if err != nil || string(got) != want {
			t.Errorf("%s is\n%s, %v\nwant\n%s", params, got, err, want)
		}
	}
}

func FuzzSchema(f *testing.F) {
	f.Add([]byte(`{"id":"number|integer|positive","tags":{"type":"array","items":"string|min:2"},"user":{"$$type":"object|optional","name":"string"},"x":["string",{"type":"date"}]}`))
	f.Fuzz(func(t *testing.T, params []byte) {
		in, err := fastestvalidator.Schema(params)
		if err != nil {
			return
		}
		if text, err := json.Marshal(in); err != nil || json.Unmarshal(text, new(schema.Schema)) != nil {
			t.Fatalf("%s: %s, %v", params, text, err)
		}
		var out bytes.Buffer
		if err := gofile.WriteMoleculer(&out, api.API{Actions: []api.Action{{Name: "a.b", In: in}}}, "x"); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
		if _, err := format.Source(out.Bytes()); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
	})
}
