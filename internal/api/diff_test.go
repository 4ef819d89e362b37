package api_test

import (
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

// of makes an API of one action with these types.
func of[In, Out any]() api.API {
	d, err := schema.Describe(reflect.TypeFor[In](), reflect.TypeFor[Out]())
	if err != nil {
		panic(err)
	}
	return api.API{Types: d.Defs, Actions: []api.Action{{Name: "a.b", Service: "a", Path: "/a/b", In: d.In, Out: d.Out}}}
}

// changes are differences in one type. As an input and as an output they mean different things.
var changes = []struct {
	before, after reflect.Type
	in, out       string // the result of Diff, without the action and the place; BREAKING before what breaks
}{
	{tagged[string](``), tagged[string](``), ``, ``},
	{tagged[string](``), tagged[int](``), `BREAKING is integer instead of string`, `BREAKING is integer instead of string`},
	{tagged[int](``), tagged[float64](``), `may be number, not only integer`, `BREAKING may be number, not only integer`},
	{tagged[float64](``), tagged[int](``), `BREAKING must be integer; it could be number`, `must be integer; it could be number`},
	{tagged[string](``), tagged[any](``), `may be anything, not only string`, `BREAKING may be anything, not only string`},
	{tagged[any](``), tagged[string](``), `BREAKING must be string; it could be anything`, `must be string; it could be anything`},
	{tagged[string](``), tagged[*string](``), `may be null`, `BREAKING may be null`},
	{tagged[*string](``), tagged[string](``), `BREAKING cannot be null any more`, `cannot be null any more`},
	{tagged[*string](``), tagged[*string](`validate:"required"`), `BREAKING is required; BREAKING cannot be null any more`, ``},
	{tagged[int32](``), tagged[int64](``), `is a number of format int64 instead of int32; has a wider limit: the least value was -2147483648 and is none; has a wider limit: the greatest value was 2147483647 and is none`,
		`BREAKING is a number of format int64 instead of int32; has a wider limit: the least value was -2147483648 and is none; has a wider limit: the greatest value was 2147483647 and is none`},
	{tagged[int64](``), tagged[int](``), `BREAKING is a number of format int instead of int64`, `is a number of format int instead of int64`},

	{tagged[string](``), tagged[string](`validate:"required"`), `BREAKING is required; BREAKING has a tighter limit: the least length was none and is 1`, ``},
	{tagged[string](`validate:"required"`), tagged[string](``), `may be left out; has a wider limit: the least length was 1 and is none`, ``},
	{tagged[string](`validate:"max=10"`), tagged[string](`validate:"max=9"`), `BREAKING has a tighter limit: the greatest length was 10 and is 9`, ``},
	{tagged[string](`validate:"max=9"`), tagged[string](`validate:"max=10"`), `has a wider limit: the greatest length was 9 and is 10`, ``},
	{tagged[uint64](`validate:"max=18446744073709551614"`), tagged[uint64](`validate:"max=18446744073709551613"`), `BREAKING has a tighter limit: the greatest value was 18446744073709551614 and is 18446744073709551613`, ``},
	{tagged[[]int](`validate:"max=3"`), tagged[[]int](`validate:"max=2,unique"`), `BREAKING has a tighter limit: the greatest number of items was 3 and is 2; BREAKING must not have an item twice`, ``},
	{tagged[[]int](`validate:"unique"`), tagged[[]int](``), `may have an item twice`, ``},
	{tagged[map[string]int](``), tagged[map[string]int](`validate:"max=2"`), `BREAKING has a tighter limit: the greatest number of entries was none and is 2`, ``},

	{tagged[string](`validate:"omitempty,oneof=a b"`), tagged[string](`validate:"omitempty,oneof=a c"`), `BREAKING cannot be "b" any more; may be "c" too`, `cannot be "b" any more; BREAKING may be "c" too`},
	{tagged[string](``), tagged[string](`validate:"omitempty,oneof=a"`), `BREAKING must be one of "a", ""`, `must be one of "a", ""`},
	{tagged[string](`validate:"omitempty,oneof=a"`), tagged[string](``), `may be other values than "a", ""`, `BREAKING may be other values than "a", ""`},
	{tagged[*string](`validate:"omitempty,oneof=a b"`), tagged[*string](`validate:"omitempty,oneof=a"`), `BREAKING cannot be "b" any more`, `cannot be "b" any more`},

	{tagged[*string](``), tagged[*string](`validate:"omitempty,email"`), `BREAKING is held to the format email`, ``},
	{tagged[*string](`validate:"omitempty,email"`), tagged[*string](`validate:"omitempty,url"`), `BREAKING is held to another format uri`, ``},
	{tagged[*string](`validate:"omitempty,alpha"`), tagged[*string](`validate:"omitempty,alphanum"`), `BREAKING is held to another pattern`, ``},
	{tagged[*string](`validate:"omitempty,alpha"`), tagged[*string](``), `is not held to a pattern any more`, ``},
	{tagged[string](``), tagged[string](`validate:"ne=x"`), `BREAKING is held to an exception`, ``},
	{tagged[string](``), tagged[string](`validate:"omitempty,len=3"`), `BREAKING is held to a condition`, ``},
	{tagged[string](``), tagged[string](`validate:"eqfield=F"`), `BREAKING is held to the rule eqfield=F`, ``},
	{tagged[string](`validate:"eqfield=F"`), tagged[string](``), `is not held to the rule eqfield=F any more`, ``},

	{tagged[string](`json:"f"`), tagged[string](`json:"f,omitempty"`), ``, `BREAKING may be missing`},
	{tagged[string](`json:"f,omitempty"`), tagged[string](`json:"f"`), ``, `is always there`},
	{tagged[[]string](``), tagged[[]int](``), `BREAKING is integer instead of string`, `BREAKING is integer instead of string`},
	{tagged[map[string]string](``), tagged[map[string]int](``), `BREAKING is integer instead of string`, `BREAKING is integer instead of string`},
}

// tagged is a struct with the field "f".
func tagged[T any](tag string) reflect.Type {
	if !strings.Contains(tag, "json:") {
		tag = `json:"f" ` + tag
	}
	return reflect.StructOf([]reflect.StructField{{Name: "F", Type: reflect.TypeFor[T](), Tag: reflect.StructTag(tag)}})
}

func TestAChangedMember(t *testing.T) {
	for _, c := range changes {
		for side, want := range map[schema.Side]string{schema.Input: c.in, schema.Output: c.out} {
			var apis [2]api.API
			for i, typ := range []reflect.Type{c.before, c.after} {
				s, err := new(schema.Set).Of(typ, side)
				if err != nil {
					t.Fatal(err)
				}
				apis[i].Actions = []api.Action{{Name: "a.b"}}
				if side == schema.Input {
					apis[i].Actions[0].In = s
				} else {
					apis[i].Actions[0].Out = s
				}
			}
			var got []string
			for _, change := range api.Diff(apis[0], apis[1]) {
				text := change.String()
				for _, before := range []string{"a.b: the input's /f/* ", "a.b: the output's /f/* ", "a.b: the input's /f ", "a.b: the output's /f "} {
					text = strings.Replace(text, before, "", 1)
				}
				got = append(got, strings.TrimSuffix(strings.TrimSpace(text), "."))
			}
			if strings.Join(got, "; ") != want {
				t.Errorf("%v to %v as %v:\ngot  %s\nwant %s", c.before, c.after, side, strings.Join(got, "; "), want)
			}
		}
	}
}

func TestMembersThatComeAndGo(t *testing.T) {
	type before struct {
		Kept string `json:"kept"`
		Gone string `json:"gone"`
	}
	type after struct {
		Kept  string `json:"kept"`
		New   string `json:"new"`
		Asked string `json:"asked" validate:"required"`
	}
	want(t, of[before, before](), of[after, after](), `BREAKING a.b: the input's /gone is not read any more.`, `a.b: the input's /new is new.`,
		`BREAKING a.b: the input's /asked is new and required.`, `BREAKING a.b: the output's /gone is gone.`, `a.b: the output's /new is new.`, `a.b: the output's /asked is new.`)
}

func want(t *testing.T, before, after api.API, sentences ...string) {
	t.Helper()
	var got []string
	for _, change := range api.Diff(before, after) {
		got = append(got, strings.TrimSpace(change.String()))
	}
	if !slices.Equal(got, sentences) {
		t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(sentences, "\n  "))
	}
	if broken := slices.ContainsFunc(sentences, func(s string) bool { return strings.HasPrefix(s, "BREAKING") }); broken != api.Breaks(api.Diff(before, after)) {
		t.Errorf("Breaks says %v", !broken)
	}
}

