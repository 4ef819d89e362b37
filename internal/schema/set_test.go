package schema_test

import (
	"encoding/json"
	"errors"
	"maps"
	"math/big"
	"net/netip"
	"net/url"
	"os/exec"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"

	panics "github.com/sabir-go/sabir/codec"
	codec "github.com/sabir-go/sabir/codec/json"
	"github.com/sabir-go/sabir/internal/schema"
)

type User struct {
	ID      int64    `json:"id" validate:"required"`
	Name    string   `json:"name,omitempty" validate:"required"`
	Address *Address `json:"address"`
	Friends []*User  `json:"friends"`
}

type Address struct {
	Street string `json:"street" validate:"required"`
}

type Page[T any] struct {
	Items []T `json:"items"`
}

type Pair[A, B any] struct {
	First  A `json:"first"`
	Second B `json:"second"`
}

type Optional struct {
	Note string `json:"note"`
	User *User  `json:"user"`
}

type Tree []Tree

type Forest map[string]struct{ Trees *Forest }

type Grade string

func (Grade) JSONSchema() schema.Schema {
	return schema.Schema{Type: schema.Types{"string"}, Enum: []any{"A", "B"}}
}

type writesText struct{}

func (writesText) MarshalText() ([]byte, error) { return nil, nil }

type readsJSON struct{ X int }

func (*readsJSON) UnmarshalJSON([]byte) error { return nil }

type UUID [16]byte

func (UUID) MarshalText() ([]byte, error) { return nil, nil }
func (*UUID) UnmarshalText([]byte) error  { return nil }

func names(set *schema.Set) string {
	return strings.Join(slices.Sorted(maps.Keys(set.Defs)), " ")
}

func TestANamedStructIsReferredTo(t *testing.T) {
	s, set := one[[]Address](t, schema.Input)
	wantJSON(t, s, `{"type":"array","items":{"$ref":"#/$defs/Address"}}`)
	wantJSON(t, set, `{"$defs":{"Address":{"type":"object","properties":{"street":{"type":"string","minLength":1,"x-validate":"required"}},"required":["street"],`+
		`"x-go-type":"github.com/sabir-go/sabir/internal/schema_test.Address"}}}`)
}

func TestAnUnnamedStructIsWrittenOut(t *testing.T) {
	s, set := one[struct{ A, B bool }](t, schema.Output)
	wantJSON(t, s, `{"type":"object","properties":{"A":{"type":"boolean"},"B":{"type":"boolean"}},"required":["A","B"]}`)
	wantJSON(t, set.Defs, `{}`)
}

func TestInputAndOutputOfATypeMayDiffer(t *testing.T) {
	var set schema.Set
	in, _ := set.Of(reflect.TypeFor[Page[User]](), schema.Input)
	wantJSON(t, in, `{"$ref":"#/$defs/PageUser"}`)
	out, _ := set.Of(reflect.TypeFor[Page[User]](), schema.Output)
	wantJSON(t, in, `{"$ref":"#/$defs/PageUserInput"}`)
	wantJSON(t, out, `{"$ref":"#/$defs/PageUser"}`)
	if got, want := names(&set), "Address AddressInput PageUser PageUserInput User UserInput"; got != want {
		t.Errorf("got the types %s, want %s", got, want)
	}
	wantJSON(t, set.Defs["User"].Required, `["id","address","friends"]`)
	wantJSON(t, set.Defs["UserInput"].Required, `["id","name"]`)
	wantJSON(t, set.Defs["PageUserInput"].Properties, `{"items":{"type":"array","items":{"$ref":"#/$defs/UserInput"}}}`)
	wantJSON(t, set.Defs["UserInput"].Properties.Get("friends"), `{"type":"array","items":{"anyOf":[{"$ref":"#/$defs/UserInput"},{"type":"null"}]}}`)
}

func TestATypeThatIsSettledIsReferredToByItsNames(t *testing.T) {
	var set schema.Set
	for _, side := range []schema.Side{schema.Output, schema.Input} {
		if _, err := set.Of(reflect.TypeFor[User](), side); err != nil {
			t.Fatal(err)
		}
	}
	in, _ := set.Of(reflect.TypeFor[Optional](), schema.Input)
	out, _ := set.Of(reflect.TypeFor[Optional](), schema.Output)
	wantJSON(t, []any{in, out}, `[{"$ref":"#/$defs/OptionalInput"},{"$ref":"#/$defs/Optional"}]`)
	wantJSON(t, set.Defs["OptionalInput"].Properties.Get("user"), `{"anyOf":[{"$ref":"#/$defs/UserInput"},{"type":"null"}]}`)
	wantJSON(t, set.Defs["Optional"].Properties.Get("user"), `{"anyOf":[{"$ref":"#/$defs/User"},{"type":"null"}]}`)
}

