package validate

import (
	"context"
	"encoding/json"
	"errors"
	"iter"
	"maps"
	"reflect"
	"strings"
	"sync"
	"testing"
	"time"
	"unsafe"

	"github.com/sabir-go/sabir/internal/tag"
)

// failures checks value and returns its errors.
func failures(t *testing.T, v *Validator, value any) Errors {
	t.Helper()
	err := v.Struct(value)
	if err == nil {
		return nil
	}
	list, ok := errors.AsType[Errors](err)
	if !ok {
		t.Fatalf("got %T: %v", err, err)
	}
	return list
}

func onlyFailure(t *testing.T, v *Validator, value any) FieldError {
	t.Helper()
	list := failures(t, v, value)
	if len(list) != 1 {
		t.Fatalf("want one failed field, got %v", list)
	}
	return list[0]
}

func mustRegister(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func TestEveryFailedFieldIsListedWithPathRuleAndValue(t *testing.T) {
	type line struct {
		Price float64 `json:"price" validate:"gt=0"`
	}
	type cart struct {
		Name   string            `json:"name" validate:"required,max=5"`
		Lines  []line            `json:"items" validate:"dive"`
		Labels map[string]string `json:"labels" validate:"dive,max=2"`
		NoJSON int               `validate:"oneof=1 2"`
	}
	got := failures(t, New(), cart{
		Name: "too long", Lines: []line{{1}, {2}, {-3}}, Labels: map[string]string{"a/b.c": "long"}, NoJSON: 3,
	})
	want := Errors{
		{"name", "/name", "max", "5", "too long", "name must be a maximum of 5 characters in length"},
		{"items[2].price", "/items/2/price", "gt", "0", -3.0, "price must be greater than 0"},
		{"labels[a/b.c]", "/labels/a~1b.c", "max", "2", "long", "labels[a/b.c] must be a maximum of 2 characters in length"},
		{"NoJSON", "/NoJSON", "oneof", "1 2", 3, "NoJSON must be one of [1 2]"},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("\ngot  %+v\nwant %+v", got, want)
	}
	text, err := json.Marshal(got[:1])
	if err != nil {
		t.Fatal(err)
	}
	const wantJSON = `[{"path":"name","pointer":"/name","rule":"max","param":"5","value":"too long","message":"name must be a maximum of 5 characters in length"}]`
	if string(text) != wantJSON {
		t.Errorf("as JSON: %s", text)
	}
}

func TestErrorTextNamesEveryField(t *testing.T) {
	type body struct {
		A string `json:"a" validate:"required"`
		B string `json:"b" validate:"len=2"`
	}
	const want = "validation failed: a: a is a required field; b: b must be 2 characters in length"
	if got := New().Struct(body{}).Error(); got != want {
		t.Errorf("got %q", got)
	}
}

type wrapper[T any] struct {
	Inner T `json:"inner"`
}

func TestPathOfUnusualNames(t *testing.T) {
	type leaf struct {
		X int `json:"a.b[c]" validate:"required"`
	}
	type Base struct {
		ID string `json:"id" validate:"required"`
	}
	type embeds struct{ Base }
	type embedsPointer struct {
		*Base `validate:"required"`
	}
	type embedsNamed struct {
		Base `json:"base"`
	}
	type keyed struct {
		M map[string]leaf `json:"m" validate:"dive"`
	}
	type hiding struct {
		Base `sabir:"secret"`
	}
	type dashed struct {
		Secret string `json:"-" validate:"required"`
	}
	type dash struct {
		Dash string `json:"-,omitempty" validate:"required"`
	}
	type dissolved struct {
		Base Base `json:",embed"`
	}
	type badName struct {
		Quoted string `json:"a'b" validate:"required"`
	}
	tests := []struct {
		name          string
		value         any
		path, pointer string
	}{
		{"a field named -", dash{}, "-", "/-"},
		{"a struct with the option embed", dissolved{}, "id", "/id"},
		{"a name that is none to encoding/json", badName{}, "Quoted", "/Quoted"},
		{"dots and brackets in a JSON name", leaf{}, "a.b[c]", "/a.b[c]"},
		{"dots in the name of a generic type", wrapper[leaf]{}, "inner.a.b[c]", "/inner/a.b[c]"},
		{"fields of an embedded struct belong to the outer object", embeds{}, "id", "/id"},
		{"an embedded struct that is missing is the value itself", embedsPointer{}, "", ""},
		{"an embedded secret", hiding{}, "id", "/id"},
		{"an embedded struct with a JSON name is an object", embedsNamed{}, "base.id", "/base/id"},
		{"brackets in a map key", keyed{map[string]leaf{"k]~x": {}}}, "m[k]~x].a.b[c]", "/m/k]~0x/a.b[c]"},
		{"control characters in a map key", keyed{map[string]leaf{"\x01\x02": {}}}, "m[\x01\x02].a.b[c]", "/m/\x01\x02/a.b[c]"},
		{"a field that JSON leaves out has its Go name", dashed{}, "Secret", "/Secret"},
		{"an unnamed struct type", struct{ leaf }{}, "a.b[c]", "/a.b[c]"},
		{"an element of a slice", []leaf{{1}, {}}, "[1].a.b[c]", "/1/a.b[c]"},
		{"an entry of a map", map[string]*leaf{"k": {}}, "[k].a.b[c]", "/k/a.b[c]"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got := onlyFailure(t, New(), test.value)
			if got.Path != test.path || got.Pointer != test.pointer {
				t.Errorf("got %q and %q, want %q and %q", got.Path, got.Pointer, test.path, test.pointer)
			}
			if strings.ContainsAny(got.Message, "\x02\x03\x04") && !strings.Contains(test.path, "\x02") {
				t.Errorf("marks in the message %q", got.Message)
			}
		})
	}
}

