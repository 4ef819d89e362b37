package api_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/sabir-go/sabir"
	"github.com/sabir-go/sabir/gateway"
	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/description"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
)

type User struct {
	ID   int64  `json:"id" validate:"required"`
	Name string `json:"name"`
}

type GetUser struct {
	ID int64 `json:"id" validate:"min=1"`
}

type outOfStock struct {
	Left int `json:"left"`
}

type cacheKey string

const scopes = cacheKey("scopes")

func text(t *testing.T, v any) string {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

func describe(t *testing.T, actions []*sabir.Action, from api.Sources) api.API {
	t.Helper()
	a, err := api.Of(api.API{}, actions, from)
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// start starts a node with the services, so that the test reads actions as a node registers them.
func start(t *testing.T, services ...sabir.Servable) *sabir.Node {
	t.Helper()
	node := sabir.NewNode(sabir.NodeID("n1"), sabir.Serve(services...), sabir.Logger(slog.New(slog.NewTextHandler(io.Discard, nil))))
	if err := node.Start(t.Context()); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		if err := node.Stop(context.Background()); err != nil {
			t.Error(err)
		}
	})
	return node
}

func TestAnActionIsDescribedInFull(t *testing.T) {
	users := sabir.NewService("users", sabir.Version(2))
	gone := sabir.NewError(sabir.CodeNotFound, "NoSuchUser", "there is no such user")
	sabir.Handle(users, "get", func(context.Context, *GetUser) (*User, error) { return nil, gone },
		sabir.Doc("A user by id."), sabir.Idempotent(), sabir.Route("GET", "/users/{id}"), sabir.Deprecated("users.find"),
		sabir.Errors(gone, sabir.NewError(sabir.CodeFailedPrecondition, "OutOfStock", "not enough").WithData(outOfStock{3})),
		sabir.Example(&GetUser{ID: 7}, &User{ID: 7, Name: "Ada"}),
		sabir.Use(sabir.Middleware{Name: "notes", Local: func(a *sabir.Action, next sabir.Handler) sabir.Handler {
			a.Annotate(scopes, []string{"admin"})
			a.Annotate(gateway.CacheNote, 90*time.Second)
			return next
		}}))
	got := describe(t, start(t, users).Actions(), api.Sources{Scopes: scopes})
	at := slices.IndexFunc(got.Actions, func(a api.Action) bool { return a.Name == "v2.users.get" })
	if at < 0 {
		t.Fatalf("the action is not there: %s", text(t, got.Actions))
	}
	want := `{"name":"v2.users.get","service":"v2.users","description":"A user by id.","path":"/v2/users/get",` +
		`"routes":` + text(t, got.Actions[at].Routes) + `,"rpc":"/users.v2.Users/Get","in":{"$ref":"#/$defs/GetUser"},"out":{"$ref":"#/$defs/User"},` +
		`"errors":[{"name":"NoSuchUser","code":"NotFound","status":404,"description":"there is no such user"},` +
		`{"name":"OutOfStock","code":"FailedPrecondition","status":409,"description":"not enough","data":{"$ref":"#/$defs/OutOfStock"}}],` +
		`"scopes":["admin"],"idempotent":true,"cacheFor":90,"examples":[{"in":{"id":7},"out":{"id":7,"name":"Ada"}}],"deprecated":true,"instead":"users.find"}`
	if got := text(t, got.Actions[at]); got != want {
		t.Errorf("got  %s\nwant %s", got, want)
	}
	if r := got.Actions[at].Routes; len(r) != 1 || r[0].Method != "GET" || r[0].Pattern != "/users/{id}" || len(r[0].Params) != 1 {
		t.Errorf("got the routes %+v", r)
	}
	if text := text(t, got.Types); !strings.Contains(text, `"GetUser":`) || !strings.Contains(text, `"User":`) || !strings.Contains(text, `"OutOfStock":`) {
		t.Errorf("got the types %s", text)
	}
}