func TestNumbersOfProtocolBuffersAreComparedWhereTagsGiveSome(t *testing.T) {
	of := func(numbers ...int) api.API {
		p := schema.Properties{}
		for i, n := range numbers {
			p = append(p, schema.Property{Name: string(rune('a' + i)), Schema: &schema.Schema{Type: schema.Types{"string"}, FieldNumber: n}})
		}
		return api.API{Actions: []api.Action{{Name: "a.b", In: &schema.Schema{Type: schema.Types{"object"}, Properties: p}}}}
	}
	for _, c := range []struct {
		before, after api.API
		want          string
	}{
		{of(0, 0), of(0, 0), ""},
		{of(0, 0), of(1, 2), ""},
		{of(0, 3), of(0, 4), "has number 4 in Protocol Buffers instead of 3: give it the tag `protobuf:\"3\"`"},
		{of(5, 0), of(0, 0), "has number 1 in Protocol Buffers instead of 5: give it the tag `protobuf:\"5\"`"},
	} {
		changes := api.Diff(c.before, c.after)
		if c.want == "" && len(changes) > 0 || c.want != "" && (len(changes) == 0 || !changes[0].Breaking || !strings.Contains(changes[0].Text, c.want)) {
			t.Errorf("%v, want %q", changes, c.want)
		}
	}
}

