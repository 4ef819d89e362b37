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
)

// written is the Go type that comes of the params.
func written(t testing.TB, params string) string {
	t.Helper()
	in, err := fastestvalidator.Schema(json.RawMessage(params))
	if err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	if err := gofile.Write(&out, api.API{Actions: []api.Action{{Name: "a.b", In: in}}}, "x"); err != nil {
		t.Fatal(err)
	}
	return strings.Join(strings.Fields(out.String()), " ")
}

func TestParamsBecomeGoTypesWithTheirRules(t *testing.T) {
	for params, want := range map[string]string{
		`{"id":"number"}`: "ID float64 `json:\"id\"`",
		`{"id":"number|integer|positive|min:1|max:9"}`:                                        "ID int64 `json:\"id\" validate:\"min=1,max=9,gt=0\"`",
		`{"id":{"type":"number","integer":true,"convert":true,"optional":true,"max":5}}`:      "ID *int64 `json:\"id\" validate:\"omitempty,max=5\"`",
		`{"name":"string|min:3|max:255"}`:                                                     "Name string `json:\"name\" validate:\"min=3,max=255\"`",
		`{"name":{"type":"string","empty":false,"trim":true,"description":"who it is"}}`:      "// who it is Name string `json:\"name\" validate:\"min=1\"`",
		`{"mail":"email|optional"}`:                                                           "Mail *string `json:\"mail\" validate:\"omitempty,email\"`",
		`{"page":{"type":"number","integer":true,"default":1}}`:                               "Page int64 `json:\"page\" default:\"1\"`",
		`{"on":"boolean|default:true"}`:                                                       "On bool `json:\"on\" default:\"true\"`",
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
		`{"$$root":true,"type":"array","items":"number"}`:                                     "sabir.NewAction[[]float64, sabir.Empty]",
		`{}`:   "sabir.NewAction[struct{}, sabir.Empty]",
		`null`: "sabir.NewAction[any, sabir.Empty]",
	} {
		if got := written(t, params); !strings.Contains(got, want) {
			t.Errorf("%s is\n%s\nwant\n%s", params, got, want)
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
		var out bytes.Buffer
		if err := gofile.Write(&out, api.API{Actions: []api.Action{{Name: "a.b", In: in}}}, "x"); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
		if _, err := format.Source(out.Bytes()); err != nil {
			t.Fatalf("%s: %v", params, err)
		}
	})
}