func TestSecretsAreNotEchoed(t *testing.T) {
	type keys struct {
		Private string `json:"private" validate:"min=20"`
	}
	type login struct {
		Password string   `json:"password" validate:"min=8" sabir:"secret"`
		Keys     keys     `json:"keys" sabir:"secret"`
		Pins     []string `json:"pins" validate:"dive,len=4" sabir:"secret"`
		Users    []keys   `json:"users" validate:"max=1"`
		User     *keys    `json:"user" validate:"isdefault"`
	}
	list := failures(t, New(), login{"hunter2", keys{"hunter2"}, []string{"hunter2"}, []keys{{"hunter2"}, {}}, &keys{"hunter2 hunter2 hunter2"}})
	if len(list) != 5 {
		t.Fatalf("got %v", list)
	}
	text, err := json.Marshal(list)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(text), "hunter2") || strings.Contains(string(text), `\u0001`) {
		t.Errorf("leaked: %s", text)
	}
	if list[0].Value != "***" || list[0].Path != "password" || list[1].Value != "***" || list[2].Pointer != "/pins/0" {
		t.Errorf("got %+v", list)
	}
}

func TestEchoedValuesAreBounded(t *testing.T) {
	type body struct {
		Text  string         `validate:"max=1"`
		Few   []int          `validate:"max=1"`
		Many  []int          `validate:"max=1"`
		Long  []string       `validate:"max=0"`
		Deep  [][]int        `validate:"max=0"`
		Map   map[string]int `validate:"max=0"`
		Named word           `validate:"max=1"`
		When  time.Time      `validate:"isdefault"`
		Item  inner          `validate:"isdefault"`
	}
	long := strings.Repeat("é", 1000)
	now := time.Now()
	in := body{"é" + long, []int{1, 2}, make([]int, 100), []string{long}, [][]int{{}}, map[string]int{"a": 1}, word(long), now, inner{"x", "y"}}
	want := []any{strings.Repeat("é", 128) + "…", []int{1, 2}, "(100 items)", "(1 items)", "(1 items)", map[string]int{"a": 1}, strings.Repeat("é", 128) + "…", now, nil}
	for i, field := range failures(t, New(), in) {
		if !reflect.DeepEqual(field.Value, want[i]) {
			t.Errorf("%s: got %v, want %v", field.Path, field.Value, want[i])
		}
	}
}

func TestTheListOfErrorsIsBounded(t *testing.T) {
	type body struct {
		N []int `json:"n" validate:"dive,gt=0"`
	}
	list := failures(t, New(), body{make([]int, 5000)})
	if last := list[len(list)-1]; len(list) != 1001 || last.Rule != "more" || last.Param != "4000" {
		t.Errorf("%d errors, the last is %+v", len(list), last)
	}
}