// action is an action of this node, without a node.
func action[In, Out any](name string) *sabir.Action {
	service, _, _ := strings.Cut(name, ".")
	return &sabir.Action{Name: name, Service: service, In: reflect.TypeFor[In](), Out: reflect.TypeFor[Out]()}
}

func TestOnlyPublicActionsAreThereByName(t *testing.T) {
	hidden := action[User, User]("users.hidden")
	hidden.ClusterOnly = true
	got := describe(t, []*sabir.Action{action[User, User]("users.b"), hidden, action[User, User]("users.a")}, api.Sources{})
	var names []string
	for _, a := range got.Actions {
		names = append(names, a.Name)
	}
	if !slices.Equal(names, []string{"users.a", "users.b"}) {
		t.Errorf("got %v", names)
	}
}

func TestTypesOfActionsThatAreNotOfferedAreNotThere(t *testing.T) {
	hidden := action[GetUser, User]("users.hidden")
	hidden.ClusterOnly = true
	got := describe(t, []*sabir.Action{hidden, action[User, sabir.Empty]("users.put")}, api.Sources{})
	if len(got.Types) != 1 || got.Types["User"] == nil {
		t.Errorf("got %s", text(t, got.Types))
	}
}

func TestPlaceSaysWhereAnActionIs(t *testing.T) {
	from := api.Sources{Place: func(a *sabir.Action, d *api.Action) bool {
		d.Path, d.Auth = "/v1"+d.Path, []string{"jwt"}
		return a.Name != "users.b"
	}}
	got := describe(t, []*sabir.Action{action[User, User]("users.a"), action[User, User]("users.b")}, from)
	if len(got.Actions) != 1 || got.Actions[0].Path != "/v1/users/a" || !slices.Equal(got.Actions[0].Auth, []string{"jwt"}) {
		t.Errorf("got %s", text(t, got.Actions))
	}
}

func TestNothingHasNoSchema(t *testing.T) {
	type empty struct{}
	got := describe(t, []*sabir.Action{action[sabir.Empty, *empty]("users.ping")}, api.Sources{})
	if a := got.Actions[0]; a.In != nil || a.Out != nil {
		t.Errorf("got %s", text(t, a))
	}
}

func TestATypeThatCannotBeDescribedIsReportedAndMayBeAnything(t *testing.T) {
	type Bad struct {
		Good User
		C    chan int
	}
	bad := action[User, Bad]("users.bad")
	unwritable := action[User, User]("users.shown")
	unwritable.Examples = []struct{ In, Out any }{{In: User{}, Out: func() {}}, {In: User{ID: 1}, Out: User{ID: 2}}}
	got, err := api.Of(api.API{}, []*sabir.Action{bad, action[User, User]("users.good"), unwritable, bad}, api.Sources{})
	if err == nil || strings.Count(err.Error(), "chan int has no JSON form") != 1 || strings.Count(err.Error(), "the output of example 1") != 1 {
		t.Errorf("got the error %v", err)
	}
	if text := text(t, got.Actions[0]); !strings.Contains(text, `"in":{"$ref":"#/$defs/UserInput"},"out":{}`) {
		t.Errorf("got %s", text)
	}
	if n := len(got.Actions[3].Examples); n != 1 {
		t.Errorf("got %d examples, want the one that can be written", n)
	}
	if got.Types["Bad"] != nil {
		t.Errorf("parts of a type that failed are there: %s", text(t, got.Types))
	}
}

// remote returns an action of another node.
func remote(name string) *sabir.Action {
	service, _, _ := strings.Cut(name, ".")
	return &sabir.Action{Name: name, Service: service, Remote: true, Routes: []route.Route{{Method: "GET", Pattern: "/" + name}}}
}

func described[In, Out any](t *testing.T) schema.Described {
	t.Helper()
	d, err := schema.Describe(reflect.TypeFor[In](), reflect.TypeFor[Out]())
	if err != nil {
		t.Fatal(err)
	}
	var again schema.Described // as it comes from another node
	if err := json.Unmarshal([]byte(text(t, d)), &again); err != nil {
		t.Fatal(err)
	}
	return again
}

