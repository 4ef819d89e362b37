package typescript

import (
	"math/big"
	"reflect"
	"testing"
	"time"

	"github.com/sabir-go/sabir/internal/api"
	"github.com/sabir-go/sabir/internal/route"
	"github.com/sabir-go/sabir/internal/schema"
	_ "github.com/sabir-go/sabir/validate/playground" // rules of the library
)

// The shop is the API that all tests use: something of everything.

type Role string

type Address struct {
	Street string `json:"street" validate:"required"`
	City   string `json:"city" validate:"required,max=40"`
}

type User struct {
	ID      int64             `json:"id"`
	Name    string            `json:"name" doc:"How the user is called."`
	Email   string            `json:"email,omitempty"`
	Born    time.Time         `json:"born"`
	Seen    *time.Time        `json:"seen"`
	Role    Role              `json:"role"`
	Visits  uint64            `json:"visits"`
	Age     int               `json:"age"`
	Score   float64           `json:"score"`
	Tags    []string          `json:"tags"`
	Avatar  []byte            `json:"avatar"`
	Limits  map[string]int64  `json:"limits"`
	Friends []*User           `json:"friends,omitempty"`
	Extra   map[string]any    `json:"extra,omitempty"`
	Labels  map[string]string `json:"labels,omitempty"`
	Took    time.Duration     `json:"took"`
}

type GetUser struct {
	ID     int64    `json:"id" validate:"required"`
	Lang   string   `json:"lang,omitempty" query:"lang"`
	Fields []string `json:"fields,omitempty" query:"field"`
	Tenant string   `json:"tenant,omitempty" header:"X-Tenant"`
}

type NewUser struct {
	Name     string    `json:"name" validate:"required,min=2,max=8" doc:"Two to eight characters."`
	Email    string    `json:"email" validate:"required,email"`
	Born     time.Time `json:"born" validate:"required"`
	Role     Role      `json:"role" validate:"oneof=admin member"`
	Age      int       `json:"age" validate:"gte=0,lte=150"`
	Cents    int64     `json:"cents" validate:"min=1"`
	Tags     []string  `json:"tags" validate:"max=3,unique,dive,min=1,max=5"`
	Home     Address   `json:"home"`
	Work     *Address  `json:"work,omitempty" validate:"omitempty"`
	Avatar   []byte    `json:"avatar,omitempty"`
	Nick     *string   `json:"nick" validate:"omitempty,min=2"`
	Site     string    `json:"site,omitempty" validate:"omitempty,url"`
	Code     string    `json:"code,omitempty" validate:"omitempty,startswith=x-,len=4"`
	Password string    `json:"password,omitempty" validate:"omitempty,min=8" sabir:"secret"`
	Again    string    `json:"again,omitempty" validate:"eqfield=Password"`
	Seats    int8      `json:"seats" default:"1" validate:"min=1,max=100"`
	Plan     string    `json:"plan" default:"free" validate:"required,oneof=free pro"`
	Colors   []string  `json:"colors" default:"[\"red\"]" validate:"min=1"`
}

type Page[T any] struct {
	Items []T   `json:"items"`
	Total int64 `json:"total"`
}

type FindNotes struct {
	Word   string `json:"word"`
	Cursor string `json:"cursor,omitempty"`
}

type Notes struct {
	Items []string `json:"items"`
	Next  string   `json:"next,omitempty"`
}

type ListUsers struct {
	Limit int32  `json:"limit,omitempty" validate:"omitempty,min=1,max=100"`
	After string `json:"after,omitempty"`
}

type NoUser struct {
	ID     int64     `json:"id"`
	Before time.Time `json:"before"`
}

type Numbers struct {
	Int64  int64    `json:"int64"`
	Uint64 uint64   `json:"uint64"`
	Int    int      `json:"int"`
	Float  float64  `json:"float"`
	Any    any      `json:"any"`
	Big    *big.Int `json:"big,omitempty"`
}

type Wait struct {
	Millis int `json:"millis"`
}

type Tail struct {
	File string `json:"file"`
	From int    `json:"from,omitempty"`
}

type Line struct {
	N    int64     `json:"n"`
	At   time.Time `json:"at"`
	Text string    `json:"text"`
}

type Said struct {
	Text string    `json:"text"`
	N    int64     `json:"n"`
	At   time.Time `json:"at"`
}