func TestAlias(t *testing.T) {
	type body struct {
		Pass  string         `json:"pass" validate:"password"`
		Names map[string]int `json:"names" validate:"names"`
	}
	v := New()
	mustRegister(t, v.RegisterAlias("password", "min=3,max=5"))
	mustRegister(t, v.RegisterAlias("names", "dive,keys,alpha,endkeys,gt=0"))
	if list := failures(t, v, body{"abc", map[string]int{"a": 1}}); list != nil {
		t.Error(list)
	}
	list := failures(t, v, body{"abcdef", map[string]int{"1": 1}})
	if len(list) != 2 || list[0].Rule != "password" || list[0].Message != "pass does not satisfy the rule password=5" {
		t.Errorf("got %+v", list)
	}
	mustRegister(t, v.RegisterAlias("password", "min=6"))
	if got := onlyFailure(t, v, body{"abc", nil}); got.Param != "6" {
		t.Errorf("the new meaning has no effect: %+v", got)
	}
}

func TestRefusedRegistrations(t *testing.T) {
	tests := map[string]func(*Validator) error{
		"an alias with a reserved name":  func(v *Validator) error { return v.RegisterAlias("dive", "min=1") },
		"an alias with half of the keys": func(v *Validator) error { return v.RegisterAlias("x", "dive,keys") },
		"an alias of itself":             func(v *Validator) error { return v.RegisterAlias("x", "min=1,x") },
		"an alias of itself by way":      func(v *Validator) error { return errors.Join(v.RegisterAlias("x", "y"), v.RegisterAlias("y", "x")) },
		"an empty message":               func(v *Validator) error { return v.SetMessage("min", "") },
	}
	for name, register := range tests {
		t.Run(name, func(t *testing.T) {
			v := New()
			if register(v) == nil {
				t.Error("accepted")
			}
			if list := failures(t, v, inner{Name: "ok"}); list != nil {
				t.Errorf("the validator no longer works: %v", list)
			}
		})
	}
}

type celsius struct{ degrees float64 }

func (c celsius) ValidatorValue() any { return c.degrees }

func TestTypesThatGiveTheirOwnValue(t *testing.T) {
	type body struct {
		T celsius  `validate:"gt=0"`
		P *celsius `validate:"omitempty,gt=0"`
	}
	v := New()
	if list := failures(t, v, body{celsius{1}, &celsius{1}}); list != nil {
		t.Error(list)
	}
	if list := failures(t, v, body{celsius{-1}, &celsius{-1}}); len(list) != 2 {
		t.Errorf("got %v", list)
	}
}

func TestTagsThatCannotWorkAreFoundWhenCompiling(t *testing.T) {
	tests := []struct {
		name  string
		value any
	}{
		{"unknown rule", struct {
			F string `validate:"requird"`
		}{}},
		{"empty rule", struct {
			F string `validate:"required,,min=1"`
		}{}},
		{"parameter that is no number", struct {
			F string `validate:"omitempty,min=abc"`
		}{}},
		{"negative bound of an unsigned number", struct {
			F uint `validate:"min=-1"`
		}{}},
		{"missing parameter", struct {
			F []int `validate:"len"`
		}{}},
		{"fraction for an integer", struct {
			F int `validate:"max=1.5"`
		}{}},
		{"bool compared with text", struct {
			F bool `validate:"eq=maybe"`
		}{}},
		{"order of bools", struct {
			F bool `validate:"min=1"`
		}{}},
		{"order of structs", struct {
			F inner `validate:"min=1"`
		}{}},
		{"length of a time", struct {
			F time.Time `validate:"len=1"`
		}{}},
		{"oneof of floats", struct {
			F float64 `validate:"oneof=1.5"`
		}{}},
		{"lower case of a number", struct {
			F int `validate:"lowercase"`
		}{}},
		{"dive into a string", struct {
			F string `validate:"dive,min=1"`
		}{}},
		{"keys of a slice", struct {
			F []int `validate:"dive,keys,min=1,endkeys"`
		}{}},
		{"keys without dive", struct {
			F map[string]int `validate:"keys,min=1,endkeys"`
		}{}},
		{"rule for elements", struct {
			F [][]string `validate:"dive,dive,min=x"`
		}{}},
		{"rule behind a pointer", struct {
			F **bool `validate:"gt=3"`
		}{}},
		{"rule in an alternative", struct {
			F string `validate:"alpha|min=x"`
		}{}},
		{"condition without its pairs", struct {
			F string `validate:"required_if=X"`
		}{}},
		{"in a slice of structs", []struct {
			F string `validate:"nope"`
		}{}},
		{"in a nested struct", wrapper[struct {
			F string `validate:"nope"`
		}]{}},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			_, err := New().Compile(reflect.TypeOf(test.value))
			bad, ok := errors.AsType[*TagError](err)
			if !ok {
				t.Fatalf("got %v", err)
			}
			if bad.Field != "F" || bad.Tag == "" || bad.Type == nil || bad.Reason == "" || !strings.Contains(err.Error(), bad.Tag) {
				t.Errorf("got %+v", bad)
			}
		})
	}
}