// reported returns a Lookup with descriptions as other nodes give them, by the name of the action.
func reported(list map[string]schema.Described) func(*sabir.Action) (description.Document, bool) {
	return func(a *sabir.Action) (description.Document, bool) {
		d, ok := list[a.Name]
		d.More = []*schema.Schema{d.Out}
		return description.Document{Described: d, Errors: []description.Error{{Code: "NotFound", Name: "E", Message: "No such one.", Data: 1}, {Code: "Aborted", Name: "F", Data: 2}},
			Examples: []description.Example{{In: []byte(`{"id":1}`)}}, Deprecated: "b.get", CacheFor: 1.5, Notes: map[string][]string{"roles": {"s"}}}, ok
	}
}

func TestActionsOfOtherNodesAreDescribedByThem(t *testing.T) {
	from := api.Sources{Lookup: reported(map[string]schema.Described{"other.get": described[GetUser, User](t)}), Scopes: "roles"}
	got := describe(t, []*sabir.Action{remote("other.get"), remote("other.silent")}, from)
	if text := text(t, got.Actions[0]); text != `{"name":"other.get","service":"other","path":"/other/get","routes":[{"method":"GET","pattern":"/other.get"}],`+
		`"in":{"$ref":"#/$defs/GetUser"},"out":{"$ref":"#/$defs/User"},"errors":[{"name":"E","code":"NotFound","status":404,"description":"No such one.","data":{"$ref":"#/$defs/User"}},{"name":"F","code":"Aborted","status":409}],`+
		`"scopes":["s"],"cacheFor":1.5,"examples":[{"in":{"id":1}}],"deprecated":true,"instead":"b.get"}` {
		t.Errorf("got %s", text)
	}
	if text := text(t, got.Actions[1]); text != `{"name":"other.silent","service":"other","path":"/other/silent","routes":[{"method":"GET","pattern":"/other.silent"}],"in":{},"out":{}}` {
		t.Errorf("got %s", text)
	}
}

type Node struct {
	Left, Right *Node
	Owner       *User
}

func TestTypesOfSeveralNodesAreThereOnce(t *testing.T) {
	from := api.Sources{Lookup: reported(map[string]schema.Described{
		"a.get": described[GetUser, Node](t), "b.get": described[GetUser, Node](t), "c.get": described[GetUser, User](t)})}
	local := action[GetUser, User]("users.get")
	got := describe(t, []*sabir.Action{local, remote("a.get"), remote("b.get"), remote("c.get")}, from)
	if len(got.Types) != 3 {
		t.Errorf("got the types %s", text(t, got.Types))
	}
	if text(t, got.Actions[0].Out) != `{"$ref":"#/$defs/Node"}` || text(t, got.Actions[1].Out) != `{"$ref":"#/$defs/Node"}` {
		t.Errorf("got %s", text(t, got.Actions))
	}
}

func TestOtherTypesOfOneNameKeepApart(t *testing.T) {
	one, two := described[GetUser, Node](t), described[GetUser, Node](t)
	two.Defs["User"].Properties = two.Defs["User"].Properties[:1]
	two.Defs["User"].GoType = "example.org/crm.User"
	from := api.Sources{Lookup: reported(map[string]schema.Described{"a.get": one, "b.get": two})}
	got := describe(t, []*sabir.Action{remote("a.get"), remote("b.get")}, from)
	if want := `{"$ref":"#/$defs/api_test.Node"}`; text(t, got.Actions[1].Out) != want {
		t.Errorf("got %s, want %s: it refers to another User", text(t, got.Actions[1].Out), want)
	}
	left := got.Types["api_test.Node"].Properties.Get("Left")
	if text := text(t, left); text != `{"anyOf":[{"$ref":"#/$defs/api_test.Node"},{"type":"null"}]}` {
		t.Errorf("got %s", text)
	}
	if text := text(t, got.Types["api_test.Node"].Properties.Get("Owner")); text != `{"anyOf":[{"$ref":"#/$defs/crm.User"},{"type":"null"}]}` {
		t.Errorf("got %s", text)
	}
	for name, s := range got.Types {
		for inner := range s.All() {
			if ref := inner.RefName(); ref != "" && got.Types[ref] == nil {
				t.Errorf("%s refers to %s, which is not there", name, ref)
			}
		}
	}
}