func TestATypeThatDiffersOnlyInWhatItRefersToDiffers(t *testing.T) {
	type holder struct {
		User User `json:"user" validate:"required"`
	}
	var set schema.Set
	in, _ := set.Of(reflect.TypeFor[holder](), schema.Input)
	out, _ := set.Of(reflect.TypeFor[holder](), schema.Output)
	wantJSON(t, []any{in, out}, `[{"$ref":"#/$defs/HolderInput"},{"$ref":"#/$defs/Holder"}]`)
}

func TestATypeRefusesItsZeroValueAsAnInputWhicheverWayWasDescribedFirst(t *testing.T) {
	type Letter struct {
		To Address `json:"to"`
	}
	for _, sides := range [][]schema.Side{{schema.Input, schema.Output}, {schema.Output, schema.Input}} {
		var set schema.Set
		for _, side := range sides { // Address alone, before what contains it
			_, _ = set.Of(reflect.TypeFor[Address](), side)
		}
		in, _ := set.Of(reflect.TypeFor[Letter](), schema.Input)
		wantJSON(t, in.Resolve(set.Defs).Required, `["to"]`)
	}
}

func TestATypeThatIsTheSameBothWaysHasOneName(t *testing.T) {
	type Filter struct {
		City string `json:"city,omitempty"`
	}
	var set schema.Set
	in, _ := set.Of(reflect.TypeFor[Filter](), schema.Input)
	out, _ := set.Of(reflect.TypeFor[Filter](), schema.Output)
	wantJSON(t, []any{in, out}, `[{"$ref":"#/$defs/Filter"},{"$ref":"#/$defs/Filter"}]`)
	if got := names(&set); got != "Filter" {
		t.Errorf("got the types %s", got)
	}
}

func TestNamesOfGenericTypes(t *testing.T) {
	for typ, want := range map[reflect.Type]string{
		reflect.TypeFor[Page[User]]():                        "#/$defs/PageUser",
		reflect.TypeFor[Page[string]]():                      "#/$defs/PageString",
		reflect.TypeFor[Pair[Page[url.Error], *User]]():      "#/$defs/PairPageErrorUser",
		reflect.TypeFor[Page[[]map[string]Pair[int, any]]](): "#/$defs/PageMapStringPairIntInterface",
	} {
		var set schema.Set
		s, err := set.Of(typ, schema.Output)
		if err != nil {
			t.Fatal(err)
		}
		if s.Ref != want {
			t.Errorf("%v: got %s, want %s", typ, s.Ref, want)
		}
	}
}

func TestTypesOfOneNameGetThatOfTheirPackage(t *testing.T) {
	var set schema.Set
	first, _ := set.Of(reflect.TypeFor[url.Error](), schema.Output)
	second, _ := set.Of(reflect.TypeFor[exec.Error](), schema.Output)
	local := func() reflect.Type { type Error struct{ A int }; return reflect.TypeFor[Error]() }()
	other := func() reflect.Type { type Error struct{ B int }; return reflect.TypeFor[Error]() }()
	third, _ := set.Of(local, schema.Output)
	fourth, _ := set.Of(other, schema.Output)
	wantJSON(t, []any{first, second, third.Ref[:17], fourth.Ref != third.Ref}, `[{"$ref":"#/$defs/Error"},{"$ref":"#/$defs/exec.Error"},"#/$defs/schema_te",true]`)
}

func TestTypesThatContainThemselves(t *testing.T) {
	_, set := one[Tree](t, schema.Output)
	wantJSON(t, set.Defs["Tree"].Items, `{"$ref":"#/$defs/Tree"}`)
	_, set = one[Forest](t, schema.Input)
	wantJSON(t, set.Defs["Forest"].AdditionalProperties.Properties, `{"Trees":{"anyOf":[{"$ref":"#/$defs/Forest"},{"type":"null"}]}}`)
	if !schemaOf(t, reflect.TypeFor[Tree](), schema.Output).accepts(`[[],[[[]]]]`) {
		t.Error("a tree is not accepted as one")
	}
}