type Receipt struct {
	Bytes  int64  `json:"bytes"`
	Name   string `json:"name"`
	Type   string `json:"type"`
	SHA256 string `json:"sha256"`
}

type FileName struct {
	Name string `json:"name"`
}

// adding makes the schemas of an API.
type adding struct {
	t   testing.TB
	set schema.Set
	api api.API
}

func of[T any]() reflect.Type { return reflect.TypeFor[T]() }

func (a *adding) schema(t reflect.Type, side schema.Side) *schema.Schema {
	a.t.Helper()
	s, err := a.set.Of(t, side)
	if err != nil {
		a.t.Fatal(err)
	}
	return s
}

func (a *adding) action(name, path string, in, out reflect.Type, more api.Action) {
	a.t.Helper()
	more.Name, more.Path = name, path
	more.In, more.Out = a.schema(in, schema.Input), a.schema(out, schema.Output)
	a.api.Actions = append(a.api.Actions, more)
}

// shop describes the fixture.
func shop(t testing.TB) api.API {
	t.Helper()
	a := &adding{t: t, api: api.API{
		Title: "Shop", Version: "1.2.0", Description: "Sells rope.\nAnd tea.", Batch: "/batch",
		Events: &api.Events{Path: "/events", Patterns: []string{"orders.*"}},
	}}
	noUser := api.Error{Name: "NoSuchUser", Code: "NotFound", Status: 404, Description: "There is no user with this id.", Data: a.schema(of[NoUser](), schema.Output)}
	a.action("chat.room", "/chat/room", of[Said](), of[Said](), api.Action{Stream: true, Description: "Says back what it hears."})
	a.action("clock.now", "/clock/now", nil, of[time.Time](), api.Action{Idempotent: true})
	a.action("clock.reset", "/clock/reset", nil, nil, api.Action{Deprecated: true})
	a.action("clock.wait", "/clock/wait", of[Wait](), nil, api.Action{Description: "Answers later."})
	a.action("files.get", "/files/get", of[FileName](), of[[]byte](), api.Action{Stream: true, Description: "A file."})
	a.action("files.put", "/files/put", of[[]byte](), of[Receipt](), api.Action{Stream: true, Description: "Keeps a file."})
	a.action("flaky.get", "/flaky/get", of[FileName](), of[string](), api.Action{Idempotent: true})
	a.action("flaky.set", "/flaky/set", of[FileName](), of[string](), api.Action{})
	a.action("log.tail", "/log/tail", of[Tail](), of[Line](), api.Action{Stream: true, Description: "The lines of a log as they come.",
		Errors: []api.Error{{Name: "LostFile", Code: "DataLoss", Status: 500}}})
	a.action("notes.find", "/notes/find", of[FindNotes](), of[Notes](), api.Action{Idempotent: true})
	a.action("numbers.echo", "/numbers/echo", of[Numbers](), of[Numbers](), api.Action{})
	a.action("numbers.raw", "/numbers/raw", of[FileName](), of[Numbers](), api.Action{Description: "Answers with the name as it is."})
	a.action("users.create", "/users/create", of[NewUser](), of[User](), api.Action{Description: "Makes a user.",
		Routes: []route.Route{{Method: "POST", Pattern: "/users", Body: true}}})
	a.action("users.get", "/users/get", of[GetUser](), of[User](), api.Action{Description: "A user by id.", Idempotent: true,
		Routes: []route.Route{{Method: "GET", Pattern: "/users/{id}", Params: []route.Param{
			{Name: "id", In: route.Path, Field: "id", Kind: route.Integer, Required: true},
			{Name: "lang", In: route.Query, Field: "lang", Kind: route.Text},
			{Name: "field", In: route.Query, Field: "fields", Kind: route.Text, List: true},
			{Name: "X-Tenant", In: route.Header, Field: "tenant", Kind: route.Text},
		}}},
		Errors: []api.Error{noUser}})
	a.action("users.list", "/users/list", of[ListUsers](), of[Page[User]](), api.Action{Description: "All users.\nBy id."})
	a.action("v2.users.get", "/v2/users/get", of[GetUser](), of[User](), api.Action{Errors: []api.Error{noUser, {Name: "Gone", Code: "NotFound", Status: 404}}})
	a.api.Types = a.set.Defs
	return a.api
}
