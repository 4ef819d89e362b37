package route_test

import (
	"encoding/json"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	sabirjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/route"
)

type (
	color  string
	octets []octet
	octet  byte
	level  int8
	point  struct{ X, Y int }
	halves float32
)

// grade is a word in JSON and a number in Go.
type grade int

func (g grade) MarshalText() ([]byte, error) { return []byte{'A' + byte(g)}, nil }
func (g *grade) UnmarshalText(text []byte) error {
	if len(text) == 1 {
		*g = grade(text[0] - 'A')
	}
	return nil
}

type page struct {
	Page int `json:"page" validate:"min=1"`
	Size int `json:"size,omitempty" validate:"required,max=100"`
}

type user struct {
	ID     uint64 `json:"id"`
	Name   string `json:"name"`
	Tenant string `json:"tenant" header:"X-Tenant"`
	Token  string `json:"token" cookie:"session" sabir:"secret"`
	Dry    bool   `json:"dry" query:"dry-run"`
}

func in[T any]() reflect.Type { return reflect.TypeFor[T]() }

func TestWhereTheFieldsOfAnInputComeFrom(t *testing.T) {
	for _, c := range []struct {
		name, method, pattern string
		in                    reflect.Type
		want                  string // source:name>field kind, in order
	}{
		{"no input", "GET", "/health", nil, ""},
		{"an empty struct", "POST", "/health", in[struct{}](), ""},
		{"by JSON name, query for the rest", "GET", "/users/{id}", in[struct {
			ID  int `json:"id"`
			Max *int32
		}](), "path:id>id integer!; query:Max>Max integer"},
		{"by JSON name, body for the rest", "PUT", "/users/{id}", in[user](),
			"path:id>id integer!; header:X-Tenant>tenant text; cookie:session>token text*; query:dry-run>dry boolean; body"},
		{"by tag before JSON name", "GET", "/{id}", in[struct {
			A string `json:"id"`
			B string `path:"id"`
		}](), "path:id>B text!; query:id>id text"},
		{"in the order of the path", "DELETE", "/{b}/x/{a}", in[struct {
			A string `json:"a"`
			B string `json:"b"`
		}](), "path:b>b text!; path:a>a text!"},
		{"all of it elsewhere", "POST", "/{id}", in[struct {
			ID string `json:"id"`
		}](), "path:id>id text!"},
		{"embedded structs", "GET", "/{Key}", in[struct {
			page
			Key string
		}](), "path:Key>Key text!; query:page>page integer; query:size>size integer!"},
		{"an embedded pointer", "GET", "/", in[struct{ *Paging }](), "query:Page>Page integer"},
		{"a hidden field", "GET", "/", in[struct {
			page
			Page string `json:"page"`
		}](), "query:size>size integer!; query:page>page text"},
		{"two equal fields hide each other", "GET", "/", in[struct {
			Paging
			same
			A string
		}](), "query:A>A text"},
		{"a named embedded struct is a field", "POST", "/", in[struct {
			page `json:"paging"`
		}](), "body"},
		{"an exported named embedded struct is a field", "POST", "/", in[struct {
			Shared `json:"shared"`
		}](), "body"},
		{"what JSON does not have is left out", "GET", "/", in[struct {
			Func  func() `json:"-"`
			local int
			A     string
		}](), "query:A>A text"},
		{"a pointer to a struct", "GET", "/", in[*page](), "query:page>page integer; query:size>size integer!"},
		{"a type that embeds itself", "GET", "/", in[Endless](), "query:A>A text"},
		{"the rest of the path", "GET", "/files/{path...}", in[struct {
			Path string `json:"path"`
		}](), "path:path>path text!"},
		{"a list from repeated headers", "POST", "/", in[struct {
			Tags []string `header:"X-Tag"`
		}](), "header:X-Tag>Tags text[]"},
		{"only a list's elements are required", "GET", "/", in[struct {
			IDs []int `json:"ids" validate:"dive,required"`
		}](), "query:ids>ids integer[]"},
		{"anything, with a body", "POST", "/{id}", in[any](), "path:id>id text!; body"},
		{"anything, without one", "GET", "/{id}", in[map[string]any](), "path:id>id text!; open"},
		{"raw JSON", "DELETE", "/{id}", in[json.RawMessage](), "path:id>id text!; open"},
		{"a map of text", "GET", "/", in[map[string]string](), "open"},
		{"a whole body", "POST", "/sum", in[[]int](), "body"},
		{"a whole body that is a time", "POST", "/at", in[time.Time](), "body"},
	} {
		t.Run(c.name, func(t *testing.T) {
			r, err := route.New(c.method, c.pattern, c.in)
			if err != nil {
				t.Fatal(err)
			}
			if r.Method != c.method || r.Pattern != c.pattern {
				t.Errorf("the route is %s %s", r.Method, r.Pattern)
			}
			if got := describe(r); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

type (
	same    struct{ Page int }
	Shared  struct{ A int }
	Paging  struct{ Page int }
	Endless struct {
		*Endless
		A string
	}
)

func describe(r route.Route) string {
	var parts []string
	for _, p := range r.Params {
		text := string(p.In) + ":" + p.Name + ">" + p.Field + " " + string(p.Kind)
		if p.List {
			text += "[]"
		}
		if p.Required {
			text += "!"
		}
		if p.Secret {
			text += "*"
		}
		parts = append(parts, text)
	}
	if r.Body {
		parts = append(parts, "body")
	}
	if r.Open {
		parts = append(parts, "open")
	}
	return strings.Join(parts, "; ")
}

// The JSON codec is the judge: a value of the kind must decode into the type, and one of another kind must not.
func TestTheKindOfATypeIsWhatTheJSONCodecReads(t *testing.T) {
	for _, c := range []struct {
		in   reflect.Type
		kind string
		text string // JSON of the kind that the type holds
	}{
		{in[struct{ V bool }](), "boolean", `true`},
		{in[struct{ V string }](), "text", `"a"`},
		{in[struct{ V color }](), "text", `"red"`},
		{in[struct{ V int }](), "integer", `-1`},
		{in[struct{ V level }](), "integer", `-1`},
		{in[struct{ V uint64 }](), "integer", `18446744073709551615`},
		{in[struct{ V *int64 }](), "integer", `1`},
		{in[struct{ V **bool }](), "boolean", `true`},
		{in[struct{ V float64 }](), "number", `1.5`},
		{in[struct{ V halves }](), "number", `1.5`},
		{in[struct{ V time.Duration }](), "integer", `5`},
		{in[struct{ V time.Time }](), "text", `"2026-01-02T15:04:05Z"`},
		{in[struct{ V *time.Time }](), "text", `"2026-01-02T15:04:05Z"`},
		{in[struct{ V netip.Addr }](), "text", `"::1"`},
		{in[struct{ V grade }](), "text", `"B"`},
		{in[struct{ V big.Int }](), "number", `123456789012345678901234567890`},
		{in[struct{ V big.Float }](), "text", `"1.5"`},
		{in[struct{ V []byte }](), "text", `"YWJj"`},
		{in[struct{ V octets }](), "text", `"YWJj"`},
		{in[struct{ V []string }](), "text[]", `["a","b"]`},
		{in[struct{ V []*level }](), "integer[]", `[1,2]`},
		{in[struct{ V [2]float32 }](), "number[]", `[1,2.5]`},
		{in[struct{ V [3]byte }](), "integer[]", `[1,2,3]`},
		{in[struct{ V []time.Time }](), "text[]", `["2026-01-02T15:04:05Z"]`},
		{in[struct{ V [][]byte }](), "", ``},
		{in[struct {
			V int `json:",string"`
		}](), "text", `"12"`},
		{in[struct {
			V bool `json:",string"`
		}](), "text", `"true"`},
		{in[struct {
			V *float64 `json:",string"`
		}](), "text", `"1.5"`},
		{in[struct {
			V int `json:",omitzero"`
		}](), "integer", `12`},
	} {
		r, err := route.New("GET", "/", c.in)
		if c.kind == "" {
			if err == nil {
				t.Errorf("%v: is taken as %s", c.in, describe(r))
			}
			continue
		}
		if err != nil {
			t.Errorf("%v: %v", c.in, err)
			continue
		}
		if got := strings.TrimPrefix(describe(r), "query:V>V "); got != c.kind {
			t.Errorf("%v: got %s, want %s", c.in, got, c.kind)
		}
		if err := sabirjson.Codec.Decode([]byte(`{"V":`+c.text+`}`), reflect.New(c.in).Interface()); err != nil {
			t.Errorf("%v: the codec does not take %s: %v", c.in, c.text, err)
		}
	}
}

type hidingPage struct {
	Page int `json:"page" query:"p"`
}

type onePage struct{ Page int }

type anotherPage struct{ Page int }

func TestInputsThatCannotBeBoundAreErrorsThatSayWhatToDo(t *testing.T) {
	for _, c := range []struct {
		method, pattern string
		in              reflect.Type
		want            []string
	}{
		{"GET", "/{id}", in[struct{ Name string }](), []string{"{id}", "struct { Name string }", "`path:\"id\"`"}},
		{"GET", "/{id}", nil, []string{"{id}", "no field"}},
		{"GET", "/{id}", in[[]int](), []string{"[]int", "is no struct", "make it a struct"}},
		{"GET", "/", in[[]int](), []string{"[]int", "use POST"}},
		{"GET", "/", in[map[string]int](), []string{"map[string]int", "use POST"}},
		{"POST", "/{id}", in[own](), []string{"own", "a method of its own"}},
		{"GET", "/", in[struct{ At point }](), []string{"field At", "route_test.point", "use POST"}},
		{"GET", "/", in[struct{ M map[string]string }](), []string{"field M", "map[string]string"}},
		{"GET", "/", in[struct{ Any any }](), []string{"field Any", "interface {}"}},
		{"GET", "/", in[struct{ Raw json.RawMessage }](), []string{"field Raw", "json.RawMessage"}},
		{"GET", "/", in[struct{ Own own }](), []string{"field Own", "route_test.own"}},
		{"GET", "/", in[struct{ F func() }](), []string{"field F", "func()"}},
		{"GET", "/", in[struct{ L [][]int }](), []string{"field L", "[][]int"}},
		{"GET", "/", in[struct{ C complex128 }](), []string{"field C"}},
		{"POST", "/", in[struct {
			At point `query:"at"`
		}](), []string{"field At", "query", "let it come from the body"}},
		{"GET", "/", in[struct {
			At time.Time `json:",format:unix"`
		}](), []string{"field At", `"format:unix"`}},
		{"GET", "/{id}", in[struct {
			ID []string `json:"id"`
		}](), []string{"field ID", "list", "path"}},
		{"GET", "/", in[struct {
			S []string `cookie:"s"`
		}](), []string{"field S", "list", "cookie"}},
		{"GET", "/{p...}", in[struct {
			P int `json:"p"`
		}](), []string{"field P", "integer", "string"}},
		{"GET", "/", in[struct {
			ID string `path:"id"`
		}](), []string{"field ID", "no {id}"}},
		{"GET", "/{id}", in[struct {
			A string `path:"id"`
			B string `path:"id"`
		}](), []string{"field B", "another field"}},
		{"GET", "/{id}", in[struct {
			ID string `json:"id" query:"id"`
		}](), []string{"{id}", "no field"}},
		{"GET", "/{id}", in[struct {
			ID string `path:"id" json:"-"`
		}](), []string{"field ID", "JSON name"}},
		{"GET", "/", in[struct {
			id string `query:"id"`
		}](), []string{"field id", "export it"}},
		{"GET", "/", in[struct {
			A string `query:"a" header:"a"`
		}](), []string{"field A", "query and header"}},
		{"GET", "/", in[struct {
			A string `header:"a b"`
		}](), []string{"field A", `header:"a b"`, "no name"}},
		{"GET", "/", in[struct {
			A string `query:""`
		}](), []string{"field A", "no name"}},
		{"GET", "/", in[struct {
			A string `header:"X-A"`
			B string `header:"x-a"`
		}](), []string{"A and B", "header parameter x-a"}},
		{"GET", "/", in[struct {
			A string `query:"B"`
			B string
		}](), []string{"A and B", "query parameter B"}},
		{"GET", "/", in[struct {
			hidingPage
			No string `json:"page"`
		}](), []string{"field Page of", `query:"p"`, "hides it"}},
		{"GET", "/{Page}", in[struct {
			onePage
			anotherPage
		}](), []string{"{Page}", "no field"}},
		{"GET", "/", in[struct{ *page }](), []string{"field page", "unexported", "embed the struct itself"}},
		{"GET", "/", wide(257), []string{"257 fields", "use POST"}},
		{"BREW", "/", nil, []string{`"BREW"`, "PATCH"}},
		{"get", "/", nil, []string{`"get"`}},
		{"GET", "/{", nil, []string{"/{"}},
	} {
		r, err := route.New(c.method, c.pattern, c.in)
		if err == nil {
			t.Errorf("%s %s %v: is taken: %s", c.method, c.pattern, c.in, describe(r))
			continue
		}
		for _, want := range c.want {
			if !strings.Contains(err.Error(), want) {
				t.Errorf("%s %s %v: the error does not say %q: %v", c.method, c.pattern, c.in, want, err)
			}
		}
	}
}

// own is an object in JSON, which no parameter can hold.
type own struct{ text string }

func (o own) MarshalJSON() ([]byte, error)  { return []byte(`{"text":""}`), nil }
func (o *own) UnmarshalJSON(b []byte) error { o.text = string(b); return nil }

// wide is a struct of n text fields.
func wide(n int) reflect.Type {
	var fields []reflect.StructField
	for i := range n {
		name := "F" + string(rune('A'+i/100)) + string(rune('A'+i/10%10)) + string(rune('A'+i%10))
		fields = append(fields, reflect.StructField{Name: name, Type: in[string]()})
	}
	return reflect.StructOf(fields)
}

func TestATypeWhoseOwnMethodPanicsIsAnErrorAndNoPanic(t *testing.T) {
	_, err := route.New("GET", "/", in[struct{ V explosive }]())
	if err == nil || !strings.Contains(err.Error(), "explosive") {
		t.Errorf("got %v", err)
	}
}

type explosive struct{ inner *point }

func (e explosive) MarshalJSON() ([]byte, error)  { return []byte{byte(e.inner.X)}, nil }
func (e *explosive) UnmarshalJSON(b []byte) error { return nil }

func TestARouteSurvivesItsJSON(t *testing.T) {
	r, err := route.New("PUT", "/users/{id}", in[user]())
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(r)
	if err != nil {
		t.Fatal(err)
	}
	var back route.Route
	if err := json.Unmarshal(text, &back); err != nil || !reflect.DeepEqual(r, back) {
		t.Errorf("%v: %s became %+v", err, text, back)
	}
}