func TestTypesWithoutRulesHaveAnEmptyPlan(t *testing.T) {
	type node struct {
		Next  *node
		Kids  []node         `validate:"dive"`
		Other map[string]any `validate:"omitempty"`
		When  time.Time
		Skip  inner `validate:"-"`
		Undug []inner
	}
	for _, empty := range []reflect.Type{
		reflect.TypeFor[int](), reflect.TypeFor[string](), reflect.TypeFor[[]string](), reflect.TypeFor[map[string]int](),
		reflect.TypeFor[any](), reflect.TypeFor[struct{}](), reflect.TypeFor[time.Time](), reflect.TypeFor[[]time.Time](),
		reflect.TypeFor[node](), reflect.TypeFor[*node](), reflect.TypeFor[[]*node](), reflect.TypeFor[endless](), reflect.TypeFor[endlessPointer](),
	} {
		plan, err := New().Compile(empty)
		if err != nil {
			t.Fatal(err)
		}
		if !plan.Empty() {
			t.Errorf("%v has something to check", empty)
		}
	}
	if plan := mustCompile[inner](t, New()); plan.Empty() {
		t.Error("a type with rules has an empty plan")
	}
	if !(*Plan)(nil).Empty() || (*Plan)(nil).Check(nil) != nil || !new(Plan).Empty() || new(Plan).Check(nil) != nil {
		t.Error("no plan has something to check")
	}
}

type (
	endless        []endless
	endlessPointer *endlessPointer
)

func TestTopLevelTypes(t *testing.T) {
	good, bad := inner{Name: "abc"}, inner{Name: "abcd"}
	goodP, badP := &good, &bad
	tests := []struct {
		name  string
		value any
		path  string // of the only failure, "-" for none
	}{
		{"struct", good, "-"},
		{"bad struct", bad, "Name"},
		{"pointer", goodP, "-"},
		{"bad pointer", badP, "Name"},
		{"pointer to a pointer", &goodP, "-"},
		{"bad pointer to a pointer", &badP, "Name"},
		{"nil pointer", (*inner)(nil), ""},
		{"slice", []inner{good, bad}, "[1].Name"},
		{"pointer to a slice", &[]inner{good, bad}, "[1].Name"},
		{"slice of pointers", []*inner{nil, badP}, "[1].Name"},
		{"array", [2]inner{good, bad}, "[1].Name"},
		{"map", map[string]inner{"k": bad}, "[k].Name"},
		{"nested slices", [][]inner{{good}, {good, bad}}, "[1][1].Name"},
		{"empty slice", []inner{}, "-"},
		{"nil map", map[string]inner(nil), "-"},
		{"number", 5, "-"},
		{"nothing", nil, "-"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			v := New()
			if test.path == "-" {
				if list := failures(t, v, test.value); list != nil {
					t.Error(list)
				}
				return
			}
			if got := onlyFailure(t, v, test.value); got.Path != test.path {
				t.Errorf("got %q, want %q", got.Path, test.path)
			}
		})
	}
}

func nested(depth int) *tree {
	node := &tree{Name: "abc"}
	for range depth {
		node = &tree{Name: "abc", Left: node}
	}
	return node
}