func TestATypeThatOneActionTakesAndAnotherGivesHasTwoNames(t *testing.T) {
	from := api.Sources{Lookup: reported(map[string]schema.Described{
		"a.add": described[User, sabir.Empty](t), "a.get": described[GetUser, User](t), "b.put": described[User, User](t)})}
	got := describe(t, []*sabir.Action{remote("a.add"), remote("a.get"), remote("b.put")}, from)
	want := `[{"$ref":"#/$defs/UserInput"},{"$ref":"#/$defs/User"},{"$ref":"#/$defs/UserInput"},{"$ref":"#/$defs/User"}]`
	if got := text(t, []any{got.Actions[0].In, got.Actions[1].Out, got.Actions[2].In, got.Actions[2].Out}); got != want {
		t.Errorf("got %s, want %s", got, want)
	}
	if len(got.Types) != 3 {
		t.Errorf("got the types %s", text(t, got.Types))
	}
}

func TestAReferenceToNothingIsAnything(t *testing.T) {
	from := api.Sources{Lookup: reported(map[string]schema.Described{"a.get": {In: &schema.Schema{Ref: "#/$defs/Gone"}, Out: &schema.Schema{Ref: "#/$defs/Loop"},
		Defs: map[string]*schema.Schema{"Loop": {Ref: "#/$defs/Loop"}}}})}
	got := describe(t, []*sabir.Action{remote("a.get")}, from)
	if a := got.Actions[0]; text(t, a.In) != `{}` || text(t, a.Out) != `{"$ref":"#/$defs/Loop"}` {
		t.Errorf("got %s", text(t, a))
	}
	if changes := api.Diff(got, got); changes != nil {
		t.Errorf("it changed: %v", changes)
	}
}

// many is n actions of this node and n of another one that describes the same types with each.
func many(n int) (list []*sabir.Action, from api.Sources) {
	d, err := schema.Describe(reflect.TypeFor[GetUser](), reflect.TypeFor[Node]())
	if err != nil {
		panic(err)
	}
	all := map[string]schema.Described{}
	for i := range n {
		a := remote(fmt.Sprintf("s%d.get", i))
		list = append(list, a, action[GetUser, Node](fmt.Sprintf("l%d.get", i)))
		all[a.Name] = d
	}
	return list, api.Sources{Lookup: reported(all)}
}

func TestThousandsOfActionsTakeWorkInProportion(t *testing.T) {
	work := func(n int) float64 {
		list, from := many(n)
		return testing.AllocsPerRun(1, func() {
			if got := describe(t, list, from); len(got.Actions) != 2*n || len(got.Types) != 3 {
				t.Fatalf("got %d actions and %d types", len(got.Actions), len(got.Types))
			}
		})
	}
	if small, large := work(100), work(1000); large > 12*small {
		t.Errorf("200 actions take %v allocations, ten times as many %v", small, large)
	}
}

func BenchmarkOf5000Actions(b *testing.B) {
	list, from := many(2500)
	b.ReportAllocs()
	for b.Loop() {
		if _, err := api.Of(api.API{}, list, from); err != nil {
			b.Fatal(err)
		}
	}
}

func ExampleOf() {
	get := &sabir.Action{Name: "users.get", Service: "users", In: reflect.TypeFor[GetUser](), Out: reflect.TypeFor[User]()}
	a, err := api.Of(api.API{Title: "Users", Version: "1.0"}, []*sabir.Action{get}, api.Sources{})
	fmt.Println(a.Actions[0].Path, a.Actions[0].In.Ref, a.Actions[0].Out.Ref, len(a.Types), err)
	// Output: /users/get #/$defs/GetUser #/$defs/User 2 <nil>
}