func TestTypesThatSayWhatTheyLookLike(t *testing.T) {
	for _, c := range []struct {
		typ     reflect.Type
		in, out string
	}{
		{reflect.TypeFor[Grade](), `{"type":"string","enum":["A","B"]}`, `{"type":"string","enum":["A","B"]}`},
		{reflect.TypeFor[*Grade](), `{"type":["string","null"],"enum":["A","B",null]}`, `{"type":["string","null"],"enum":["A","B",null]}`},
		{reflect.TypeFor[netip.Addr](), `{"type":"string","x-protobuf-type":"optional bytes","x-go-type":"net/netip.Addr"}`, `{"type":"string","x-protobuf-type":"optional bytes","x-go-type":"net/netip.Addr"}`},
		{reflect.TypeFor[UUID](), `{"type":"string","format":"uuid","x-protobuf-type":"optional string","x-go-type":"github.com/sabir-go/sabir/internal/schema_test.UUID"}`, ``},
		{reflect.TypeFor[big.Int](), `{"type":"integer","x-protobuf-type":"optional string"}`, `{"type":"integer","x-protobuf-type":"optional string"}`},
		{reflect.TypeFor[*big.Int](), `{"type":["integer","null"],"x-protobuf-type":"optional string"}`, ``},
		{reflect.TypeFor[json.RawMessage](), `{"x-protobuf-type":"bytes"}`, `{"x-protobuf-type":"bytes"}`},
		{reflect.TypeFor[readsJSON](), `{"x-protobuf-fields":{"X":{"type":"integer","format":"int"}},"x-go-type":"github.com/sabir-go/sabir/internal/schema_test.readsJSON"}`, `{"$ref":"#/$defs/ReadsJSON"}`},
		{reflect.TypeFor[writesText](), `{"$ref":"#/$defs/WritesText"}`, `{"type":"string","x-go-type":"github.com/sabir-go/sabir/internal/schema_test.writesText"}`},
		{reflect.TypeFor[map[netip.Addr]int](), `{"type":"object","additionalProperties":{"type":"integer","format":"int"},"x-protobuf-type":"bytes"}`, ``},
		{reflect.TypeFor[map[time.Time]bool](), `{"type":"object","additionalProperties":{"type":"boolean"},"propertyNames":{"format":"date-time"},"x-protobuf-type":"google.protobuf.Timestamp"}`, ``},
		{reflect.TypeFor[map[UUID]bool](), `{"type":"object","additionalProperties":{"type":"boolean"},"propertyNames":{"format":"uuid"}}`, ``},
		{reflect.TypeFor[map[float64]bool](), `{"type":"object","additionalProperties":{"type":"boolean"},"propertyNames":{"pattern":"^-?(0|[1-9][0-9]*)(\\.[0-9]+)?([eE][-+]?[0-9]+)?$"},"x-protobuf-type":"double"}`, ``},
		{reflect.TypeFor[error](), ``, `{}`},
	} {
		for side, want := range map[schema.Side]string{schema.Input: c.in, schema.Output: c.out} {
			if want == "" {
				continue
			}
			var set schema.Set
			s, err := set.Of(c.typ, side)
			if err != nil {
				t.Fatalf("%v: %v", c.typ, err)
			}
			wantJSON(t, s, want)
		}
	}
}

func TestTheFieldsAreThoseOfTheCodec(t *testing.T) {
	type deep struct {
		A int `json:"a"`
		B int `json:"b"`
		C int `json:"c"`
		X int
	}
	type left struct {
		deep
		A string `json:"a"`
		D bool   `json:"d"`
	}
	type right struct {
		D      bool `json:"d"`
		hidden int
		E      int `json:"-"`
		F      int `json:",omitempty"`
	}
	type Whole struct {
		left
		*right `json:"-"`
		right2 *right
		R      right `json:"r,omitempty"`
		B      bool
		C      any       `json:"c,omitempty"`
		Z      time.Time `json:"z,omitzero"`
	}
	_ = right{hidden: 1}.hidden
	_ = Whole{}.right2
	_, set := one[Whole](t, schema.Output)
	text, err := codec.Codec.Append(nil, Whole{C: 1, Z: time.Now()})
	if err != nil {
		t.Fatal(err)
	}
	var want schema.Properties
	if err := json.Unmarshal(schemas(text), &want); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, p := range set.Defs["Whole"].Properties {
		got = append(got, p.Name)
	}
	var wanted []string
	for _, p := range want {
		wanted = append(wanted, p.Name)
	}
	if !reflect.DeepEqual(got, wanted) {
		t.Errorf("got the members %v, the codec writes %v", got, wanted)
	}
	wantJSON(t, set.Defs["Whole"].Required, `["b","X","a","d","r","B"]`)
}