func TestDepthIsBounded(t *testing.T) {
	v := New()
	if err := v.Struct(nested(maxDepth)); err != nil {
		t.Errorf("at the bound: %v", err)
	}
	if err := v.Struct(nested(maxDepth + 1)); !errors.Is(err, errTooDeep) {
		t.Errorf("beyond the bound: %v", err)
	}
	deepAndWrong := nested(1_000_000)
	deepAndWrong.Name = ""
	if err := v.Struct(deepAndWrong); !errors.Is(err, errTooDeep) {
		t.Errorf("with a failure before the bound: %v", err)
	}
}

func TestAValueOnAStackThatMovesIsCheckedRight(t *testing.T) {
	plan := mustCompile[tree](t, New())
	good, bad := nested(900), nested(900)
	bad.Left.Left.Left.Name = "long"
	results := make(chan error)
	for range 50 {
		go func() { // a new goroutine's stack is small and has to grow, and so to move, on the way
			local := tree{Name: "abc", ByName: map[string]*tree{"a": good}, Children: []tree{*good}}
			results <- plan.Check(unsafe.Pointer(&local))
		}()
		go func() {
			local := tree{Name: "abc", ByName: map[string]*tree{"a": bad}}
			if err := plan.Check(unsafe.Pointer(&local)); err == nil {
				results <- errors.New("a bad value passed")
			} else {
				results <- nil
			}
		}()
	}
	for range 100 {
		if err := <-results; err != nil {
			t.Error(err)
		}
	}
}

func TestConcurrentChecksAndRegistrations(t *testing.T) {
	v := New()
	plan := mustCompile[tree](t, v)
	var group sync.WaitGroup
	ctx, stop := context.WithCancel(t.Context())
	for i := range 4 {
		group.Go(func() {
			good := tree{Name: "abc", ByName: map[string]*tree{"a": {Name: "x"}}}
			bad := tree{Name: "abc", ByName: map[string]*tree{"a": {Name: "long"}}}
			for ctx.Err() == nil {
				if err := plan.Check(unsafe.Pointer(&good)); err != nil {
					t.Errorf("%d: %v", i, err)
				}
				if err := v.Struct(&bad); err == nil {
					t.Errorf("%d: a bad value passed", i)
				}
			}
		})
	}
	for range 20 {
		mustRegister(t, v.SetMessage("max", "{0} is too long"))
		mustRegister(t, v.RegisterAlias("short", "max=3"))
	}
	stop()
	group.Wait()
}

type (
	word  string
	inner struct {
		Name string `validate:"required,max=3"`
		Note string
	}
	tree struct {
		Name     string           `json:"name" validate:"required,max=3"`
		Left     *tree            `json:"left"`
		Right    *tree            `json:"right" validate:"omitempty"`
		Children []tree           `json:"children" validate:"max=3,dive"`
		ByName   map[string]*tree `json:"by_name" validate:"omitempty,dive,keys,max=2,endkeys,required"`
		Unseen   []tree           `json:"unseen"`
	}
)

func TestEveryCompiledTextRuleIsListedAsOneOfTheLibrarys(t *testing.T) {
	for _, rules := range []iter.Seq[string]{maps.Keys(textRules), maps.Keys(textParamRules)} {
		for rule := range rules {
			if !tag.Single(rule) {
				t.Errorf("%s is compiled but not listed", rule)
			}
		}
	}
}

func TestARuleOfTheLibraryNamesTheImportThatItNeeds(t *testing.T) {
	for _, value := range []any{
		struct {
			F string `validate:"credit_card"`
		}{},
		struct {
			F string `validate:"eqfield=G"`
			G string
		}{},
		struct {
			F []string `validate:"max=3,dive,hexcolor|rgb"`
		}{},
		struct {
			F map[string]int `validate:"dive,keys,iscolor,endkeys,min=1"`
		}{},
		struct {
			F float64 `validate:"latitude"`
		}{},
		struct {
			F []any `validate:"unique"`
		}{},
		struct {
			F inner `validate:"validateFn"`
		}{},
	} {
		_, err := New().Compile(reflect.TypeOf(value))
		bad, ok := errors.AsType[*TagError](err)
		if !ok || bad.Field != "F" || !strings.Contains(bad.Reason, `add import _ "github.com/sabir-go/sabir/validate/playground"`) {
			t.Errorf("%T: %v", value, err)
		}
	}
}
