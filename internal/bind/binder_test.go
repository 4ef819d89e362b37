package bind_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"math/big"
	"net/netip"
	"reflect"
	"strings"
	"testing"
	"time"

	sabirjson "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/bind"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/web/exchange"
)

type search struct {
	ID     int64    `json:"id"`
	Page   uint16   `json:"page"`
	Ratio  float64  `json:"ratio"`
	Deep   bool     `json:"deep" query:"deep search"`
	Name   string   `json:"name"`
	Tags   []string `json:"tags" query:"tag"`
	Years  []int    `json:"years"`
	Tenant string   `json:"tenant" header:"X-Tenant"`
	Langs  []string `json:"langs" header:"X-Lang"`
	Token  string   `json:"token" cookie:"session"`
	Code   string   `json:"code" sabir:"secret"`
}

type change struct {
	ID     int64  `json:"id"`
	Name   string `json:"name"`
	Age    int    `json:"age"`
	Dry    bool   `json:"dry" query:"dry-run"`
	Tenant string `json:"tenant" header:"X-Tenant"`
}

func newRoute[In any](tb testing.TB, method, pattern string) route.Route {
	tb.Helper()
	r, err := route.New(method, pattern, reflect.TypeFor[In]())
	if err != nil {
		tb.Fatal(err)
	}
	return r
}

// request is one with what is needed here: "query | Header: value | Header: value | body".
func request(params []string, query string, headers ...string) *exchange.Exchange {
	x := &exchange.Exchange{Params: params, Query: query}
	for _, h := range headers {
		name, value, _ := strings.Cut(h, ": ")
		x.Header.Add(name, value)
	}
	return x
}

func TestTheInputThatARequestWithoutABodyMakes(t *testing.T) {
	b := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	for _, c := range []struct {
		name, query string
		headers     []string
		want        string
	}{
		{"only the path", "", nil, `{"id":7}`},
		{"each kind", "page=3&ratio=-1.5e3&deep+search=true&name=Ada", nil, `{"id":7,"page":3,"ratio":-1.5e3,"deep":true,"name":"Ada"}`},
		{"escapes", "n%61me=a%20b+c%2Bd%26%3D&deep%20search=false", nil, `{"id":7,"name":"a b c+d&=","deep":false}`},
		{"an escaped number", "page=%31%32", nil, `{"id":7,"page":12}`},
		{"what JSON must escape", "name=%22%5C%0A%01/<>", nil, `{"id":7,"name":"\"\\\u000a\u0001/<>"}`},
		{"other scripts", "name=%E2%82%AC%F0%9F%98%80ä", nil, `{"id":7,"name":"€😀ä"}`},
		{"empty text", "name=", nil, `{"id":7,"name":""}`},
		{"text without =", "name", nil, `{"id":7,"name":""}`},
		{"text with =", "name=a=b", nil, `{"id":7,"name":"a=b"}`},
		{"empty pairs", "&&page=1&", nil, `{"id":7,"page":1}`},
		{"unknown parameters", "utm=%zz&page=1&x", nil, `{"id":7,"page":1}`},
		{"case counts", "Page=1&PAGE=2", nil, `{"id":7}`},
		{"a list of one", "tag=a", nil, `{"id":7,"tags":["a"]}`},
		{"a list with brackets", "tag%5B%5D=a&tag[]=b&tag=c", nil, `{"id":7,"tags":["a","b","c"]}`},
		{"brackets where there is no list", "name[]=a&[]=b&page%5B%5D=1", nil, `{"id":7}`},
		{"lists of several", "tag=a&years=1&tag=b%2C&years=2&t%61g=", nil, `{"id":7,"tags":["a","b,",""],"years":[1,2]}`},
		{"a semicolon is no separator", "name=a;page=3", nil, `{"id":7,"name":"a;page=3"}`},
		{"a header", "", []string{"x-tenant:  north "}, `{"id":7,"tenant":"north"}`},
		{"a header is not decoded", "", []string{"X-Tenant: a%20b+c, d"}, `{"id":7,"tenant":"a%20b+c, d"}`},
		{"a list of headers", "", []string{"X-Lang: en, de ,", "X-Lang: fr", "X-Lang: "}, `{"id":7,"langs":["en","de","fr"]}`},
		{"an empty list of headers", "", []string{"X-Lang: ,"}, `{"id":7,"langs":[]}`},
		{"a cookie", "", []string{"Cookie: a=b; session=abc%20; c=d"}, `{"id":7,"token":"abc%20"}`},
		{"an empty cookie is absent", "", []string{"Cookie: session="}, `{"id":7}`},
	} {
		t.Run(c.name, func(t *testing.T) {
			out, err := b.Append(nil, request([]string{"7"}, c.query, c.headers...))
			if err != nil {
				t.Fatal(err)
			}
			if string(out) != c.want {
				t.Errorf("got  %s\nwant %s", out, c.want)
			}
			if !json.Valid(out) {
				t.Error("it is no JSON")
			}
		})
	}
}