// schemas makes each member of a JSON object the schema of anything.
func schemas(text []byte) []byte {
	var members map[string]json.RawMessage
	if json.Unmarshal(text, &members) != nil {
		return nil
	}
	for name := range members {
		text = []byte(strings.Replace(string(text), `:`+string(members[name]), `:{}`, 1))
	}
	return text
}

func TestTagsSayMoreToPeople(t *testing.T) {
	type Form struct {
		Name string         `json:"name" doc:"who" example:"Ada" default:"nobody" deprecated:"true"`
		Age  int            `json:"age" example:"42" default:"0"`
		Tags []string       `json:"tags" example:"[\"a\",\"b\"]"`
		At   time.Time      `json:"at" example:"2026-01-02T03:04:05Z"`
		Big  uint64         `json:"big" example:"18446744073709551615"`
		Wait *time.Duration `json:"wait" example:"1m" default:"30s"`
		Pin  string         `json:"pin" sabir:"secret"`
		Home Address        `json:"home" doc:"where" example:"{\"street\":\"x\"}"`
		Work *Address       `json:"work" doc:"where too"`
	}
	_, set := one[Form](t, schema.Input)
	wantJSON(t, set.Defs["Form"].Properties, `{"name":{"type":"string","description":"who","default":"nobody","examples":["Ada"],"deprecated":true},`+
		`"age":{"type":"integer","format":"int","default":0,"examples":[42]},`+
		`"tags":{"type":"array","examples":[["a","b"]],"items":{"type":"string"}},`+
		`"at":{"type":"string","format":"date-time","examples":["2026-01-02T03:04:05Z"]},`+
		`"big":{"type":"integer","format":"uint64","examples":[18446744073709551615],"minimum":0},`+
		`"wait":{"type":["integer","null"],"format":"duration-ns","default":30000000000,"examples":[60000000000]},`+
		`"pin":{"type":"string","writeOnly":true},`+
		`"home":{"$ref":"#/$defs/Address","description":"where","examples":[{"street":"x"}]},`+
		`"work":{"description":"where too","anyOf":[{"$ref":"#/$defs/Address"},{"type":"null"}]}}`)
	_, set = one[Form](t, schema.Output)
	wantJSON(t, set.Defs["Form"].Properties.Get("pin"), `{"type":"string"}`)
}

// The action that had one was described without its input and its output.
func TestADefaultOfATextThatMayBeNullAndHasARuleIsThatText(t *testing.T) {
	type Form struct {
		Lang *string `json:"lang" validate:"omitempty,ne=fr" default:"de" example:"dk"`
	}
	_, set := one[Form](t, schema.Input)
	lang := set.Defs["Form"].Properties.Get("lang")
	if lang.AnyOf == nil || lang.Default != "de" || len(lang.Examples) != 1 || lang.Examples[0] != "dk" {
		t.Errorf("it is %+v", lang)
	}
}

func TestWhatCannotBeDescribedIsAnError(t *testing.T) {
	type selfish *selfish
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{reflect.TypeFor[struct{ C chan int }](), "field C: chan int has no JSON form"},
		{reflect.TypeFor[Page[func()]](), "func() has no JSON form"},
		{reflect.TypeFor[complex128](), "complex128 has no JSON form"},
		{reflect.TypeFor[error](), "an interface with methods"},
		{reflect.TypeFor[map[bool]int](), "bool cannot be the key"},
		{reflect.TypeFor[selfish](), "points to itself"},
		{reflect.TypeFor[struct {
			A int `example:"x"`
		}](), `field A: example:"x": integer is wanted`},
		{reflect.TypeFor[struct {
			A int `default:"1.5"`
		}](), `default:"1.5": integer is wanted`},
		{fieldNamed[[]int](`json:",string"`, ""), `the option "string"`},
	} {
		var set schema.Set
		_, err := set.Of(c.typ, schema.Input)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%v: got the error %v, want one with %q", c.typ, err, c.want)
		}
		if _, again := set.Of(c.typ, schema.Input); again == nil || again.Error() != err.Error() {
			t.Errorf("%v: got the error %v the second time", c.typ, again)
		}
	}
}