func TestTypesThatContainThemselvesAreComparedOnce(t *testing.T) {
	type Old struct {
		Value string `json:"value"`
		Next  *Old   `json:"next"`
	}
	type New struct {
		Value int  `json:"value"`
		Next  *New `json:"next"`
	}
	want(t, of[struct{}, Old](), of[struct{}, New](), `BREAKING a.b: the output's /value is integer instead of string.`)
	want(t, of[struct{}, Old](), of[struct{}, Old]())
	want(t, of[struct{}, struct{ N *Old }](), of[struct{}, struct{ N *New }](), `BREAKING a.b: the output's /N/value is integer instead of string.`)
	want(t, of[struct{}, struct{ N any }](), of[struct{}, struct{ N *Old }](), `a.b: the output's /N must be object; it could be anything.`)
}

func TestAnActionThatChanges(t *testing.T) {
	action := func(change func(*api.Action)) api.API {
		a := of[struct{ A string }, struct{ B string }]()
		change(&a.Actions[0])
		return a
	}
	same := func(*api.Action) {}
	routes := func(list ...route.Route) func(*api.Action) { return func(a *api.Action) { a.Routes = list } }
	users := route.Route{Method: "GET", Pattern: "/users/{id}/{n}", Params: []route.Param{{Name: "id", In: route.Path, Field: "id"}, {Name: "n", In: route.Path, Field: "n"},
		{Name: "page", In: route.Query, Field: "page"}}}
	renamed, turned, moved := users, users, users
	renamed.Pattern = "/users/{user}/{n}"
	turned.Params = []route.Param{users.Params[1], users.Params[0], users.Params[2]}
	moved.Params = []route.Param{users.Params[0], users.Params[1], {Name: "X-Page", In: route.Header, Field: "page"}}
	failing := func(e api.Error) func(*api.Action) { return func(a *api.Action) { a.Errors = []api.Error{e} } }
	for _, c := range []struct {
		name          string
		before, after func(*api.Action)
		want          string // one for each direction: "" for none, or several with ";"
		back          string
	}{
		{"path", same, func(a *api.Action) { a.Path = "/v1/a/b" }, `BREAKING a.b is called at /v1/a/b instead of /a/b.`, `BREAKING a.b is called at /a/b instead of /v1/a/b.`},
		{"stream", same, func(a *api.Action) { a.Stream = true }, `BREAKING a.b is a stream now.`, `BREAKING a.b is no stream any more.`},
		{"shape", func(a *api.Action) { a.Stream = true }, func(a *api.Action) { a.Stream, a.Shape = true, "server" },
			`BREAKING a.b takes one value now.`, `BREAKING a.b has any number of values both ways now.`},
		{"idempotent", same, func(a *api.Action) { a.Idempotent = true }, `a.b does no harm when it runs twice.`, `BREAKING a.b may do harm when it runs twice, so it must not be tried again without a thought.`},
		{"status", same, func(a *api.Action) { a.Statuses = []api.Status{{Status: 201}} },
			`BREAKING a.b may answer with the status 201.; a.b does not answer with the status 200 any more.`,
			`BREAKING a.b may answer with the status 200.; a.b does not answer with the status 201 any more.`},
		{"deprecated", same, func(a *api.Action) { a.Deprecated = true }, `a.b is deprecated.`, ``},
		{"input", same, func(a *api.Action) { a.In = nil }, `BREAKING a.b: the input is gone.`, `a.b: the input is new.`},
		{"demanding input", func(a *api.Action) { a.In = &schema.Schema{Type: schema.Types{"string"}} }, func(a *api.Action) { a.In = nil }, `BREAKING a.b: the input is gone.`, `BREAKING a.b: the input is new.`},
		{"output", same, func(a *api.Action) { a.Out = nil }, `BREAKING a.b: the output is gone.`, `a.b: the output is new.`},
		{"route", same, routes(users), `a.b can be reached with GET /users/{id}/{n}.`, `BREAKING a.b cannot be reached with GET /users/{id}/{n} any more.`},
		{"name in a route", routes(users), routes(renamed), ``, ``},
		{"order in a route", routes(users), routes(turned), `BREAKING a.b takes from the path of GET /users/{id}/{n} the fields n, id instead of id, n.`, `BREAKING a.b takes from the path of GET /users/{id}/{n} the fields id, n instead of n, id.`},
		{"source of a field", routes(users), routes(moved), `BREAKING a.b takes with GET /users/{id}/{n} the field "page" from header "X-Page" instead of query "page".`,
			`BREAKING a.b takes with GET /users/{id}/{n} the field "page" from query "page" instead of header "X-Page".`},
		{"authentication", same, func(a *api.Action) { a.Auth = []string{"jwt", "key"} }, `BREAKING a.b demands authentication by jwt or key.`, `a.b demands no authentication any more.`},
		{"scheme", func(a *api.Action) { a.Auth = []string{"jwt"} }, func(a *api.Action) { a.Auth = []string{"jwt", "key"} }, `a.b takes authentication by key too.`, `BREAKING a.b does not take authentication by key any more.`},
		{"roles", same, func(a *api.Action) { a.Scopes = []string{"admin"} }, `BREAKING a.b demands the role admin.`, `a.b demands no role any more.`},
		{"error", same, failing(api.Error{Name: "E"}), `a.b may end with the error E.`, `a.b does not end with the error E any more.`},
		{"code of an error", failing(api.Error{Name: "E", Code: "NotFound", Status: 404}), failing(api.Error{Name: "E", Code: "Internal", Status: 500}),
			`BREAKING a.b ends with the error E with code Internal and status 500 instead of NotFound and 404.`, `BREAKING a.b ends with the error E with code NotFound and status 404 instead of Internal and 500.`},
		{"data of an error", failing(api.Error{Name: "E"}), failing(api.Error{Name: "E", Data: &schema.Schema{}}), `a.b: the data of E is new.`, `BREAKING a.b: the data of E is gone.`},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, way := range []struct {
				before, after func(*api.Action)
				want          string
			}{{c.before, c.after, c.want}, {c.after, c.before, c.back}} {
				var sentences []string
				if way.want != "" {
					sentences = strings.Split(way.want, "; ")
				}
				want(t, action(way.before), action(way.after), sentences...)
			}
		})
	}
}