func TestTheBodyStandsBehindTheParameters(t *testing.T) {
	b := bind.New(newRoute[change](t, "PUT", "/users/{id}"))
	for _, c := range []struct{ query, body, want string }{
		{"", ``, `{"id":7}`},
		{"", " \r\n\t", `{"id":7}`},
		{"dry-run=true", ``, `{"id":7,"dry":true}`},
		{"dry-run=true", `{"name":"Ada","age":36}`, `{"id":7,"dry":true,"tenant":null,"name":"Ada","age":36}`},
		{"", `{"name":"Ada"}`, `{"id":7,"dry":null,"tenant":null,"name":"Ada"}`}, // so that the body cannot set them
		{"", " \n{ \"age\" : 36 } \n", "{\"id\":7,\"dry\":null,\"tenant\":null, \"age\" : 36 } \n"},
		{"", `{}`, `{"id":7,"dry":null,"tenant":null}`},
		{"", " { } ", `{"id":7,"dry":null,"tenant":null } `},
		// what is no JSON stays none
		{"", `{`, `{"id":7,"dry":null,"tenant":null,`},
		{"", `{,"age":1}`, `{"id":7,"dry":null,"tenant":null,,"age":1}`},
		{"", `{}}`, `{"id":7,"dry":null,"tenant":null}}`},
		{"", `{} {}`, `{"id":7,"dry":null,"tenant":null} {}`},
	} {
		x := request([]string{"7"}, c.query)
		x.Body = []byte(c.body)
		out, err := b.Append(nil, x)
		if err != nil {
			t.Errorf("%q: %v", c.body, err)
			continue
		}
		if string(out) != c.want {
			t.Errorf("%q: got %s\nwant %s", c.body, out, c.want)
		}
		if strings.TrimSpace(c.body) != "" && json.Valid(out) != json.Valid(x.Body) {
			t.Errorf("%q became %s", c.body, out)
		}
	}
}

func TestABodyThatIsAllThereIsIsAppendedAsItIs(t *testing.T) {
	b := bind.New(newRoute[struct{ Name string }](t, "POST", "/users"))
	for _, body := range []string{`{"Name":"Ada"}`, ` [1] `, ``} {
		x := request(nil, "utm=1")
		x.Body = []byte(body)
		out, err := b.Append(nil, x)
		if err != nil || string(out) != body {
			t.Errorf("%q became %q, %v", body, out, err)
		}
		if body != "" && &out[0] == &x.Body[0] {
			t.Errorf("%q is the request's, which callers would keep with what they pool", body)
		}
	}
}