func TestRulesThatCannotBeSaidAreKept(t *testing.T) {
	for _, c := range []struct {
		typ  reflect.Type
		want string
	}{
		{field[string]("required,eqfield=F"), `{"type":"string","minLength":1,"x-rules":["eqfield=F"]}`},
		{field[string]("omitempty,fqdn"), `{"type":"string","x-rules":["omitempty","fqdn"]}`},
		{field[string]("omitempty,fqdn,min=3"), `{"type":"string","anyOf":[{"const":""},{"minLength":3}],"x-rules":["omitempty","fqdn"]}`},
		{field[string]("fqdn|ip"), `{"type":"string","x-rules":["fqdn|ip"]}`},
		{field[*string]("required_with=F"), `{"type":["string","null"],"x-rules":["required_with=F"]}`},
		{field[time.Time]("required,gt"), `{"type":"string","format":"date-time","not":{"const":"0001-01-01T00:00:00Z"},"x-rules":["gt"]}`},
		{field[map[string]int]("unique"), `{"type":"object","additionalProperties":{"type":"integer","format":"int"},"x-rules":["unique"]}`},
		{field[any]("oneof=a b"), `{"not":{"type":"null"},"x-rules":["oneof=a b"]}`},
		{field[string]("my_rule=1"), `{"type":"string","x-rules":["my_rule=1"]}`},
	} {
		var set schema.Set
		s, err := set.Of(c.typ, schema.Input)
		if err != nil {
			t.Fatal(err)
		}
		got := s.Properties.Get("f")
		if got.Tag != c.typ.Field(0).Tag.Get("validate") {
			t.Errorf("%v: got the tag %q", c.typ, got.Tag)
		}
		got.Tag = ""
		wantJSON(t, got, c.want)
	}
}

func TestAnUnknownRuleDemandsNothing(t *testing.T) {
	s, _ := one[struct {
		A string  `validate:"my_rule"`
		B *string `validate:"my_rule"`
		C *string `validate:"required_without=A"`
	}](t, schema.Input)
	if s.Required != nil {
		t.Errorf("required: %v", s.Required)
	}
}

func TestSchemasAreValidByTheMetaSchema(t *testing.T) {
	meta, err := jsonschema.NewCompiler().Compile("https://json-schema.org/draft/2020-12/schema")
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range verdicts {
		var set schema.Set
		for _, side := range []schema.Side{schema.Input, schema.Output} {
			s, err := set.Of(c.typ, side)
			if err != nil {
				t.Fatal(err)
			}
			text := document(t, s, set.Defs)
			doc, err := jsonschema.UnmarshalJSON(strings.NewReader(text))
			if err != nil {
				t.Fatal(err)
			}
			if err := meta.Validate(doc); err != nil {
				t.Errorf("%v: %v\n%s", c.typ, err, text)
			}
		}
	}
}

// Impossible panics when it is asked for its schema.
type Impossible struct{}

func (Impossible) JSONSchema() schema.Schema { panic("the password is swordfish") }

func TestAPanicOfJSONSchemaIsAnErrorThatDoesNotTellIt(t *testing.T) {
	for _, typ := range []reflect.Type{reflect.TypeFor[Impossible](), reflect.TypeFor[Page[Impossible]](), reflect.TypeFor[*Impossible]()} {
		_, err := schema.Describe(typ, nil)
		if p, ok := errors.AsType[*panics.PanicError](err); !ok || strings.Contains(err.Error(), "swordfish") || !strings.Contains(string(p.Stack), "Impossible.JSONSchema") {
			t.Errorf("%v: got %v", typ, err)
		}
	}
}

type (
	pointersOnly *pointersOnly
	listsOnly    []listsOnly
	mapsOnly     map[string]mapsOnly
)

// Each of these ends, with a schema or an error: a type that leads to itself must not fill the stack.
func TestTypesThatLeadToThemselvesAreDescribedOrRefused(t *testing.T) {
	for _, typ := range []reflect.Type{
		reflect.TypeFor[pointersOnly](), reflect.TypeFor[struct{ In pointersOnly }](), reflect.TypeFor[map[pointersOnly]int](),
		reflect.TypeFor[struct{ In map[pointersOnly]int }](), reflect.TypeFor[[]pointersOnly](), reflect.TypeFor[listsOnly](),
		reflect.TypeFor[struct{ In listsOnly }](), reflect.TypeFor[mapsOnly](), reflect.TypeFor[struct{ In *mapsOnly }](),
	} {
		d, err := schema.Describe(typ, typ)
		if err == nil && d.In == nil {
			t.Errorf("%v has neither a schema nor an error", typ)
		}
	}
}