func TestActionsThatComeAndGo(t *testing.T) {
	before, after := of[struct{}, User](), of[struct{}, User]()
	after.Actions[0].Name = "a.c"
	want(t, before, after, `BREAKING a.b is gone.`, `a.c is new.`)
}

func TestChangesOfTheSettingsOfAnAPI(t *testing.T) {
	events := func(path string, patterns ...string) api.API {
		return api.API{Events: &api.Events{Path: path, Patterns: patterns}}
	}
	want(t, api.API{Title: "x", Servers: []string{"a"}}, api.API{Title: "y"})
	want(t, api.API{}, api.API{Prefix: "/api"}, `BREAKING The prefix of all addresses was "" and is "/api".`)
	want(t, api.API{Batch: "/batch"}, api.API{}, `BREAKING The address of batches was "/batch" and is "".`)
	want(t, api.API{}, api.API{Batch: "/batch"}, `The address of batches was "" and is "/batch".`)
	want(t, api.API{}, events("/events", "a.*"), `Events can be listened to at /events.`)
	want(t, events("/events", "a.*"), api.API{}, `BREAKING Events cannot be listened to any more.`)
	want(t, events("/events", "a.*", "b"), events("/e", "b", "c"), `BREAKING The address of events was "/events" and is "/e".`, `BREAKING Events a.* cannot be listened to any more.`, `Events c can be listened to.`)
}

func TestNamesOfTypesAndWordsDoNotCount(t *testing.T) {
	type One struct {
		A User `json:"a" doc:"one"`
	}
	type Two struct {
		A User `json:"a" doc:"two" example:"{}" deprecated:"true"`
	}
	want(t, of[One, One](), of[Two, Two]())
}

func TestAnAPIReadFromJSONIsTheSame(t *testing.T) {
	before := of[User, Node]()
	var after api.API
	if err := json.Unmarshal([]byte(text(t, before)), &after); err != nil {
		t.Fatal(err)
	}
	want(t, before, after)
	if text(t, before) != text(t, after) {
		t.Errorf("wrote %s, then %s", text(t, before), text(t, after))
	}
}

func ExampleDiff() {
	type Before struct {
		Name string `json:"name"`
	}
	type After struct {
		Name string `json:"name" validate:"max=64"`
		Mail string `json:"mail" validate:"required,email"`
	}
	for _, change := range api.Diff(of[Before, struct{}](), of[After, struct{}]()) {
		fmt.Println(change.Breaking, change.Text)
	}
	// Output:
	// true a.b: the input's /name has a tighter limit: the greatest length was none and is 64.
	// true a.b: the input's /mail is new and required.
}