func TestUnknownParametersAreRefusedAlsoBesideABodyThatIsAllThereIs(t *testing.T) {
	b := bind.New(newRoute[[]int](t, "POST", "/sum"), bind.RefuseUnknown())
	x := request(nil, "")
	x.Body = []byte("[1,2]")
	if out, err := b.Append(nil, x); err != nil || string(out) != "[1,2]" {
		t.Errorf("got %s, %v", out, err)
	}
	x.Query = "a=1&b"
	want := "bad request: the query parameter a is not known here; the query parameter b is not known here"
	if out, err := b.Append(nil, x); err == nil || err.Error() != want || out != nil {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestARouteWithoutAnythingMakesAnEmptyObject(t *testing.T) {
	out, err := bind.New(newRoute[struct{}](t, "GET", "/health")).Append([]byte("before"), request(nil, "x=%zz"))
	if err != nil || string(out) != "before{}" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestWhatIsAppendedStandsBehindWhatWasThere(t *testing.T) {
	b := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	out, err := b.Append([]byte("before"), request([]string{"7"}, "page=1"))
	if err != nil || string(out) != `before{"id":7,"page":1}` {
		t.Errorf("got %q, %v", out, err)
	}
	out, err = b.Append([]byte("before"), request([]string{"7"}, "page=x"))
	if err == nil || string(out) != "before" {
		t.Errorf("got %q, %v", out, err)
	}
}

func TestAnInputOfUnknownFieldsTakesTheWholeQueryAsText(t *testing.T) {
	b := bind.New(newRoute[map[string]any](t, "GET", "/find/{id}"))
	for query, want := range map[string]string{
		"":                    `{"id":"7"}`,
		"a=1&b=true":          `{"id":"7","a":"1","b":"true"}`,
		"%22=%22&a+b=c+d&x&&": `{"id":"7","\"":"\"","a b":"c d","x":""}`,
		"a=1&a=2":             "a is given more than once",
		"a=1&%61=2":           "a is given more than once",
		"id=8":                "id comes from the path already",
		"%zz=1":               "in its name",
		"a=%zz":               "query parameter a has a \"%\"",
		"a=%ff":               "query parameter a must be valid UTF-8",
		"%ff=1":               "must have a name of valid UTF-8",
	} {
		out, err := b.Append(nil, request([]string{"7"}, query))
		if !strings.HasPrefix(want, "{") {
			if err == nil || !strings.Contains(err.Error(), want) {
				t.Errorf("%q: got %s, %v", query, out, err)
			}
			continue
		}
		if err != nil || string(out) != want || !json.Valid(out) {
			t.Errorf("%q: got %s, %v", query, out, err)
		}
	}
}

func TestKindsAreStrict(t *testing.T) {
	type in struct {
		I int     `json:"i"`
		F float64 `json:"f"`
		B bool    `json:"b"`
		S string  `json:"s"`
	}
	b := bind.New(newRoute[in](t, "GET", "/"))
	for field, values := range map[string]struct{ good, bad []string }{
		"i": {[]string{"0", "-0", "7", "-12", "123456789012345678901234567890"},
			[]string{"", "-", "+1", "%2B1", "01", "-01", "1.0", "1e3", "0x1", "1_000", "1 ", "+1", "%201", "１", "NaN", "null", "true", `"1"`, "1,2", "1%00"}},
		"f": {[]string{"0", "-0", "7", "0.5", "-1.25", "1e3", "1E-3", "1e%2B3", "0e0"},
			[]string{"", "-", ".5", "1.", "01", "1e", "1e-", "0x1p2", "Inf", "NaN", "1.5.2", "1,5", "--1", "1e3.5"}},
		"b": {[]string{"true", "false"}, []string{"", "1", "0", "True", "yes", "on", "null", "true%20"}},
		"s": {[]string{"", "null", "%00", "%22", "%C3%A4"}, []string{"%ff", "%C3", "%ed%a0%80", "%c0%af", "%f4%90%80%80", "\xff", "%", "%4", "%4g", "a%zzb"}},
	} {
		for _, value := range values.good {
			if out, err := b.Append(nil, request(nil, field+"="+value)); err != nil || !json.Valid(out) {
				t.Errorf("%s=%s: %s, %v", field, value, out, err)
			}
		}
		for _, value := range values.bad {
			if out, err := b.Append(nil, request(nil, field+"="+value)); err == nil {
				t.Errorf("%s=%s is taken: %s", field, value, out)
			}
		}
	}
}

func TestFaultsSayWhereTheyAreAndWhatIsWrong(t *testing.T) {
	get := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	put := bind.New(newRoute[change](t, "PUT", "/users/{id}"))
	strict := bind.New(newRoute[search](t, "GET", "/search/{id}"), bind.RefuseUnknown())
	for _, c := range []struct {
		name    string
		b       *bind.Binder
		id      string
		query   string
		headers []string
		body    string
		want    string // the fault as JSON, in short
	}{
		{"kind, path", get, "x", "", nil, "", `path id /id kind integer "x" must be an integer`},
		{"kind, query", get, "7", "page=x", nil, "", `query page /page kind integer "x" must be an integer`},
		{"kind, decoded value", get, "7", "ratio=a%20b", nil, "", `query ratio /ratio kind number "a b" must be a number`},
		{"kind, other name", get, "7", "deep+search=1", nil, "", `query deep search /deep kind boolean "1" must be true or false`},
		{"kind, element", get, "7", "years=1&years=x", nil, "", `query years /years kind integer "x" must be an integer`},
		{"secret", get, "7", "code=%zz", nil, "", `query code /code escape  "***" has a "%" without two hexadecimal digits behind it`},
		{"header", get, "7", "", []string{"X-Tenant: \xff"}, "", `header X-Tenant /tenant utf8  "***" must be valid UTF-8`},
		{"cookie", get, "7", "", []string{"Cookie: session=\xff"}, "", `cookie session /token utf8  "***" must be valid UTF-8`},
		{"utf8", get, "7", "name=a%ff", nil, "", `query name /name utf8  "a�" must be valid UTF-8`},
		{"escape", get, "7", "name=%4", nil, "", `query name /name escape  "%4" has a "%" without two hexadecimal digits behind it`},
		{"escape in a name", get, "7", "n%4=1", nil, "", `query n%4  escape  null has a "%" without two hexadecimal digits behind it in its name`},
		{"once, query", get, "7", "page=1&page=2", nil, "", `query page /page once  "2" is given more than once`},
		{"once, header", get, "7", "", []string{"X-Tenant: a", "X-Tenant: b"}, "", `header X-Tenant /tenant once  "***" is given more than once`},
		{"limit", get, "7", strings.Repeat("a&", 256), nil, "", `query   limit 256 null has more than 256 parameters`},
		{"unknown", strict, "7", "page=1&P%61ge=1", nil, "", `query Page  unknown  null is not known here`},
		{"no body with GET", get, "7", "", nil, "{}", `body   nobody  null must be empty with GET: all fields come from elsewhere`},
		{"array", put, "7", "", nil, " [1]", `body   object  null must be a JSON object`},
		{"text", put, "7", "", nil, "name=Ada", `body   object  null must be a JSON object`},
		{"null", put, "7", "", nil, "null", `body   object  null must be a JSON object`},
		{"byte order mark", put, "7", "", nil, "\ufeff{}", `body   object  null must be a JSON object`},
	} {
		t.Run(c.name, func(t *testing.T) {
			x := request([]string{c.id}, c.query, c.headers...)
			x.Body = []byte(c.body)
			_, err := c.b.Append(nil, x)
			list, ok := errors.AsType[bind.Errors](err)
			if !ok || len(list) != 1 {
				t.Fatalf("got %v", err)
			}
			f := list[0]
			value, err := json.Marshal(f.Value)
			if err != nil {
				t.Fatal(err)
			}
			if got := fmt.Sprintf("%s %s %s %s %s %s %s", f.In, f.Name, f.Pointer, f.Rule, f.Param, value, f.Message); got != c.want {
				t.Errorf("got  %s\nwant %s", got, c.want)
			}
		})
	}
}

func TestAllFaultsOfARequestAreListed(t *testing.T) {
	b := bind.New(newRoute[change](t, "PUT", "/users/{id}"))
	x := request([]string{"x"}, "dry-run=maybe&dry-run=no", "X-Tenant: \xff")
	x.Body = []byte("[]")
	_, err := b.Append(nil, x)
	want := "bad request: the path parameter id must be an integer; the query parameter dry-run must be true or false; " +
		"the query parameter dry-run is given more than once; the header parameter X-Tenant must be valid UTF-8; the body must be a JSON object"
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
}

func TestALongListOfFaultsIsCut(t *testing.T) {
	b := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	_, err := b.Append(nil, request([]string{"7"}, strings.Repeat("years=x&", 150)))
	list, _ := errors.AsType[bind.Errors](err)
	if len(list) != 101 || list[100].Rule != bind.RuleMore || list[100].Param != "50" {
		t.Fatalf("%d faults: %v", len(list), err)
	}
}

func TestALongValueIsCutInFaults(t *testing.T) {
	b := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	_, err := b.Append(nil, request([]string{strings.Repeat("ä", 1000)}, ""))
	list, _ := errors.AsType[bind.Errors](err)
	if want := strings.Repeat("ä", 128) + "…"; len(list) != 1 || list[0].Value != want {
		t.Errorf("got %v", list)
	}
}

func TestAMissingRequiredParameterIsAFault(t *testing.T) {
	type in struct {
		Page   int    `json:"page" validate:"required,min=1"`
		Tenant string `json:"tenant" header:"X-Tenant" validate:"required"`
		Token  string `json:"token" cookie:"session" validate:"required"`
		Max    int    `json:"max"`
	}
	b := bind.New(newRoute[in](t, "GET", "/"))
	_, err := b.Append(nil, request(nil, "max=1"))
	want := "bad request: the query parameter page is required; the header parameter X-Tenant is required; the cookie parameter session is required"
	if err == nil || err.Error() != want {
		t.Errorf("got %v", err)
	}
	if _, err := b.Append(nil, request(nil, "page=1", "X-Tenant: a", "Cookie: session=b")); err != nil {
		t.Error(err)
	}
	if _, err := b.Append(nil, request(nil, strings.Repeat("a&", 300), "X-Tenant: a", "Cookie: session=b")); strings.Contains(err.Error(), "required") {
		t.Errorf("of a query that was not read: %v", err)
	}
}

func TestAParameterWithADefaultMayBeMissing(t *testing.T) {
	type in struct {
		Page int `json:"page" default:"1" validate:"required,min=1"`
	}
	if _, err := bind.New(newRoute[in](t, "GET", "/")).Append(nil, request(nil, "")); err != nil {
		t.Error(err)
	}
}

func TestARouterThatFoundAnotherRouteIsAFaultAndNoPanic(t *testing.T) {
	b := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	if _, err := b.Append(nil, request(nil, "")); err == nil || !strings.Contains(err.Error(), "path parameter id is required") {
		t.Errorf("got %v", err)
	}
}

func TestAFaultAsJSONIsAValidationErrorWithItsPlace(t *testing.T) {
	b := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	_, err := b.Append(nil, request([]string{"7"}, "deep+search=1"))
	text, _ := json.Marshal(err)
	want := `[{"in":"query","name":"deep search","path":"deep","pointer":"/deep","rule":"kind","param":"boolean","value":"1","message":"must be true or false"}]`
	if string(text) != want {
		t.Errorf("got  %s\nwant %s", text, want)
	}
}

// The codec refuses a name that is there twice, so a body cannot set what comes from elsewhere, also where that is absent.
func TestABodyCannotSetWhatComesFromElsewhere(t *testing.T) {
	b := bind.New(newRoute[change](t, "PUT", "/users/{id}"))
	for _, c := range []struct{ body, pointer, want string }{
		{`{"name":"Ada","id":8}`, "/id", "id comes from the path, so it must not be in the body"},
		{`{"\u0069d":8}`, "/id", "id comes from the path, so it must not be in the body"},
		{`{"dry":true}`, "/dry", "dry comes from the query dry-run, so it must not be in the body"},
		{`{"tenant":"other"}`, "/tenant", "tenant comes from the header X-Tenant, so it must not be in the body"},
	} {
		x := request([]string{"7"}, "")
		x.Body = []byte(c.body)
		out, err := b.Append(nil, x)
		if err != nil {
			t.Fatal(err)
		}
		var in change
		if err := sabirjson.Codec.Decode(out, &in); err == nil || !strings.Contains(err.Error(), "at "+c.pointer+": the object has this name twice") {
			t.Errorf("%s: %v", out, err)
		}
		if got := b.Explain(c.pointer); got != c.want {
			t.Errorf("%s: explained as %q", c.pointer, got)
		}
	}
	for _, pointer := range []string{"", "/name", "/nothing", "id", "/id~1"} {
		if got := b.Explain(pointer); got != "" {
			t.Errorf("%q: explained as %q", pointer, got)
		}
	}
}

// A null for an absent parameter must be as good as nothing to every type that can be one.
func TestAnAbsentParameterLeavesEveryTypeAtItsZero(t *testing.T) {
	type in struct {
		A bool          `query:"a"`
		B string        `query:"b"`
		C int8          `query:"c"`
		D float32       `query:"d"`
		E time.Time     `query:"e"`
		F time.Duration `query:"f"`
		G []byte        `query:"g"`
		H []int         `query:"h"`
		I *string       `query:"i"`
		J netip.Addr    `query:"j"`
		K big.Int       `query:"k"`
		L [2]int        `query:"l"`
		M int           `query:"m" json:",string"`
		N *time.Time    `query:"n"`
		Z string
	}
	b := bind.New(newRoute[in](t, "POST", "/"))
	x := request(nil, "")
	x.Body = []byte(`{"Z":"here"}`)
	out, err := b.Append(nil, x)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Count(string(out), "null") != 14 {
		t.Errorf("got %s", out)
	}
	var got in
	if err := sabirjson.Codec.Decode(out, &got); err != nil {
		t.Fatal(err)
	}
	got.G, got.H = nil, nil // empty ones come of null
	if want := (in{Z: "here"}); !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v", got)
	}
}

func TestLocateTellsWhereAFieldCameFrom(t *testing.T) {
	type in struct {
		A string `json:"a/b~c" query:"x"`
		B []int  `json:"list"`
	}
	get := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	odd := bind.New(newRoute[in](t, "GET", "/"))
	open := bind.New(newRoute[any](t, "GET", "/{id}"))
	put := bind.New(newRoute[change](t, "PUT", "/users/{id}"))
	for _, c := range []struct {
		b             *bind.Binder
		pointer, want string
	}{
		{get, "/id", "path id"}, {get, "/deep", "query deep search"}, {get, "/tags/0", "query tag"}, {get, "/tenant", "header X-Tenant"},
		{get, "/token", "cookie session"}, {get, "/nothing", ""}, {get, "", ""}, {get, "id", ""}, {get, "/", ""},
		{odd, "/a~1b~0c", "query x"}, {odd, "/list/3", "query list"}, {odd, "/a", ""},
		{open, "/id", "path id"}, {open, "/any~1thing", "query any/thing"},
		{put, "/name", ""}, {put, "/id", "path id"},
	} {
		in, name, ok := c.b.Locate(c.pointer)
		if got := strings.TrimSpace(string(in) + " " + name); got != c.want || ok != (c.want != "") {
			t.Errorf("%s: got %q, want %q", c.pointer, got, c.want)
		}
	}
}

func TestManyParametersAreFoundByName(t *testing.T) {
	var fields []reflect.StructField
	var query, want []string
	for i := range 256 {
		name := fmt.Sprintf("F%03d", i)
		fields = append(fields, reflect.StructField{Name: name, Type: reflect.TypeFor[int]()})
		query, want = append(query, fmt.Sprintf("%s=%d", name, i)), append(want, fmt.Sprintf(`"%s":%d`, name, i))
	}
	r, err := route.New("GET", "/", reflect.StructOf(fields))
	if err != nil {
		t.Fatal(err)
	}
	out, err := bind.New(r).Append(nil, request(nil, strings.Join(query, "&")))
	if err != nil || string(out) != "{"+strings.Join(want, ",")+"}" {
		t.Errorf("got %s, %v", out, err)
	}
}

// A route that came as JSON from elsewhere may be anything.
func TestAnUncheckedRouteDoesNotPanic(t *testing.T) {
	r := route.Route{Method: "POST", Params: []route.Param{{In: "moon", Name: "x"}, {In: route.Path}, {In: route.Query, Kind: "strange", Field: "\xff\"", Name: ""}}}
	for i := range 300 {
		r.Params = append(r.Params, route.Param{In: route.Query, Name: fmt.Sprint(i), Field: fmt.Sprint(i), Kind: route.Text})
	}
	out, err := bind.New(r).Append(nil, request([]string{"1"}, "=a&299=b"))
	if err != nil || string(out) != `{"":"1","�\"":"a","299":"b"}` {
		t.Errorf("got %s, %v", out, err)
	}
}

func TestBindingAllocatesNothing(t *testing.T) {
	x := request([]string{"7"}, "page=%31&name=a+b&tag=x&tag=y&deep+search=true&utm=1", "X-Tenant: north", "X-Lang: en, de", "Cookie: a=b; session=c")
	room := make([]byte, 0, 1024)
	get := bind.New(newRoute[search](t, "GET", "/search/{id}"))
	if n := testing.AllocsPerRun(100, func() { get.Append(room, x) }); n != 0 {
		t.Errorf("GET: %v allocations", n)
	}
	put := bind.New(newRoute[change](t, "PUT", "/users/{id}"))
	x.Body = []byte(`{"name":"Ada"}`)
	if n := testing.AllocsPerRun(100, func() { put.Append(room, x) }); n != 0 {
		t.Errorf("PUT: %v allocations", n)
	}
	open := bind.New(newRoute[any](t, "POST", "/{id}"))
	if n := testing.AllocsPerRun(100, func() { open.Append(room, x) }); n != 0 {
		t.Errorf("POST of anything: %v allocations", n)
	}
}
